/** Imports the receivers in a file with their locations and slots, the placeholders, and the assignments. */

import { isDeepStrictEqual } from 'node:util'
import type { Location } from '../../contract/locations.ts'
import { setActive } from '../../domain/equipment/hardware.ts'
import { isNameAllowed } from '../../domain/equipment/placeholder.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { describeHolder, listSlotHolders, planSlots } from '../../domain/equipment/slots.ts'
import { isBuiltIn } from '../../domain/frequencies/profile-changes.ts'
import { macKey, serialKey } from '../../domain/identity/reconcile.ts'
import { toPath } from '../../domain/installation-export.ts'
import type { DeviceReference, ReceiverEntry } from '../../domain/installation-file.ts'
import type { Tx } from '../../storage/database.ts'
import { logMovement, trimMovements } from '../../storage/discovery.ts'
import { setChannelProfile } from '../../storage/frequency-profiles.ts'
import { insertAssignment, saveAssignment } from '../../storage/hardware.ts'
import { insertPlaceholder, savePlaceholder } from '../../storage/placeholders.ts'
import { saveReceivers } from '../../storage/receivers.ts'
import { placeHolders } from '../../storage/slots.ts'
import { readInstallation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'

export async function putReceivers(work: ImportContext, locations: readonly Location[]): Promise<void> {
  const { tx, file, before, revision, now } = work
  const slots = new Map<number, number>()
  const pathBySlot = placeholderPaths(work)
  const placeholderSlots = new Set(pathBySlot.keys())
  for (const [index, entry] of (file.receivers ?? []).entries()) {
    const path = `receivers.${index}`
    const location = entry.location === undefined ? undefined : locationOf(entry.location, locations, path)
    for (const [channel, slot] of Object.entries(entry.slots ?? {})) {
      const earlierPath = pathBySlot.get(slot)
      const slotPath = `${path}.slots.${channel}`
      if (earlierPath !== undefined)
        throw new ImportError(slotPath, `expected every slot once; ${earlierPath} also has slot ${slot}`)
      pathBySlot.set(slot, slotPath)
    }
    const stored = findReceiver(before.receivers, entry)
    if (stored === undefined) {
      work.unknown.push(describe(entry))
      continue
    }
    const after: Receiver = {
      ...stored,
      ...(location !== undefined && { location }),
      ...(entry.name !== undefined && { name: entry.name, is_named_by_hand: true }),
    }
    const moved = collectSlots(work, entry, stored, slots)
    const profiled = await putProfiles(work, entry, stored, path)
    const isChanged = work.count('receivers', [stored, false], [after, moved || profiled])
    if (!isChanged || isDeepStrictEqual(stored, after)) continue
    await saveReceivers(tx, revision, [after])
    if (after.location !== stored.location) await logPlacement(tx, stored, after, now)
  }
  await trimMovements(tx)
  const holders = listSlotHolders(before.receivers, before.placeholders)
  const requested = new Map([...slots].map(([id, slot]) => [describeHolder({ kind: 'channel', id }), slot]))
  await placeHolders(tx, revision, planSlots(holders, requested, placeholderSlots))
}

/** Returns the path of the placeholder in each slot. */
function placeholderPaths({ file }: ImportContext): Map<number, string> {
  const paths = new Map<number, string>()
  for (const [index, { slot }] of (file.placeholders ?? []).entries()) {
    const path = `placeholders.${index}.slot`
    const earlier = paths.get(slot)
    if (earlier !== undefined) throw new ImportError(path, `expected every slot once; ${earlier} also has slot ${slot}`)
    paths.set(slot, path)
  }
  return paths
}

/** Imports the placeholders; their slots have no channels any more. */
export async function putPlaceholders({ tx, file, before, now, count }: ImportContext): Promise<void> {
  for (const [index, entry] of (file.placeholders ?? []).entries()) {
    const stored = before.placeholders.find(({ slot }) => slot === entry.slot)
    const placeholder = { name: '', frequency: null, note: '', created_at: now, ...stored, ...entry }
    if (!isNameAllowed(placeholder)) {
      throw new ImportError(`placeholders.${index}.name`, 'expected text of 1 to 255 characters')
    }
    if (!count('placeholders', stored, placeholder)) continue
    if (stored === undefined) await insertPlaceholder(tx, placeholder)
    else await savePlaceholder(tx, { ...placeholder, id: stored.id })
  }
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
      unknown.push(`${describe(entry)}, channel ${number}`)
      continue
    }
    slots.set(channel.id, slot)
    moves ||= channel.slot !== slot
  }
  return moves
}

/** Sets the frequency profiles of an entry. Returns whether any of its channels has another one. */
async function putProfiles(
  work: ImportContext,
  entry: ReceiverEntry,
  stored: Receiver,
  path: string,
): Promise<boolean> {
  const { tx, file, before, revision, unknown } = work
  let isChanged = false
  for (const [number, profile] of Object.entries(entry.profiles ?? {})) {
    const isKnown = [...before.frequency_profiles, ...(file.frequency_profiles ?? [])].some(({ id }) => id === profile)
    if (!isKnown && !isBuiltIn(profile)) {
      throw new ImportError(`${path}.profiles.${number}`, `expected a frequency profile; ${profile} does not exist`)
    }
    const channel = stored.channels.find((candidate) => candidate.channel === Number(number))
    if (channel === undefined) unknown.push(`${describe(entry)}, channel ${number}`)
    if (channel === undefined || channel.profile === profile) continue
    await setChannelProfile(tx, revision, { channelId: channel.id, receiverId: stored.id, profile })
    isChanged = true
  }
  return isChanged
}

function locationOf(path: readonly string[] | null, locations: readonly Location[], where: string): number | null {
  if (path === null) return null
  const key = JSON.stringify(path)
  const found = locations.find(({ id }) => JSON.stringify(toPath(locations, id)) === key)
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

export async function putAssignments(work: ImportContext): Promise<void> {
  const { tx, file, now, count, unknown } = work
  const entries = file.assignments ?? []
  if (entries.length === 0) return
  const { performers, receivers, units, assignments } = await readInstallation(tx.query, work.secrets)
  const indexByUnit = new Map<number, number>()
  for (const [index, entry] of entries.entries()) {
    const performer = performers.find(({ name }) => name === entry.performer)
    if (performer === undefined) {
      const expected = `expected the name of a performer; ${entry.performer} does not exist`
      throw new ImportError(`assignments.${index}.performer`, expected)
    }
    const channels = findReceiver(receivers, entry)?.channels ?? []
    const channel = channels.find(({ channel }) => channel === entry.channel)
    const unit = units.find((candidate) =>
      entry.channel === undefined
        ? candidate.manufacturer === entry.manufacturer && candidate.api_device_id === entry.api_device_id
        : channel !== undefined && candidate.channel_id === channel.id,
    )
    if (unit === undefined) {
      unknown.push(channels.length === 0 ? describe(entry) : `${describe(entry)}, channel ${entry.channel}`)
      continue
    }
    if (indexByUnit.has(unit.id)) {
      throw new ImportError(
        `assignments.${index}`,
        `expected every unit once; assignments.${indexByUnit.get(unit.id)} also has this unit`,
      )
    }
    indexByUnit.set(unit.id, index)
    const current = assignments.find(({ wireless_unit }) => wireless_unit === unit.id)
    const isSamePerformer = current?.performer === performer.id
    const role = entry.role === undefined && isSamePerformer ? current.role : (entry.role ?? null)
    if (!count('assignments', current && [current.performer, current.role], [performer.id, role])) continue
    if (isSamePerformer) {
      await saveAssignment(tx, { ...current, role })
      continue
    }
    if (current !== undefined) await saveAssignment(tx, setActive(current, false, now))
    const started_at = entry.since === undefined ? now : Date.parse(entry.since)
    if (Number.isNaN(started_at)) {
      throw new ImportError(`assignments.${index}.since`, 'expected a time such as 2026-05-01T18:00:00Z')
    }
    const made = { performer: performer.id, wireless_unit: unit.id, role, is_active: true, started_at, ended_at: null }
    await insertAssignment(tx, made)
  }
}

/**
 * Finds the receiver by serial number, then by MAC address, then by the upstream's id unless the serial numbers differ.
 */
export function findReceiver(receivers: readonly Receiver[], entry: DeviceReference): Receiver | undefined {
  const candidates = receivers.filter(
    ({ manufacturer, origin }) => manufacturer === entry.manufacturer && origin === undefined,
  )
  const serial = serialKey(entry.serial_number)
  const mac = macKey(entry.mac_address)
  return (
    candidates.find(({ serial_number }) => serial !== null && serialKey(serial_number) === serial) ??
    candidates.find(({ mac_address }) => mac !== null && macKey(mac_address) === mac) ??
    candidates.find(
      ({ api_device_id, serial_number }) =>
        entry.api_device_id !== undefined &&
        api_device_id === entry.api_device_id &&
        (serial === null || serialKey(serial_number) === null),
    )
  )
}

export function describe({ manufacturer, serial_number, mac_address, api_device_id }: DeviceReference): string {
  return `${manufacturer} ${serial_number ?? mac_address ?? api_device_id ?? ''}`
}
