/** Compares a coordination with the known equipment: which channels it is for, and which placeholders are missing. */

import type { DeviceMatchKind, PlaceholderKind } from '../../../contract/values.ts'
import type { Receiver } from '../../equipment/receiver.ts'
import { nameKey } from '../../text.ts'
import { formatMhz } from '../carrier.ts'
import { detectProfile } from '../profile-changes.ts'
import {
  type CoordinatedCarrier,
  type CoordinatedDevice,
  type CoordinatedEquipment,
  type Coordination,
  CoordinationFileError,
} from './coordination.ts'

export interface KnownEquipment {
  readonly receivers: readonly Pick<Receiver, 'id' | 'name' | 'ip' | 'serial_number' | 'channels'>[]
  readonly placeholders: readonly KnownPlaceholder[]
  /** As many as the coordination has carriers. */
  readonly freeSlots: readonly number[]
}

interface KnownPlaceholder {
  readonly id: number
  readonly slot: number
  readonly name: string
  readonly frequency: string | null
  readonly kind: PlaceholderKind
}

export interface PlannedImport {
  readonly carriers: readonly ImportedCarrier[]
  readonly spares: readonly { readonly profile: string; readonly mhz: string }[]
  readonly placeholders: readonly ImportedPlaceholder[]
  readonly matches: readonly DeviceMatch[]
}

export interface ImportedCarrier {
  readonly slot: number | null
  readonly name: string
  readonly profile: string
  readonly band?: string
  readonly mhz: string
  readonly locked: boolean
  readonly zone: string | null
  readonly groups: readonly string[]
}

export interface ImportedPlaceholder {
  /** Null if it is added. */
  readonly id: number | null
  readonly slot: number
  readonly name: string
  readonly kind: PlaceholderKind
  readonly frequency: string
}

export interface DeviceMatch {
  /** Name of the device in the file. */
  readonly device: string
  readonly receiver_id: number
  readonly receiver: string
  readonly by: DeviceMatchKind
}

const inEarProfile = /^(psm|adpsm|ew_iem$|sr2000$)/

/**
 * A device matches the only receiver with its serial number, else with its address, else with its name. A channel that
 * belongs to none gets a placeholder; one with its name is used again.
 */
export function planImport(coordination: Coordination, known: KnownEquipment): PlannedImport {
  const matches = matchDevices(coordination.devices, known.receivers)
  const freeSlots = known.freeSlots.values()
  const reusable = uniqueBy(known.placeholders, ({ name }) => nameKey(name))
  const placeholders: ImportedPlaceholder[] = []
  const planned = new Set<number>()
  const carriers = coordination.carriers.map((carrier): ImportedCarrier => {
    const { name, khz, zone, group, isLocked } = carrier
    const profile = profileOf(carrier, khz)
    const receiver = carrier.channel === null ? undefined : matches.get(carrier.channel.deviceKey)?.receiver
    let slot = receiver === undefined ? null : slotOf(carrier, receiver)
    if (receiver === undefined) {
      const kind = inEarProfile.test(profile) ? 'iem' : 'wireless'
      const before = name === '' ? undefined : reusable.get(nameKey(name))
      const placeholder = { name, kind, frequency: formatMhz(khz) } as const
      slot = before?.slot ?? freeSlots.next().value ?? null
      if (slot === null) throw new CoordinationFileError('There are not enough free slots for its channels.')
      placeholders.push({ ...placeholder, id: before?.id ?? null, slot, kind: before?.kind ?? kind })
    }
    // The second carrier of frequency diversity has the slot of the first one, and a plan has every slot once.
    if (slot !== null && planned.has(slot)) slot = null
    if (slot !== null) planned.add(slot)
    const band = carrier.band === '' ? {} : { band: carrier.band }
    const groups = group === null ? [] : [group]
    return { slot, name, profile, ...band, mhz: formatMhz(khz), locked: isLocked, zone, groups }
  })
  return {
    carriers,
    spares: coordination.spares.map((spare) => ({ profile: profileOf(spare, spare.khz), mhz: formatMhz(spare.khz) })),
    placeholders,
    matches: [...matches.values()].map(({ receiver, device, by }) => {
      return { device: device.name, receiver_id: receiver.id, receiver: receiver.name, by }
    }),
  }
}

type KnownReceiver = KnownEquipment['receivers'][number]

interface Match {
  readonly device: CoordinatedDevice
  readonly receiver: KnownReceiver
  readonly by: DeviceMatch['by']
}

/** Returns matches by the key of the device. A receiver matches one device. */
function matchDevices(
  devices: readonly CoordinatedDevice[],
  receivers: readonly KnownReceiver[],
): ReadonlyMap<string, Match> {
  const matches = new Map<string, Match>()
  const matched = new Set<KnownReceiver>()
  const identities = [
    [
      'serial_number',
      (device: CoordinatedDevice) => device.serialNumber,
      (receiver: KnownReceiver) => receiver.serial_number,
    ],
    ['address', (device: CoordinatedDevice) => device.address, (receiver: KnownReceiver) => receiver.ip],
    ['name', (device: CoordinatedDevice) => nameKey(device.name), (receiver: KnownReceiver) => nameKey(receiver.name)],
  ] as const
  for (const [by, ofDevice, ofReceiver] of identities) {
    const left = devices.filter(({ key }) => !matches.has(key))
    const byIdentity = uniqueBy(
      receivers.filter((receiver) => !matched.has(receiver)),
      ofReceiver,
    )
    for (const [identity, device] of uniqueBy(left, ofDevice)) {
      const receiver = byIdentity.get(identity)
      if (receiver === undefined) continue
      matches.set(device.key, { device, receiver, by })
      matched.add(receiver)
    }
  }
  return matches
}

/** Leaves out items without a key, and those that share one. */
function uniqueBy<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): ReadonlyMap<string, Item> {
  const found = new Map<string, Item | null>()
  for (const item of items) {
    const key = keyOf(item)
    if (key !== null && key !== '') found.set(key, found.has(key) ? null : item)
  }
  return new Map([...found].flatMap(([key, item]) => (item === null ? [] : [[key, item] as const])))
}

/** Channels of a report have no numbers, but names. */
function slotOf({ name, channel }: CoordinatedCarrier, receiver: KnownReceiver): number | null {
  const found =
    channel?.number == null
      ? uniqueBy(receiver.channels, (known) => nameKey(known.name ?? '')).get(nameKey(name))
      : receiver.channels.find((known) => known.channel === channel.number)
  return found?.slot ?? null
}

function profileOf({ series, band, mode }: CoordinatedEquipment, khz: number): string {
  return detectProfile({ family: series, model: series, band: band || null, mode: mode || null, khz })
}
