/** The lists, settings and statuses in version 2 and in `data.json`. */

import type { Listening } from '../audio/listening.ts'
import type { SilenceBody } from '../contract/alerts.ts'
import type { ConfigBody } from '../contract/configuration.ts'
import type { DiscoveredDevice } from '../contract/discovery.ts'
import type { FrequencyProfileBody } from '../contract/frequency-profiles.ts'
import type { Group } from '../contract/groups.ts'
import type { AudioListenerBody } from '../contract/listening.ts'
import type { LiveChange, SourceBody } from '../contract/live-messages.ts'
import type { ChannelAssignment, Performer } from '../contract/performers.ts'
import type { PlaceholderInData } from '../contract/placeholders.ts'
import type { ScanBody } from '../contract/scans.ts'
import type { AnnouncedSiteBody } from '../contract/sites.ts'
import { toSilenceBody } from '../domain/alerts/silences.ts'
import type { AudioMapping } from '../domain/audio/mapping.ts'
import { toDiscoveredDevices } from '../domain/equipment/discovery-bodies.ts'
import { toPlaceholderInData } from '../domain/equipment/slots.ts'
import { toProfileBodies } from '../domain/frequencies/profile-changes.ts'
import { toScanBody } from '../domain/frequencies/scans/stored-scan.ts'
import { isSameJson } from '../domain/json.ts'
import type { LiveSubject } from '../domain/live/filter.ts'
import { differingFields } from '../domain/live/receiver-changes.ts'
import type { SettingScope } from '../domain/settings.ts'
import type { Show } from '../domain/shows.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Cast } from '../lists/cast.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { SlotRecordMap, SlotRecords } from '../lists/slot-records.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import type { FollowedSites } from '../sites/followed-sites.ts'
import type { SourceRecords } from '../sources/source-records.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'

interface Stores {
  readonly receiverStore: ReceiverStore
  readonly placeholderStore: PlaceholderStore
  readonly lists: StoredLists
  readonly cast: Cast
  readonly slotRecords: SlotRecords
  readonly settings: EffectiveSettings
  readonly sourceRegistry: SourceRegistry
}

export class LiveLists {
  readonly #stores: Stores
  #sourceRecords: SourceRecords | null = null
  #followedSites: FollowedSites | null = null
  #listening: Listening | null = null

  constructor(stores: Stores) {
    this.#stores = stores
  }

  connect(sourceRecords: SourceRecords, followedSites: FollowedSites, listening: Listening): void {
    this.#listening = listening
    this.#sourceRecords = sourceRecords
    this.#followedSites = followedSites
  }

  groups(manufacturer?: string): readonly Group[] {
    const { groups } = this.#stores.lists.current
    return manufacturer === undefined ? groups : groups.filter((group) => group.manufacturer === manufacturer)
  }

  placeholders(): readonly PlaceholderInData[] {
    return this.#stores.placeholderStore.list().map(toPlaceholderInData)
  }

  get slotRecords(): SlotRecords {
    return this.#stores.slotRecords
  }

  performers(): readonly Performer[] {
    return this.#stores.cast.performers()
  }

  assignments(): readonly ChannelAssignment[] {
    return [...this.#stores.cast.assignments(), ...(this.#followedSites?.assignments() ?? [])]
  }

  discovered(manufacturer?: string): readonly DiscoveredDevice[] {
    const { lists, receiverStore } = this.#stores
    const { discovered } = lists.current
    const found = discovered.filter((device) => manufacturer === undefined || device.manufacturer === manufacturer)
    return toDiscoveredDevices(found, receiverStore)
  }

  silences(): readonly SilenceBody[] {
    return this.#stores.lists.current.silences.map(toSilenceBody)
  }

  scans(): readonly ScanBody[] {
    return this.#stores.lists.current.scans.map(toScanBody)
  }

  /** Increases with every change of a frequency plan. */
  planCounter(): number {
    return this.#stores.lists.current.planCounter
  }

  audioMappings(): readonly AudioMapping[] {
    return this.#stores.lists.current.audioMappings
  }

  /** Null if listening is off. */
  listeners(): readonly AudioListenerBody[] | null {
    return this.#listening?.isEnabled === true ? this.#listening.list() : null
  }

  frequencyProfiles(): readonly FrequencyProfileBody[] {
    return toProfileBodies(this.#stores.lists.current.frequencyProfiles)
  }

  shows(): readonly Show[] {
    return this.#stores.lists.current.shows
  }

  runningShows(): readonly Show[] {
    return this.#stores.lists.runningShows()
  }

  settingsIn(scope: SettingScope): ConfigBody {
    return this.#stores.settings.toBody(scope)
  }

  /** False while real-time updates are disabled for the manufacturer, or globally (null). */
  isBroadcasting(manufacturer: string | null): boolean {
    return this.settingsIn({ manufacturer, group: null }).enable_websocket
  }

  manufacturers(): readonly string[] {
    return this.#stores.sourceRegistry.manufacturers().map(({ code }) => code)
  }

  sources(): readonly SourceBody[] {
    return this.#sourceRecords?.bodies() ?? []
  }

  sites(): readonly AnnouncedSiteBody[] {
    return this.#followedSites?.announced() ?? []
  }

  /** Ids of all installations that this one follows, directly or through others. */
  via(): readonly string[] {
    return this.#followedSites?.ids() ?? []
  }

  /** The number of devices that wait for review, by manufacturer. */
  pending(): ReadonlyMap<string, number> {
    return this.#stores.receiverStore.pendingEntries()
  }
}

export type AddChange = (change: LiveChange, subject?: LiveSubject) => void

/** The lists as they were last announced. */
export class AnnouncedLists {
  readonly #current: LiveLists
  #lists: ReturnType<typeof readLists>
  #settings: ReadonlyMap<string | number | null, ConfigBody>
  #sources: ReadonlyMap<string, SourceBody>
  #sites: ReadonlyMap<string, AnnouncedSiteBody>
  #pending: ReadonlyMap<string, number>
  #slotRecords: SlotRecordMap

  /** The current state counts as announced. */
  constructor(current: LiveLists) {
    this.#current = current
    this.#lists = readLists(current)
    this.#settings = this.#readSettings()
    this.#sources = this.#readSources()
    this.#sites = this.#readSites()
    this.#pending = new Map(current.pending())
    this.#slotRecords = current.slotRecords.current()
  }

  announceLists(add: AddChange): void {
    const before = this.#lists
    this.#lists = readLists(this.#current)
    const { groups, placeholders, performers, assignments, discovered, silences, scans, profiles, plans, audio } =
      this.#lists
    this.#announceSettings(add)
    if (!isSameJson(before.groups, groups)) add({ type: 'groups', groups })
    if (!isSameJson(before.placeholders, placeholders)) add({ type: 'placeholders', placeholders })
    if (!isSameJson(before.performers, performers)) add({ type: 'performers', performers })
    if (!isSameJson(before.assignments, assignments)) add({ type: 'assignments', assignments })
    if (!isSameJson(before.discovered, discovered)) add({ type: 'discovered', discovered })
    if (!isSameJson(before.silences, silences)) add({ type: 'silences', silences })
    if (!isSameJson(before.scans, scans)) add({ type: 'scans', scans })
    if (!isSameJson(before.profiles, profiles)) add({ type: 'frequency_profiles', profiles: [...profiles] })
    if (!isSameJson(before.audio, audio)) add({ type: 'audio_mappings' })
    if (before.plans !== plans) add({ type: 'frequency_plans' })
  }

  announceSources(add: AddChange): void {
    const before = this.#sources
    this.#sources = this.#readSources()
    for (const [key, source] of this.#sources) {
      if (!isSameJson(before.get(key), source)) add({ type: 'source', ...source }, { manufacturer: source.code })
    }
    for (const [key, { code, address }] of before) {
      if (!this.#sources.has(key)) {
        const removed = { code, address, status: null, error: null, silent_since: null }
        add({ type: 'source', ...removed }, { manufacturer: code })
      }
    }
  }

  announceSites(add: AddChange): void {
    const before = this.#sites
    this.#sites = this.#readSites()
    for (const [code, site] of this.#sites) {
      if (!isSameJson(before.get(code), site)) add({ type: 'site', ...site })
    }
    for (const code of before.keys()) if (!this.#sites.has(code)) add({ type: 'site_removed', code })
  }

  announceQueue(add: AddChange): void {
    const before = this.#pending
    const pending = new Map(this.#current.pending())
    this.#pending = pending
    const codes = new Set([...before.keys(), ...pending.keys()])
    if ([...codes].some((code) => (before.get(code) ?? 0) !== (pending.get(code) ?? 0))) {
      add({ type: 'queue', pending: totalOf(pending) })
    }
  }

  announceSlotRecords(add: AddChange): void {
    const before = this.#slotRecords
    this.#slotRecords = this.#current.slotRecords.current()
    if (before === this.#slotRecords) return
    const slots = [...this.#slotRecords.values()].filter((record) => before.get(record.slot) !== record)
    const removed = [...before.keys()].filter((slot) => !this.#slotRecords.has(slot))
    if (slots.length > 0 || removed.length > 0) add({ type: 'slot_records', slots, removed })
  }

  #announceSettings(add: AddChange): void {
    const before = this.#settings
    this.#settings = this.#readSettings()
    for (const [key, settings] of this.#settings) {
      const scope = toScope(key)
      // A new group has no settings of its own.
      const config = differingFields(before.get(key) ?? (scope.group === null ? {} : settings), settings)
      if (Object.keys(config).length > 0) add({ type: 'settings', ...scope, config }, scope)
    }
  }

  #readSettings() {
    const keys = [null, ...this.#current.manufacturers(), ...this.#lists.groups.map(({ id }) => id)]
    return new Map(keys.map((key) => [key, this.#current.settingsIn(toScope(key))]))
  }

  #readSources() {
    return new Map(this.#current.sources().map((source) => [`${source.code}\n${source.address}`, source]))
  }

  #readSites() {
    return new Map(this.#current.sites().map((site) => [site.code, site]))
  }
}

function readLists(current: LiveLists) {
  return {
    groups: current.groups(),
    placeholders: current.placeholders(),
    performers: current.performers(),
    assignments: current.assignments(),
    discovered: current.discovered(),
    silences: current.silences(),
    scans: current.scans(),
    profiles: current.frequencyProfiles(),
    plans: current.planCounter(),
    audio: current.audioMappings(),
  }
}

function toScope(key: string | number | null): SettingScope {
  return typeof key === 'number' ? { manufacturer: null, group: key } : { manufacturer: key, group: null }
}

export function totalOf(pending: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const count of pending.values()) sum += count
  return sum
}
