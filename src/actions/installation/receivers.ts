/** Receivers with the entries of users: names, locations, slots and frequency profiles. */

import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { profileId } from '../../contract/channels.ts'
import type { Location } from '../../contract/locations.ts'
import { type Body, name, nullable, slot, trueOrFalse } from '../../contract/schema.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { describeHolder, listSlotHolders, planSlots } from '../../domain/equipment/slots.ts'
import { isBuiltIn } from '../../domain/frequencies/profile-changes.ts'
import type { Tx } from '../../storage/database.ts'
import { logMovement, trimMovements } from '../../storage/discovery.ts'
import { listStoredProfiles, setChannelProfile } from '../../storage/frequencies.ts'
import { listLocations } from '../../storage/locations.ts'
import { saveReceivers } from '../../storage/receivers.ts'
import { placeHolders } from '../../storage/slots.ts'
import { describeChannel, describeDevice, deviceFields, findReceiver, toReference } from './devices.ts'
import { defineSection, list, record, sortBy, whenNotEmpty } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'
import { pathOf } from './locations.ts'

const perChannel = <T extends Type.TSchema>(value: T, description: string) =>
  Type.Optional(
    Type.Record(Type.String({ pattern: '^\\d{1,5}$' }), value, { additionalProperties: false, description }),
  )

const ReceiverEntry = record(
  {
    ...deviceFields,
    /** Only present if an operator set the name. */
    name: Type.Optional(name),
    location: Type.Optional(nullable(Type.Array(name, { minItems: 1 }), 'a list of location names, outermost first')),
    spare: Type.Optional(trueOrFalse),
    slots: perChannel(slot, 'channel numbers with their slots, whole numbers from 1 to 65535'),
    profiles: perChannel(profileId, 'channel numbers with the ids of their frequency profiles'),
  },
  'a receiver with its manufacturer',
)
type ReceiverEntry = Body<typeof ReceiverEntry>

export const receiverSection = defineSection(
  list(ReceiverEntry, 'a list of receivers'),
  exportReceivers,
  importReceivers,
)

function exportReceivers({ receivers, locations }: Installation): ReceiverEntry[] {
  return sortBy(
    receivers,
    ({ manufacturer, serial_number, api_device_id }) => `${manufacturer} ${serial_number ?? api_device_id}`,
  ).map((receiver) => {
    const { name, is_named_by_hand, location, spare, channels } = receiver
    const profiles = channels.flatMap(({ channel, profile }) => (profile === undefined ? [] : [[channel, profile]]))
    return {
      ...toReference(receiver),
      ...(is_named_by_hand && { name }),
      ...(location !== null && { location: pathOf(locations, location) }),
      ...(spare === true && { spare }),
      ...whenNotEmpty('slots', Object.fromEntries(channels.map(({ channel, slot }) => [channel, slot]))),
      ...whenNotEmpty('profiles', Object.fromEntries(profiles)),
    }
  })
}

async function importReceivers(work: ImportContext, entries: readonly ReceiverEntry[] = []): Promise<void> {
  const { tx, before, revision, now } = work
  const locations = await listLocations(tx.query)
  const profiles = (await listStoredProfiles(tx.query)).map(({ id }) => id)
  const placeholderSlots = work.slots.placeholders
  const slots = new Map<number, number>()
  const pathBySlot = requireDistinctSlots(placeholderSlots)
  for (const [index, entry] of entries.entries()) {
    const path = `receivers.${index}`
    const location = entry.location === undefined ? undefined : locationOf(entry.location, locations, path)
    for (const [channel, slot] of Object.entries(entry.slots ?? {})) {
      takeSlot(pathBySlot, slot, `${path}.slots.${channel}`)
    }
    const stored = findReceiver(before.receivers, entry)
    if (stored === undefined) {
      work.unknown.push(describeDevice(entry))
      continue
    }
    const after: Receiver = {
      ...stored,
      ...(location !== undefined && { location }),
      ...(entry.name !== undefined && { name: entry.name, is_named_by_hand: true }),
      ...(entry.spare !== undefined && entry.spare !== (stored.spare === true) && { spare: entry.spare }),
    }
    const moved = collectSlots(work, entry, stored, slots)
    const profiled = await importProfiles(work, entry, stored, { path, profiles })
    const isChanged = work.count('receivers', [stored, false], [after, moved || profiled])
    if (!isChanged || isDeepStrictEqual(stored, after)) continue
    await saveReceivers(tx, revision, [after])
    if (after.location !== stored.location) await logPlacement(tx, stored, after, now)
  }
  await trimMovements(tx)
  const holders = listSlotHolders(before.receivers, before.placeholders)
  const requested = new Map([...slots].map(([id, slot]) => [describeHolder({ kind: 'channel', id }), slot]))
  await placeHolders(tx, revision, planSlots(holders, requested, new Set(placeholderSlots)))
}

/** Returns the path of the placeholder in each slot. */
function requireDistinctSlots(placeholderSlots: readonly number[]): Map<number, string> {
  const paths = new Map<number, string>()
  for (const [index, slot] of placeholderSlots.entries()) takeSlot(paths, slot, `placeholders.${index}.slot`)
  return paths
}

function takeSlot(pathBySlot: Map<number, string>, slot: number, path: string): void {
  const earlier = pathBySlot.get(slot)
  if (earlier !== undefined) throw new ImportError(path, `expected every slot once; ${earlier} also has slot ${slot}`)
  pathBySlot.set(slot, path)
}

/** Adds the slots of an entry to `slots`. Returns whether any of its channels has to move. */
function collectSlots(
  { unknown }: ImportContext,
  entry: ReceiverEntry,
  stored: Receiver,
  slots: Map<number, number>,
): boolean {
  let moves = false
  for (const [number, slot] of Object.entries(entry.slots ?? {})) {
    const channel = stored.channels.find((candidate) => candidate.channel === Number(number))
    if (channel === undefined) {
      unknown.push(describeChannel(entry, number))
      continue
    }
    slots.set(channel.id, slot)
    moves ||= channel.slot !== slot
  }
  return moves
}

/** Sets the frequency profiles of an entry. Returns whether any of its channels has another one. */
async function importProfiles(
  { tx, revision, unknown }: ImportContext,
  entry: ReceiverEntry,
  stored: Receiver,
  { path, profiles }: { readonly path: string; readonly profiles: readonly string[] },
): Promise<boolean> {
  let isChanged = false
  for (const [number, profile] of Object.entries(entry.profiles ?? {})) {
    if (!profiles.includes(profile) && !isBuiltIn(profile)) {
      throw new ImportError(`${path}.profiles.${number}`, `expected a frequency profile; ${profile} does not exist`)
    }
    const channel = stored.channels.find((candidate) => candidate.channel === Number(number))
    if (channel === undefined) unknown.push(describeChannel(entry, number))
    if (channel === undefined || channel.profile === profile) continue
    await setChannelProfile(tx, revision, { channelId: channel.id, receiverId: stored.id, profile })
    isChanged = true
  }
  return isChanged
}

function locationOf(path: readonly string[] | null, locations: readonly Location[], where: string): number | null {
  if (path === null) return null
  const key = JSON.stringify(path)
  const found = locations.find(({ id }) => JSON.stringify(pathOf(locations, id)) === key)
  if (found !== undefined) return found.id
  throw new ImportError(`${where}.location`, `expected a location; ${path.join(' / ')} does not exist`)
}

async function logPlacement(tx: Tx, before: Receiver, after: Receiver, now: number): Promise<void> {
  const { id: device, ip } = before
  const movement = {
    old_location: before.location,
    new_location: after.location,
    movement_type: 'location_only',
  } as const
  const detected = { detected_at: now, detected_by: 'manual', reason: 'imported' } as const
  await logMovement(tx, { device, old_ip: ip, new_ip: ip, ...movement, ...detected })
}
