/** The configuration of a house as a file: what people gave it, by names that mean the same on another machine. */

import type { Group } from './api.ts'
import type { Assignment, Performer, Unit } from './hardware.ts'
import type { Location } from './location.ts'
import type { Channel, Receiver } from './receiver.ts'
import { isSecretName, mask, maskSecrets } from './secrets.ts'
import { isSettingKey, parseSetting, type SettingKey, type SettingRecord, settingKinds } from './settings.ts'

export interface InstallationFile {
  readonly version: 1
  readonly manufacturers?: readonly ManufacturerEntry[]
  /** Global ones. */
  readonly settings?: SettingValues
  readonly locations?: readonly LocationEntry[]
  readonly groups?: readonly (Pick<Group, 'title'> & Partial<Omit<Group, 'id'>>)[]
  readonly performers?: readonly (Pick<Performer, 'name'> & Partial<Omit<Performer, 'id'>>)[]
  readonly receivers?: readonly ReceiverEntry[]
  readonly assignments?: readonly AssignmentEntry[]
}

export type SettingValues = Partial<Record<SettingKey, number | boolean>>

export interface ManufacturerEntry {
  readonly code: string
  readonly name?: string
  readonly plugin?: string
  readonly api_enabled?: boolean
  readonly config?: Readonly<Record<string, unknown>>
  readonly settings?: SettingValues
}

/** The first of them whose code one before it has already; null where every code is there once. */
export function findRepeatedCode(
  entries: readonly Pick<ManufacturerEntry, 'code'>[],
): { readonly key: string; readonly problem: string } | null {
  const codes = entries.map(({ code }) => code)
  const at = codes.findIndex((code, index) => codes.indexOf(code) < index)
  return at === -1 ? null : { key: `${at}.code`, problem: `expected every code once; ${codes[at]} is there already` }
}

export interface LocationEntry {
  readonly name: string
  readonly description?: string
  readonly locations?: readonly LocationEntry[]
}

/** A device by what it keeps on any machine: its serial number, else its MAC address, else what its system calls it. */
export interface DeviceReference {
  readonly manufacturer: string
  readonly serial_number?: string
  readonly mac_address?: string
  readonly api_device_id?: string
}

export interface ReceiverEntry extends DeviceReference {
  /** Only one that was given by hand. */
  readonly name?: string
  /** The names of the places from the outermost on; null: nowhere. */
  readonly location?: readonly string[] | null
  /** Channel number -> position on the wall. */
  readonly slots?: Readonly<Record<string, number>>
}

export interface AssignmentEntry extends DeviceReference {
  /** By name. */
  readonly performer: string
  /** Where the unit is heard; absent for one that is a device of its own. */
  readonly channel?: number
  /** ISO 8601. */
  readonly since?: string
}

/** What is stored. */
export interface Installation {
  readonly manufacturers: readonly (Required<Omit<ManufacturerEntry, 'settings'>> & {
    readonly secretsUnreadable: boolean
  })[]
  readonly settings: readonly SettingRecord[]
  readonly locations: readonly Location[]
  readonly groups: readonly Group[]
  readonly performers: readonly Performer[]
  readonly receivers: readonly Receiver[]
  readonly units: readonly Unit[]
  /** Active ones. */
  readonly assignments: readonly Assignment[]
}

/** The same house gives the same file. */
export function toInstallationFile(
  runtime: Installation,
  { withSecrets }: { readonly withSecrets: boolean },
): InstallationFile {
  const { manufacturers, settings, locations, groups, performers, receivers } = runtime
  return {
    version: 1,
    manufacturers: sortBy(manufacturers, ({ code }) => code).map(({ secretsUnreadable, config, ...fields }) => ({
      ...fields,
      config: toExportedConfig(config, withSecrets, secretsUnreadable),
      ...whenNotEmpty('settings', toValues(settings, fields.code)),
    })),
    settings: toValues(settings, null),
    locations: toTree(locations, null),
    groups: sortBy(groups, ({ title }) => title).map(({ id: _, ...fields }) => fields),
    performers: sortBy(performers, ({ name }) => name).map(({ id: _, ...fields }) => fields),
    receivers: sortBy(receivers, (one) => `${one.manufacturer} ${one.serial_number ?? one.api_device_id}`).map((one) =>
      toReceiverEntry(one, locations),
    ),
    assignments: sortBy(toAssignmentEntries(runtime), (one) => JSON.stringify(one)),
  }
}

function toExportedConfig(
  config: Readonly<Record<string, unknown>>,
  withSecrets: boolean,
  isUnreadable: boolean,
): Readonly<Record<string, unknown>> {
  const shown = maskUnreadable(config, isUnreadable)
  return (withSecrets ? shown : maskSecrets(shown)) as Readonly<Record<string, unknown>>
}

/** A secret that this key does not open is left for the machine that has it. */
function maskUnreadable(value: unknown, isUnreadable: boolean, isSecret = false): unknown {
  if (value === null) return isSecret && isUnreadable ? mask : null
  if (Array.isArray(value)) return value.map((item) => maskUnreadable(item, isUnreadable, isSecret))
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value as object).map(([name, item]) => [
      name,
      maskUnreadable(item, isUnreadable, isSecret || isSecretName(name)),
    ]),
  )
}

function toValues(records: readonly SettingRecord[], manufacturer: string | null): SettingValues {
  const values: Record<string, number | boolean> = {}
  for (const key of Object.keys(settingKinds).filter(isSettingKey)) {
    const record = records.find((one) => one.manufacturer === manufacturer && one.key === key)
    const parsed = record && parseSetting(key, record.value)
    if (parsed?.ok) values[key] = parsed.value
  }
  return values
}

function toTree(locations: readonly Location[], parent: number | null): LocationEntry[] {
  return sortBy(
    locations.filter((one) => one.parent === parent),
    ({ name }) => name,
  ).map(({ id, name, description }) => {
    const inside = toTree(locations, id)
    return { name, ...(description !== '' && { description }), ...(inside.length > 0 && { locations: inside }) }
  })
}

function toReceiverEntry(receiver: Receiver, locations: readonly Location[]): ReceiverEntry {
  const { name, is_named_by_hand, location, channels } = receiver
  return {
    ...toReference(receiver),
    ...(is_named_by_hand && { name }),
    ...(location !== null && { location: toPath(locations, location) }),
    ...whenNotEmpty('slots', Object.fromEntries(channels.map(({ channel, slot }) => [channel, slot]))),
  }
}

function toReference({
  manufacturer,
  serial_number,
  mac_address,
  api_device_id,
}: Pick<Receiver, 'manufacturer' | 'serial_number' | 'mac_address' | 'api_device_id'>): DeviceReference {
  return {
    manufacturer,
    ...(serial_number !== null && { serial_number }),
    ...(mac_address !== null && { mac_address }),
    ...(api_device_id !== null && { api_device_id }),
  }
}

function toAssignmentEntries({ assignments, performers, units, receivers }: Installation): AssignmentEntry[] {
  return assignments.flatMap((one): AssignmentEntry[] => {
    const performer = performers.find(({ id }) => id === one.performer)
    const unit = units.find(({ id }) => id === one.wireless_unit)
    if (performer === undefined || unit === undefined) return []
    // A device of its own goes by its own id, wherever it is docked.
    const receiver = unit.channel_id === null ? undefined : receivers.find(({ id }) => id === unit.receiver_id)
    const channel = receiver?.channels.find(({ id }) => id === unit.channel_id)
    const since = new Date(one.started_at).toISOString()
    const reference = toReference(receiver ?? { ...unit, mac_address: null })
    return [{ performer: performer.name, ...reference, ...(channel && { channel: channel.channel }), since }]
  })
}

/** The names from the outermost place on. */
export function toPath(locations: readonly Location[], id: number): string[] {
  const path: string[] = []
  for (let at = locations.find((one) => one.id === id); at !== undefined && path.length <= locations.length; ) {
    path.unshift(at.name)
    const { parent } = at
    at = locations.find((one) => one.id === parent)
  }
  return path
}

export type SlotChange = Pick<Channel, 'id' | 'slot'> & { readonly receiver_id: number }

/**
 * Who moves so that every channel of `wanted` (id -> position) gets its place: a channel that nobody spoke of and that
 * stands there makes room, and goes to the first position that is free then.
 */
export function planSlots(receivers: readonly Receiver[], wanted: ReadonlyMap<number, number>): SlotChange[] {
  const channels = receivers.flatMap(({ id: receiver_id, channels }) =>
    channels.map(({ id, slot }) => ({ id, slot, receiver_id })),
  )
  const claimed = new Set(wanted.values())
  const used = new Set([...claimed, ...channels.filter(({ id }) => !wanted.has(id)).map(({ slot }) => slot)])
  let free = 1
  const nextFree = () => {
    while (used.has(free)) free += 1
    used.add(free)
    return free
  }
  return channels.flatMap((channel) => {
    const slot = wanted.get(channel.id) ?? (claimed.has(channel.slot) ? nextFree() : channel.slot)
    return slot === channel.slot ? [] : [{ ...channel, slot }]
  })
}

function whenNotEmpty<Name extends string, Value extends object>(name: Name, value: Value): { [key in Name]?: Value } {
  return (Object.keys(value).length === 0 ? {} : { [name]: value }) as { [key in Name]?: Value }
}

/** In the order of the keys; those with the same key stay as they were. */
function sortBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item)
}
