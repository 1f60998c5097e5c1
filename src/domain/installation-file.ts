/**
 * The configuration of an installation as a file for export and import. Records refer to each other by name instead of
 * by id, so that the file can be imported elsewhere.
 */

import type { AlertKind } from '../contract/alert-kinds.ts'
import type { Group } from '../contract/groups.ts'
import type { Performer } from '../contract/performers.ts'
import type { Arrangement } from '../contract/shows.ts'
import type { CheckResult } from '../contract/values.ts'
import type { Placeholder } from './equipment/placeholder.ts'
import type { ProfileChange } from './frequencies/profile-changes.ts'
import type { PositionSlots } from './imports/planning-center.ts'
import type { NotificationChannelEntry, NotificationRuleEntry } from './notifications/installation-entries.ts'
import type { ScopeSettings } from './settings.ts'

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

export interface ChannelReference extends DeviceReference {
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
