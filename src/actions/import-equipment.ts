/** The receivers of a file, where they stand and in which positions, and who wears what. */

import { isDeepStrictEqual } from 'node:util'
import { setActive } from '../model/hardware.ts'
import { type DeviceReference, planSlots, type ReceiverEntry, toPath } from '../model/installation-file.ts'
import type { Location } from '../model/location.ts'
import type { Receiver } from '../model/receiver.ts'
import { macKey, serialKey } from '../model/reconcile.ts'
import type { Tx } from '../store/database.ts'
import { logMovement, trimMovements } from '../store/discovery.ts'
import { insertAssignment, placeChannels, saveAssignment } from '../store/hardware.ts'
import { saveReceivers } from '../store/receivers.ts'
import { readInstallation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'

export async function putReceivers(work: ImportContext, locations: readonly Location[]): Promise<void> {
  const { tx, file, before, revision, now } = work
  const wanted = new Map<number, number>()
  const wantedBy = new Map<number, string>()
  for (const [at, entry] of (file.receivers ?? []).entries()) {
    const path = `receivers.${at}`
    const location = entry.location === undefined ? undefined : placeOf(entry.location, locations, path)
    for (const [channel, slot] of Object.entries(entry.slots ?? {})) {
      const earlier = wantedBy.get(slot)
      const here = `${path}.slots.${channel}`
      if (earlier !== undefined)
        throw new ImportError(here, `expected every position once; ${slot} is at ${earlier}, too`)
      wantedBy.set(slot, here)
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
    const moved = wantSlots(work, entry, stored, wanted)
    const isChanged = work.count('receivers', [stored, false], [after, moved])
    if (!isChanged || isDeepStrictEqual(stored, after)) continue
    await saveReceivers(tx, revision, [after])
    if (after.location !== stored.location) await logPlacement(tx, stored, after, now)
  }
  await trimMovements(tx)
  await placeChannels(tx, revision, planSlots(before.receivers, wanted))
}

/** Whether any of its channels has to move. */
function wantSlots(
  { unknown }: ImportContext,
  entry: ReceiverEntry,
  stored: Receiver,
  wanted: Map<number, number>,
): boolean {
  let moves = false
  for (const [number, slot] of Object.entries(entry.slots ?? {})) {
    const channel = stored.channels.find((one) => one.channel === Number(number))
    if (channel === undefined) {
      unknown.push(`${describe(entry)}, channel ${number}`)
      continue
    }
    wanted.set(channel.id, slot)
    moves ||= channel.slot !== slot
  }
  return moves
}

function placeOf(path: readonly string[] | null, locations: readonly Location[], where: string): number | null {
  if (path === null) return null
  const wanted = JSON.stringify(path)
  const found = locations.find(({ id }) => JSON.stringify(toPath(locations, id)) === wanted)
  if (found !== undefined) return found.id
  throw new ImportError(`${where}.location`, `expected a location; there is none at ${path.join(' / ')}`)
}

async function logPlacement(tx: Tx, before: Receiver, after: Receiver, now: number): Promise<void> {
  const { id: device, ip } = before
  const placed = {
    old_location: before.location,
    new_location: after.location,
    movement_type: 'location_only',
  } as const
  const detected = { detected_at: now, detected_by: 'manual', reason: 'imported' } as const
  await logMovement(tx, { device, old_ip: ip, new_ip: ip, ...placed, ...detected })
}

export async function putAssignments(work: ImportContext): Promise<void> {
  const { tx, file, now, count, unknown } = work
  const entries = file.assignments ?? []
  if (entries.length === 0) return
  const { performers, receivers, units, assignments } = await readInstallation(tx.query, work.secrets)
  const worn = new Map<number, number>()
  for (const [at, entry] of entries.entries()) {
    const performer = performers.find(({ name }) => name === entry.performer)
    if (performer === undefined) {
      const expected = `expected the name of a performer; there is none called ${entry.performer}`
      throw new ImportError(`assignments.${at}.performer`, expected)
    }
    const channels = findReceiver(receivers, entry)?.channels ?? []
    const channel = channels.find((one) => one.channel === entry.channel)
    const unit = units.find((one) =>
      entry.channel === undefined
        ? one.manufacturer === entry.manufacturer && one.api_device_id === entry.api_device_id
        : channel !== undefined && one.channel_id === channel.id,
    )
    if (unit === undefined) {
      unknown.push(channels.length === 0 ? describe(entry) : `${describe(entry)}, channel ${entry.channel}`)
      continue
    }
    if (worn.has(unit.id)) {
      throw new ImportError(
        `assignments.${at}`,
        `expected every unit once; assignments.${worn.get(unit.id)} has it, too`,
      )
    }
    worn.set(unit.id, at)
    const current = assignments.find((one) => one.wireless_unit === unit.id)
    if (!count('assignments', current?.performer, performer.id)) continue
    if (current !== undefined) await saveAssignment(tx, setActive(current, false, now))
    const started_at = entry.since === undefined ? now : Date.parse(entry.since)
    if (Number.isNaN(started_at)) {
      throw new ImportError(`assignments.${at}.since`, 'expected a time such as 2026-05-01T18:00:00Z')
    }
    const made = { performer: performer.id, wireless_unit: unit.id, is_active: true, started_at, ended_at: null }
    await insertAssignment(tx, made)
  }
}

/** By its serial number; else by its MAC address; else by what its system calls it, unless it is other hardware. */
function findReceiver(receivers: readonly Receiver[], entry: DeviceReference): Receiver | undefined {
  const own = receivers.filter(({ manufacturer }) => manufacturer === entry.manufacturer)
  const serial = serialKey(entry.serial_number)
  const mac = macKey(entry.mac_address)
  return (
    own.find((one) => serial !== null && serialKey(one.serial_number) === serial) ??
    own.find((one) => mac !== null && macKey(one.mac_address) === mac) ??
    own.find(
      (one) =>
        entry.api_device_id !== undefined &&
        one.api_device_id === entry.api_device_id &&
        (serial === null || serialKey(one.serial_number) === null),
    )
  )
}

function describe({ manufacturer, serial_number, mac_address, api_device_id }: DeviceReference): string {
  return `${manufacturer} ${serial_number ?? mac_address ?? api_device_id ?? ''}`
}
