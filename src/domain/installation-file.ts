/**
 * The configuration of an installation as a file for export and import. Records refer to each other by name instead of
 * by id, so that the file can be imported elsewhere.
 */

import type { Group } from '../contract/resources/groups.ts'
import type { Location } from '../contract/resources/locations.ts'
import type { Performer } from '../contract/resources/performers.ts'
import { isSecretName, mask, maskSecrets } from './access/secrets.ts'
import type { Assignment, Unit } from './equipment/hardware.ts'
import type { Channel, Receiver } from './equipment/receiver.ts'
import { isSettingKey, parseSetting, type SettingKey, type SettingRecord, settingKinds } from './settings.ts'

export interface InstallationFile {
  readonly version: 1
  readonly manufacturers?: readonly ManufacturerEntry[]
  /** Global settings. */
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

/** Finds the first entry that repeats the code of an earlier entry; null if all codes are unique. */
export function findRepeatedCode(
  entries: readonly Pick<ManufacturerEntry, 'code'>[],
): { readonly key: string; readonly problem: string } | null {
  const codes = entries.map(({ code }) => code)
  const index = codes.findIndex((code, index) => codes.indexOf(code) < index)
  return index === -1
    ? null
    : { key: `${index}.code`, problem: `expected every code once; ${codes[index]} is repeated` }
}

export interface LocationEntry {
  readonly name: string
  readonly description?: string
  readonly locations?: readonly LocationEntry[]
}

/** Identifies a device independently of the installation: by its serial number, MAC address or API device id. */
export interface DeviceReference {
  readonly manufacturer: string
  readonly serial_number?: string
  readonly mac_address?: string
  readonly api_device_id?: string
}

export interface ReceiverEntry extends DeviceReference {
  /** Only present if an operator set the name. */
  readonly name?: string
  /** The names of the locations, outermost first; null if the receiver has no location. */
  readonly location?: readonly string[] | null
  /** Channel number -> position on the wall. */
  readonly slots?: Readonly<Record<string, number>>
}

export interface AssignmentEntry extends DeviceReference {
  /** The performer's name. */
  readonly performer: string
  /** The number of the channel on which the unit is received; absent for a device unit. */
  readonly channel?: number
  /** When the assignment began, in ISO 8601. */
  readonly since?: string
}

/** The stored records to export. */
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
  /** Active assignments only. */
  readonly assignments: readonly Assignment[]
}

/** Converts the records to a file. All lists are sorted, so that equal installations give equal files. */
export function toInstallationFile(
  installation: Installation,
  { withSecrets }: { readonly withSecrets: boolean },
): InstallationFile {
  const { manufacturers, settings, locations, groups, performers, receivers } = installation
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
    receivers: sortBy(
      receivers,
      (receiver) => `${receiver.manufacturer} ${receiver.serial_number ?? receiver.api_device_id}`,
    ).map((receiver) => toReceiverEntry(receiver, locations)),
    assignments: sortBy(toAssignmentEntries(installation), (entry) => JSON.stringify(entry)),
  }
}

function toExportedConfig(
  config: Readonly<Record<string, unknown>>,
  withSecrets: boolean,
  isUnreadable: boolean,
): Readonly<Record<string, unknown>> {
  const readable = maskUnreadable(config, isUnreadable)
  return (withSecrets ? readable : maskSecrets(readable)) as Readonly<Record<string, unknown>>
}

/** Replaces secrets that could not be decrypted (null) with `********`, so that an import keeps the stored secrets. */
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
    const record = records.find((record) => record.manufacturer === manufacturer && record.key === key)
    const parsed = record && parseSetting(key, record.value)
    if (parsed?.ok) values[key] = parsed.value
  }
  return values
}

function toTree(locations: readonly Location[], parent: number | null): LocationEntry[] {
  return sortBy(
    locations.filter((location) => location.parent === parent),
    ({ name }) => name,
  ).map(({ id, name, description }) => {
    const children = toTree(locations, id)
    return { name, ...(description !== '' && { description }), ...(children.length > 0 && { locations: children }) }
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
  return assignments.flatMap(({ performer: performerId, wireless_unit, started_at }): AssignmentEntry[] => {
    const performer = performers.find(({ id }) => id === performerId)
    const unit = units.find(({ id }) => id === wireless_unit)
    if (performer === undefined || unit === undefined) return []
    // A device unit is identified by its own id, even if it is docked.
    const receiver = unit.channel_id === null ? undefined : receivers.find(({ id }) => id === unit.receiver_id)
    const channel = receiver?.channels.find(({ id }) => id === unit.channel_id)
    const since = new Date(started_at).toISOString()
    const reference = toReference(receiver ?? { ...unit, mac_address: null })
    return [{ performer: performer.name, ...reference, ...(channel && { channel: channel.channel }), since }]
  })
}

/** Returns the names of the location and its ancestors, outermost first. */
export function toPath(locations: readonly Location[], id: number): string[] {
  const path: string[] = []
  let current = locations.find((location) => location.id === id)
  while (current !== undefined && path.length <= locations.length) {
    path.unshift(current.name)
    const { parent } = current
    current = locations.find((location) => location.id === parent)
  }
  return path
}

export type SlotChange = Pick<Channel, 'id' | 'slot'> & { readonly receiver_id: number }

/**
 * Returns the slot changes that give every channel in `requested` (channel id -> slot) its slot. Any other channel in
 * one of those slots moves to the first free slot.
 */
export function planSlots(receivers: readonly Receiver[], requested: ReadonlyMap<number, number>): SlotChange[] {
  const channels = receivers.flatMap(({ id: receiver_id, channels }) =>
    channels.map(({ id, slot }) => ({ id, slot, receiver_id })),
  )
  const requestedSlots = new Set(requested.values())
  const used = new Set([...requestedSlots, ...channels.filter(({ id }) => !requested.has(id)).map(({ slot }) => slot)])
  let free = 1
  const nextFree = () => {
    while (used.has(free)) free += 1
    used.add(free)
    return free
  }
  return channels.flatMap((channel) => {
    const slot = requested.get(channel.id) ?? (requestedSlots.has(channel.slot) ? nextFree() : channel.slot)
    return slot === channel.slot ? [] : [{ ...channel, slot }]
  })
}

function whenNotEmpty<Name extends string, Value extends object>(name: Name, value: Value): { [key in Name]?: Value } {
  return (Object.keys(value).length === 0 ? {} : { [name]: value }) as { [key in Name]?: Value }
}

/** Sorts by code unit order, which does not depend on the locale. */
function sortBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item)
}
