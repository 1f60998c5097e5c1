/** Converts the stored records of an installation to a file. */

import type { Group } from '../contract/groups.ts'
import type { Location } from '../contract/locations.ts'
import type { Performer } from '../contract/performers.ts'
import { settingKeys } from '../contract/settings.ts'
import { isSecretName, mask, maskSecrets } from './access/secrets.ts'
import type { Silence } from './alerts/silences.ts'
import type { Check } from './checks.ts'
import type { Assignment, Unit } from './equipment/hardware.ts'
import type { Placeholder } from './equipment/placeholder.ts'
import type { Receiver } from './equipment/receiver.ts'
import type { EventRecord } from './events/event.ts'
import type { StoredProfile } from './frequencies/profile-changes.ts'
import type {
  AssignmentEntry,
  ChannelReference,
  CheckEntry,
  DeviceReference,
  InstallationFile,
  LocationEntry,
  ManufacturerEntry,
  MarkerEntry,
  PlanningCenterEntry,
  ReceiverEntry,
  SceneEntry,
  ShowEntry,
  SilenceEntry,
} from './installation-file.ts'
import type { NotificationChannel } from './notifications/channel.ts'
import { toChannelEntries, toRuleEntries } from './notifications/installation-entries.ts'
import type { NotificationRule } from './notifications/rule.ts'
import type { StoredScene } from './scenes/arrangement.ts'
import { indexSettings, type ScopeSettings, type SettingRecord } from './settings.ts'
import { type Show, toShowBody } from './shows.ts'

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
