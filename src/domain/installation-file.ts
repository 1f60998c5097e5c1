/**
 * The configuration of an installation as a file for export and import. Records refer to each other by name instead of
 * by id, so that the file can be imported elsewhere.
 */

import type { AlertKind } from '../contract/alert-kinds.ts'
import type { Group } from '../contract/resources/groups.ts'
import type { Location } from '../contract/resources/locations.ts'
import type { Performer } from '../contract/resources/performers.ts'
import type { Arrangement } from '../contract/resources/scenes.ts'
import { settingKeys } from '../contract/settings.ts'
import type { CheckResult } from '../contract/values.ts'
import { isSecretName, mask, maskSecrets } from './access/secrets.ts'
import type { Silence } from './alerts/silences.ts'
import type { Check } from './checks.ts'
import type { Assignment, Unit } from './equipment/hardware.ts'
import type { Placeholder } from './equipment/placeholder.ts'
import type { Receiver } from './equipment/receiver.ts'
import type { EventRecord } from './events/event.ts'
import type { ProfileChange, StoredProfile } from './frequencies/profile-changes.ts'
import type { PositionSlots } from './imports/planning-center.ts'
import type { NotificationChannel } from './notifications/channel.ts'
import {
  type NotificationChannelEntry,
  type NotificationRuleEntry,
  toChannelEntries,
  toRuleEntries,
} from './notifications/installation-entries.ts'
import type { NotificationRule } from './notifications/rule.ts'
import type { StoredScene } from './scenes/arrangement.ts'
import { indexSettings, type ScopeSettings, type SettingRecord } from './settings.ts'
import { type Show, toShowBody } from './shows.ts'

export interface InstallationFile {
  readonly version: 1
  readonly manufacturers?: readonly ManufacturerEntry[]
  /** Global settings. */
  readonly settings?: ScopeSettings
  readonly locations?: readonly LocationEntry[]
  readonly groups?: readonly GroupEntry[]
  readonly performers?: readonly (Pick<Performer, 'name'> & Partial<Omit<Performer, 'id'>>)[]
  readonly frequency_profiles?: readonly ProfileEntry[]
  readonly receivers?: readonly ReceiverEntry[]
  readonly assignments?: readonly AssignmentEntry[]
  readonly placeholders?: readonly PlaceholderEntry[]
  readonly shows?: readonly ShowEntry[]
  readonly scenes?: readonly SceneEntry[]
  readonly silences?: readonly SilenceEntry[]
  readonly markers?: readonly MarkerEntry[]
  readonly checks?: readonly CheckEntry[]
  readonly notification_channels?: readonly NotificationChannelEntry[]
  readonly notification_rules?: readonly NotificationRuleEntry[]
  readonly planning_center?: PlanningCenterEntry
}

export interface PlanningCenterEntry {
  /** Only present in an export with secrets. */
  readonly token?: string
  readonly service_types?: readonly {
    readonly id: string
    readonly name: string
    /** The slot of each position; null: none. */
    readonly positions: PositionSlots
  }[]
}

export interface ManufacturerEntry {
  readonly code: string
  readonly name?: string
  readonly plugin?: string
  readonly api_enabled?: boolean
  readonly config?: Readonly<Record<string, unknown>>
  readonly settings?: ScopeSettings
}

export interface GroupEntry extends Pick<Group, 'title'>, Partial<Omit<Group, 'id' | 'title'>> {
  readonly settings?: ScopeSettings
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
  readonly zone?: string | null
  readonly locations?: readonly LocationEntry[]
}

/** A frequency profile that was added, or what was changed in a built-in one. */
export interface ProfileEntry extends ProfileChange {
  readonly id: string
}

/** Identifies a device independently of the installation: by its serial number, MAC address or API device id. */
export interface DeviceReference {
  readonly manufacturer: string
  readonly serial_number?: string
  readonly mac_address?: string
  readonly api_device_id?: string
}

interface ChannelReference extends DeviceReference {
  readonly channel: number
}

export interface ReceiverEntry extends DeviceReference {
  /** Only present if an operator set the name. */
  readonly name?: string
  /** The names of the locations, outermost first; null if the receiver has no location. */
  readonly location?: readonly string[] | null
  /** Channel number -> position on the wall. */
  readonly slots?: Readonly<Record<string, number>>
  /** Channel number -> id of its frequency profile, for channels whose profile was set. */
  readonly profiles?: Readonly<Record<string, string>>
}

export interface AssignmentEntry extends DeviceReference {
  /** The performer's name. */
  readonly performer: string
  /** The number of the channel on which the unit is received; absent for a device unit. */
  readonly channel?: number
  readonly role?: string | null
  /** When the assignment began, in ISO 8601. */
  readonly since?: string
}

/** A placeholder is identified by its slot. */
export type PlaceholderEntry = Pick<Placeholder, 'slot' | 'kind'> &
  Partial<Pick<Placeholder, 'name' | 'frequency' | 'note'>>

/** A show is identified by its title and its planned start. Times are in ISO 8601. */
export interface ShowEntry {
  readonly title: string
  readonly starts_at?: string | null
  readonly ends_at?: string | null
  /** The titles of its groups; empty: all channels. */
  readonly groups?: readonly string[]
  readonly notes?: string
  readonly started_at?: string | null
  readonly ended_at?: string | null
}

/**
 * A scene of a show, which is identified by its title and that of its show. It refers to records by their present names,
 * and placeholders by their present slots; the other names and slots are those that it stores.
 */
export interface SceneEntry {
  readonly show: Pick<ShowEntry, 'title' | 'starts_at'>
  readonly title: string
  readonly channels?: readonly (ChannelReference & { readonly slot: number; readonly frequency?: string | null })[]
  readonly placeholders?: readonly (Omit<Arrangement['placeholders'][number], 'id'> & {
    readonly placeholder: number
  })[]
  readonly groups?: readonly { readonly group: string; readonly title: string; readonly slots: readonly number[] }[]
  readonly performers?: readonly { readonly performer: string; readonly name: string }[]
  readonly units?: readonly (DeviceReference & {
    /** Absent for a device unit. */
    readonly channel?: number
    /** Absent if nobody wears it. */
    readonly performer?: string
    readonly role?: string | null
  })[]
  /** Who stored it. */
  readonly by?: string
  /** When it was stored, in ISO 8601. */
  readonly since?: string
  readonly recalled_at?: string | null
}

/** A silence of alerts. Absent lists do not restrict. */
export interface SilenceEntry {
  readonly channels?: readonly (DeviceReference & { readonly channel: number })[]
  /** The titles of groups. */
  readonly groups?: readonly string[]
  readonly kinds?: readonly AlertKind[]
  /** ISO 8601. */
  readonly until: string
  readonly reason?: string
  /** Who created it. */
  readonly by?: string
  /** When it was created, in ISO 8601. */
  readonly since?: string
}

/** A marker on the timeline, of all channels if it has none. It is identified by all that it contains. */
export interface MarkerEntry {
  /** ISO 8601. */
  readonly time: string
  readonly until?: string
  readonly channel?: DeviceReference & { readonly channel: number }
  readonly text: string
  /** Who created it. */
  readonly by?: string
}

/** A line check of a channel. It is identified by its show, channel and times. */
export interface CheckEntry {
  readonly show: Pick<ShowEntry, 'title' | 'starts_at'>
  readonly channel: DeviceReference & { readonly channel: number }
  /** ISO 8601. */
  readonly began_at?: string
  /** When the result was entered, in ISO 8601. */
  readonly time?: string
  readonly result?: CheckResult
  readonly note?: string
  readonly by: string
}

/** The stored records to export. */
export interface Installation {
  readonly manufacturers: readonly (Required<Omit<ManufacturerEntry, 'settings'>> & {
    readonly secretsUnreadable: boolean
  })[]
  readonly settings: readonly SettingRecord[]
  readonly locations: readonly Location[]
  readonly groups: readonly Group[]
  /** Stored pictures are data URLs. */
  readonly performers: readonly Performer[]
  readonly frequency_profiles: readonly StoredProfile[]
  readonly receivers: readonly Receiver[]
  readonly units: readonly Unit[]
  /** Active assignments only. */
  readonly assignments: readonly Assignment[]
  readonly placeholders: readonly Placeholder[]
  readonly shows: readonly Show[]
  readonly scenes: readonly StoredScene[]
  /** Silences in effect. */
  readonly silences: readonly Silence[]
  readonly markers: readonly EventRecord[]
  readonly checks: readonly Check[]
  readonly notification_channels: readonly NotificationChannel[]
  readonly notification_rules: readonly NotificationRule[]
  readonly planning_center: {
    /** Null if none is stored, or if it cannot be opened. */
    readonly token: string | null
    readonly service_types: NonNullable<PlanningCenterEntry['service_types']>
  }
}

/** Converts the records to a file. All lists are sorted, so that equal installations give equal files. */
export function toInstallationFile(
  installation: Installation,
  { withSecrets }: { readonly withSecrets: boolean },
): InstallationFile {
  const { manufacturers, locations, groups, performers, receivers } = installation
  const settings = indexSettings(installation.settings)
  return {
    version: 1,
    manufacturers: sortBy(manufacturers, ({ code }) => code).map(({ secretsUnreadable, config, ...fields }) => ({
      ...fields,
      config: toExportedConfig(config, withSecrets, secretsUnreadable),
      ...whenNotEmpty('settings', inOrder(settings.manufacturers.get(fields.code))),
    })),
    settings: inOrder(settings.global),
    locations: toTree(locations, null),
    groups: sortBy(groups, ({ title }) => title).map(({ id, zone, ...fields }) => ({
      ...fields,
      ...(zone !== null && { zone }),
      ...whenNotEmpty('settings', inOrder(settings.groups.get(id))),
    })),
    performers: sortBy(performers, ({ name }) => name).map(({ id: _, ...fields }) => fields),
    ...whenNotEmpty(
      'frequency_profiles',
      installation.frequency_profiles.map(({ id, change }) => ({ id, ...change })),
    ),
    receivers: sortBy(
      receivers,
      (receiver) => `${receiver.manufacturer} ${receiver.serial_number ?? receiver.api_device_id}`,
    ).map((receiver) => toReceiverEntry(receiver, locations)),
    assignments: sortBy(toAssignmentEntries(installation), (entry) => JSON.stringify(entry)),
    placeholders: [...installation.placeholders]
      .sort((a, b) => a.slot - b.slot)
      .map(({ id: _, created_at: __, ...fields }) => fields),
    shows: sortBy(installation.shows, ({ title, starts_at }) => `${starts_at ?? ''} ${title}`).map((show) =>
      toShowEntry(show, groups),
    ),
    ...whenNotEmpty(
      'scenes',
      sortBy(toSceneEntries(installation), (entry) => JSON.stringify(entry)),
    ),
    ...whenNotEmpty(
      'silences',
      sortBy(toSilenceEntries(installation), (entry) => JSON.stringify(entry)),
    ),
    ...whenNotEmpty(
      'markers',
      sortBy(toMarkerEntries(installation), (entry) => JSON.stringify(entry)),
    ),
    ...whenNotEmpty(
      'checks',
      sortBy(toCheckEntries(installation), (entry) => JSON.stringify(entry)),
    ),
    ...whenNotEmpty(
      'notification_channels',
      sortBy(toChannelEntries(installation, withSecrets), (entry) => JSON.stringify(entry)),
    ),
    ...whenNotEmpty(
      'notification_rules',
      sortBy(toRuleEntries(installation), (entry) => JSON.stringify(entry)),
    ),
    ...whenNotEmpty('planning_center', toPlanningCenterEntry(installation, withSecrets)),
  }
}

function toPlanningCenterEntry(
  { planning_center: { token, service_types } }: Installation,
  withSecrets: boolean,
): PlanningCenterEntry {
  return {
    ...(withSecrets && token !== null && { token }),
    ...whenNotEmpty(
      'service_types',
      sortBy(service_types, ({ id }) => id),
    ),
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

/** Returns the values in the order of the table of settings, so that equal installations give equal files. */
function inOrder(settings: ScopeSettings = {}): ScopeSettings {
  const entries = settingKeys.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]]))
  return Object.fromEntries(entries)
}

function toTree(locations: readonly Location[], parent: number | null): LocationEntry[] {
  return sortBy(
    locations.filter((location) => location.parent === parent),
    ({ name }) => name,
  ).map(({ id, name, description, zone }) => {
    const children = toTree(locations, id)
    return {
      name,
      ...(description !== '' && { description }),
      ...(zone !== null && { zone }),
      ...(children.length > 0 && { locations: children }),
    }
  })
}

function toReceiverEntry(receiver: Receiver, locations: readonly Location[]): ReceiverEntry {
  const { name, is_named_by_hand, location, channels } = receiver
  return {
    ...toReference(receiver),
    ...(is_named_by_hand && { name }),
    ...(location !== null && { location: toPath(locations, location) }),
    ...whenNotEmpty('slots', Object.fromEntries(channels.map(({ channel, slot }) => [channel, slot]))),
    ...whenNotEmpty(
      'profiles',
      Object.fromEntries(
        channels.flatMap(({ channel, profile }) => (profile === undefined ? [] : [[channel, profile]])),
      ),
    ),
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
  return assignments.flatMap(({ performer: performerId, wireless_unit, role, started_at }): AssignmentEntry[] => {
    const performer = performers.find(({ id }) => id === performerId)
    const unit = units.find(({ id }) => id === wireless_unit)
    if (performer === undefined || unit === undefined) return []
    // A device unit is identified by its own id, even if it is docked.
    const receiver = unit.channel_id === null ? undefined : receivers.find(({ id }) => id === unit.receiver_id)
    const channel = receiver?.channels.find(({ id }) => id === unit.channel_id)
    const since = new Date(started_at).toISOString()
    const reference = toReference(receiver ?? { ...unit, mac_address: null })
    return [
      {
        performer: performer.name,
        ...reference,
        ...(channel && { channel: channel.channel }),
        ...(role !== null && { role }),
        since,
      },
    ]
  })
}

function toShowEntry(show: Show, groups: readonly Group[]): ShowEntry {
  const { id: _, state: __, group_ids, ...fields } = toShowBody(show)
  const titles = group_ids.flatMap((id) => groups.find((group) => group.id === id)?.title ?? [])
  return { ...fields, groups: titles }
}

/** What no longer exists is left out. */
function toSceneEntries({ scenes, shows, groups, performers, placeholders, ...equipment }: Installation): SceneEntry[] {
  const channels = indexChannels(equipment.receivers)
  const nameOfPerformer = (id: number | null) => performers.find((performer) => performer.id === id)?.name
  return scenes.flatMap(({ show_id, title, arrangement, by, created_at, recalled_at }): SceneEntry[] => {
    const show = shows.find(({ id }) => id === show_id)
    if (show === undefined) return []
    const { starts_at } = toShowBody(show)
    return [
      {
        ...{ show: { title: show.title, starts_at }, title, by, since: new Date(created_at).toISOString() },
        ...(recalled_at !== null && { recalled_at: new Date(recalled_at).toISOString() }),
        channels: arrangement.channels.flatMap(({ id, slot, frequency }) => {
          const reference = channels.get(id)
          return reference === undefined ? [] : [{ ...reference, slot, frequency }]
        }),
        placeholders: arrangement.placeholders.flatMap(({ id, ...fields }) => {
          const placeholder = placeholders.find((candidate) => candidate.id === id)
          return placeholder === undefined ? [] : [{ placeholder: placeholder.slot, ...fields }]
        }),
        groups: arrangement.groups.flatMap(({ id, ...fields }) => {
          const group = groups.find((candidate) => candidate.id === id)
          return group === undefined ? [] : [{ group: group.title, ...fields }]
        }),
        performers: arrangement.performers.flatMap(({ id, name }) => {
          const performer = nameOfPerformer(id)
          return performer === undefined ? [] : [{ performer, name }]
        }),
        units: arrangement.units.flatMap(({ id, performer: performerId, role }) => {
          const unit = equipment.units.find((candidate) => candidate.id === id)
          const performer = nameOfPerformer(performerId)
          if (unit === undefined || (performerId !== null && performer === undefined)) return []
          const worn = { ...(performer !== undefined && { performer }), ...(role !== null && { role }) }
          if (unit.channel_id === null) return [{ ...toReference({ ...unit, mac_address: null }), ...worn }]
          const reference = channels.get(unit.channel_id)
          return reference === undefined ? [] : [{ ...reference, ...worn }]
        }),
      },
    ]
  })
}

/** Returns the references to all channels by their ids. */
function indexChannels(receivers: readonly Receiver[]): ReadonlyMap<number, ChannelReference> {
  return new Map(
    receivers.flatMap((receiver) =>
      receiver.channels.map(({ id, channel }) => [id, { ...toReference(receiver), channel }] as const),
    ),
  )
}

function toSilenceEntries({ silences, groups, receivers }: Installation): SilenceEntry[] {
  return silences.flatMap(({ kinds, until, reason, by, created_at, ...ids }): SilenceEntry[] => {
    const channels = receivers.flatMap((receiver) =>
      receiver.channels
        .filter(({ id }) => ids.channels.includes(id))
        .map(({ channel }) => ({ ...toReference(receiver), channel })),
    )
    const titles = groups.filter(({ id }) => ids.groups.includes(id)).map(({ title }) => title)
    // Without its removed channels or groups, the silence would apply to more alerts.
    const isWidened =
      (ids.channels.length > 0 && channels.length === 0) || (ids.groups.length > 0 && titles.length === 0)
    if (isWidened) return []
    return [
      {
        ...whenNotEmpty('channels', channels),
        ...whenNotEmpty('groups', titles),
        ...whenNotEmpty('kinds', kinds),
        until: new Date(until).toISOString(),
        ...(reason !== '' && { reason }),
        by,
        since: new Date(created_at).toISOString(),
      },
    ]
  })
}

/** Checks of removed channels are left out, because nothing identifies these. */
function toCheckEntries({ checks, shows, receivers }: Installation): CheckEntry[] {
  const references = indexChannels(receivers)
  return checks.flatMap(({ show_id, channel_id, began_at, checked_at, result, note, by }): CheckEntry[] => {
    const show = shows.find(({ id }) => id === show_id)
    const channel = references.get(channel_id)
    if (show === undefined || channel === undefined) return []
    const { title, starts_at } = toShowBody(show)
    return [
      {
        show: { title, starts_at },
        channel,
        ...(began_at !== null && { began_at: new Date(began_at).toISOString() }),
        ...(checked_at !== null && { time: new Date(checked_at).toISOString() }),
        ...(result !== null && { result }),
        ...(note !== null && { note }),
        by,
      },
    ]
  })
}

/** Markers of removed channels are left out, because nothing identifies these. */
function toMarkerEntries({ markers, receivers }: Installation): MarkerEntry[] {
  const references = indexChannels(receivers)
  return markers.flatMap(({ time, until, channel_id, text, by }): MarkerEntry[] => {
    const channel = channel_id === null ? undefined : references.get(channel_id)
    if (channel_id !== null && channel === undefined) return []
    return [
      {
        time: new Date(time).toISOString(),
        ...(until !== null && { until: new Date(until).toISOString() }),
        ...(channel && { channel }),
        text,
        ...(by !== null && { by }),
      },
    ]
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

function whenNotEmpty<Name extends string, Value extends object>(name: Name, value: Value): { [key in Name]?: Value } {
  return (Object.keys(value).length === 0 ? {} : { [name]: value }) as { [key in Name]?: Value }
}

/** Sorts by code unit order, which does not depend on the locale. */
function sortBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item)
}
