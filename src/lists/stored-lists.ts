/**
 * Settings, groups, locations, shows, scans, discovered devices and the database incident, as last loaded from the
 * database.
 */

import type { MeasuredBody } from '../contract/frequencies.ts'
import type { Group } from '../contract/groups.ts'
import type { Location } from '../contract/locations.ts'
import type { Silence } from '../domain/alerts/silences.ts'
import type { AudioMapping } from '../domain/audio/mapping.ts'
import { type DiscoveredRecord, discoveredRetentionMs } from '../domain/equipment/discovery.ts'
import type { StoreIncident } from '../domain/equipment/health.ts'
import { defaultMeasured } from '../domain/frequencies/measured-options.ts'
import type { StoredProfile } from '../domain/frequencies/profile-changes.ts'
import type { Scan } from '../domain/frequencies/scans/stored-scan.ts'
import type { FrequencyPlan } from '../domain/frequencies/stored-plan.ts'
import type { NotificationRule } from '../domain/notifications/rule.ts'
import type { SettingRecord, SettingScope } from '../domain/settings.ts'
import { listShowsOfSlot, type Show, stateOf } from '../domain/shows.ts'
import { now } from '../platform/clock.ts'
import { listSilences } from '../storage/alerts.ts'
import { listAudioMappings } from '../storage/channel-audio.ts'
import type { Reader } from '../storage/database.ts'
import { findMeasured, listScans, listStoredProfiles } from '../storage/frequencies.ts'
import { findActivePlan } from '../storage/frequency-plans.ts'
import { listDiscovered, listLocations } from '../storage/locations.ts'
import { listNotificationRules, listSealedChannels, type SealedChannel } from '../storage/notifications.ts'
import { findIncident } from '../storage/repair.ts'
import { currentRevision } from '../storage/revision.ts'
import { findMaxHistoryBytes, listSettings, listSettingVersions, scopeName } from '../storage/settings.ts'
import { listShows } from '../storage/shows.ts'
import { listGroups } from '../storage/slots.ts'

interface Lists {
  readonly settings: readonly SettingRecord[]
  /** See `listSettingVersions`. */
  readonly settingVersions: Readonly<Record<string, number>>
  readonly groups: readonly Group[]
  readonly locations: readonly Location[]
  readonly frequencyProfiles: readonly StoredProfile[]
  readonly audioMappings: readonly AudioMapping[]
  readonly shows: readonly Show[]
  /** Spectrum scans, without their levels. */
  readonly scans: readonly Scan[]
  /** The scans that are considered by default, which may have been deleted. */
  readonly measured: MeasuredBody
  /** The frequency plan in force. */
  readonly activePlan: FrequencyPlan | null
  /** Increases with every change of a frequency plan. */
  readonly planCounter: number
  /** Devices that network scans found within the last day. */
  readonly discovered: readonly DiscoveredRecord[]
  /** The silences in effect. */
  readonly silences: readonly Silence[]
  readonly notificationChannels: readonly SealedChannel[]
  readonly notificationRules: readonly NotificationRule[]
  readonly incident: StoreIncident | null
  /** The default of `HISTORY_MAX_GB`, in bytes; null until recording has started for the first time. */
  readonly maxHistoryBytes: number | null
}

export class StoredLists {
  current: Lists = {
    settings: [],
    settingVersions: {},
    groups: [],
    locations: [],
    frequencyProfiles: [],
    audioMappings: [],
    shows: [],
    scans: [],
    measured: defaultMeasured,
    activePlan: null,
    planCounter: -1,
    discovered: [],
    silences: [],
    notificationChannels: [],
    notificationRules: [],
    incident: null,
    maxHistoryBytes: null,
  }
  /** The lists of the last load as JSON, to detect changes. */
  #loaded = ''
  /** The list of shows grows over the years, so it is read only when this counter changes. */
  #showCounter = -1
  /** The counter of the loaded scans, which are read only when it has changed. */
  #scanCounter = -1
  /** The counter of the loaded notification channels and rules, which are read only when it has changed. */
  #notificationCounter = -1
  /** When the lists were loaded, and when the first silence ends or the first device found by a scan is forgotten. */
  #loadedAt = Number.POSITIVE_INFINITY
  #endsAt = Number.POSITIVE_INFINITY

  /** Returns the groups, or only those that belong to this manufacturer. */
  groupsOf(manufacturer: string | undefined): readonly Group[] {
    return this.current.groups.filter((group) => manufacturer === undefined || group.manufacturer === manufacturer)
  }

  /** Returns the version of the settings of a scope; 0 before the first edit. */
  settingsVersion(scope: SettingScope): number {
    return this.current.settingVersions[scopeName(scope)] ?? 0
  }

  runningShows(): readonly Show[] {
    return this.current.shows.filter((show) => stateOf(show) === 'running')
  }

  /** Returns the ids of the running shows that have the channel in this slot. */
  showsOf(slot: number): readonly number[] {
    return listShowsOfSlot(slot, this.runningShows(), this.current.groups)
  }

  /** False if the passing of time has changed the lists since the last load, also if the clock was set back. */
  areCurrent(time: number): boolean {
    return time >= this.#loadedAt && time < this.#endsAt
  }

  /** Loads the lists. Returns whether any of them changed. */
  async load(reader: Reader): Promise<boolean> {
    const loadedAt = now()
    const showCounter = await currentRevision(reader, 'shows')
    const scanCounter = await currentRevision(reader, 'scans')
    const planCounter = await currentRevision(reader, 'plans')
    const notificationCounter = await currentRevision(reader, 'notifications')
    const { notificationChannels, notificationRules } =
      notificationCounter === this.#notificationCounter ? this.current : await readNotifications(reader)
    const lists: Lists = {
      settings: await listSettings(reader),
      settingVersions: await listSettingVersions(reader),
      groups: await listGroups(reader),
      locations: await listLocations(reader),
      frequencyProfiles: await listStoredProfiles(reader),
      audioMappings: await listAudioMappings(reader),
      shows: showCounter === this.#showCounter ? this.current.shows : await listShows(reader),
      scans: scanCounter === this.#scanCounter ? this.current.scans : await listScans(reader),
      measured: await findMeasured(reader),
      activePlan: planCounter === this.current.planCounter ? this.current.activePlan : await findActivePlan(reader),
      planCounter,
      discovered: await listDiscovered(reader, loadedAt - discoveredRetentionMs),
      silences: await listSilences(reader, loadedAt),
      notificationChannels,
      notificationRules,
      incident: await findIncident(reader),
      maxHistoryBytes: await findMaxHistoryBytes(reader),
    }
    const text = JSON.stringify({
      ...lists,
      shows: showCounter,
      scans: scanCounter,
      activePlan: null,
      notificationRules: notificationCounter,
    })
    this.#loadedAt = loadedAt
    this.#endsAt = Math.min(
      ...lists.silences.map(({ until }) => until),
      ...lists.discovered.map(({ last_seen }) => last_seen + discoveredRetentionMs),
    )
    if (text === this.#loaded) return false
    this.#loaded = text
    this.#showCounter = showCounter
    this.#scanCounter = scanCounter
    this.#notificationCounter = notificationCounter
    this.current = lists
    return true
  }
}

async function readNotifications(reader: Reader): Promise<Pick<Lists, 'notificationChannels' | 'notificationRules'>> {
  return {
    notificationChannels: await listSealedChannels(reader),
    notificationRules: await listNotificationRules(reader),
  }
}
