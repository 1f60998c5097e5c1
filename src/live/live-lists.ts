/** What was last announced in the live interface besides receivers and levels, and how it differs from the current state. */

import type { SilenceBody } from '../contract/alerts.ts'
import type { DiscoveredDevice } from '../contract/discovery.ts'
import type { FrequencyProfileBody } from '../contract/frequencies.ts'
import type { Group } from '../contract/groups.ts'
import type { LiveChange, SourceBody } from '../contract/live-messages.ts'
import type { ChannelAssignment, Performer } from '../contract/performers.ts'
import type { PlaceholderInData } from '../contract/placeholders.ts'
import type { ScanBody } from '../contract/scans.ts'
import type { Settings } from '../contract/settings.ts'
import type { AnnouncedSiteBody } from '../contract/sites.ts'
import { isSameJson } from '../domain/json.ts'
import type { LiveSubject } from '../domain/live/filter.ts'
import { differingFields } from '../domain/live/receiver-changes.ts'
import type { SettingScope } from '../domain/settings.ts'

export interface AnnouncedListsDeps {
  groups(): readonly Group[]
  performers(): readonly Performer[]
  placeholders(): readonly PlaceholderInData[]
  assignments(): readonly ChannelAssignment[]
  discovered(): readonly DiscoveredDevice[]
  silences(): readonly SilenceBody[]
  scans(): readonly ScanBody[]
  frequencyProfiles(): readonly FrequencyProfileBody[]
  /** Returns the effective settings of a scope. */
  settingsIn(scope: SettingScope): Settings
  /** Returns the codes of all manufacturers. */
  manufacturers(): readonly string[]
  sources(): readonly SourceBody[]
  sites(): readonly AnnouncedSiteBody[]
  /** Returns the number of devices that are waiting for review, by manufacturer. */
  pending(): ReadonlyMap<string, number>
}

export type AddChange = (change: LiveChange, subject?: LiveSubject) => void

/** Each is announced whole when it changes. */
interface Lists {
  readonly groups: readonly Group[]
  readonly placeholders: readonly PlaceholderInData[]
  readonly performers: readonly Performer[]
  readonly assignments: readonly ChannelAssignment[]
  readonly discovered: readonly DiscoveredDevice[]
  readonly silences: readonly SilenceBody[]
  readonly scans: readonly ScanBody[]
  readonly frequencyProfiles: readonly FrequencyProfileBody[]
}

export class AnnouncedLists {
  readonly #deps: AnnouncedListsDeps
  #lists: Lists
  /** By manufacturer (text) or group (id); null: global. */
  #settings: ReadonlyMap<string | number | null, Settings>
  #sources: ReadonlyMap<string, SourceBody>
  #sites: ReadonlyMap<string, AnnouncedSiteBody>
  #pending: ReadonlyMap<string, number>

  /** Regards the current state as announced. */
  constructor(deps: AnnouncedListsDeps) {
    this.#deps = deps
    this.#lists = this.#readLists()
    this.#settings = this.#readSettings()
    this.#sources = this.#readSources()
    this.#sites = this.#readSites()
    this.#pending = new Map(deps.pending())
  }

  announceLists(add: AddChange): void {
    const before = this.#lists
    this.#lists = this.#readLists()
    const { groups, placeholders, performers, assignments, discovered, silences, scans } = this.#lists
    this.#announceSettings(add)
    if (!isSameJson(before.groups, groups)) add({ type: 'groups', groups })
    if (!isSameJson(before.placeholders, placeholders)) add({ type: 'placeholders', placeholders })
    if (!isSameJson(before.performers, performers)) add({ type: 'performers', performers })
    if (!isSameJson(before.assignments, assignments)) add({ type: 'assignments', assignments })
    if (!isSameJson(before.discovered, discovered)) add({ type: 'discovered', discovered })
    if (!isSameJson(before.silences, silences)) add({ type: 'silences', silences })
    if (!isSameJson(before.scans, scans)) add({ type: 'scans', scans })
    const { frequencyProfiles } = this.#lists
    if (!isSameJson(before.frequencyProfiles, frequencyProfiles)) {
      add({ type: 'frequency_profiles', profiles: [...frequencyProfiles] })
    }
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
    const pending = new Map(this.#deps.pending())
    this.#pending = pending
    const codes = new Set([...before.keys(), ...pending.keys()])
    if ([...codes].some((code) => (before.get(code) ?? 0) !== (pending.get(code) ?? 0))) {
      add({ type: 'queue', pending: totalOf(pending) })
    }
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

  #readLists(): Lists {
    const { groups, placeholders, performers, assignments, discovered, silences, scans, frequencyProfiles } = this.#deps
    return {
      groups: groups(),
      placeholders: placeholders(),
      performers: performers(),
      assignments: assignments(),
      discovered: discovered(),
      silences: silences(),
      scans: scans(),
      frequencyProfiles: frequencyProfiles(),
    }
  }

  #readSettings() {
    const { manufacturers, groups, settingsIn } = this.#deps
    const keys = [null, ...manufacturers(), ...groups().map(({ id }) => id)]
    return new Map(keys.map((key) => [key, settingsIn(toScope(key))]))
  }

  #readSources() {
    return new Map(this.#deps.sources().map((source) => [`${source.code}\n${source.address}`, source]))
  }

  #readSites() {
    return new Map(this.#deps.sites().map((site) => [site.code, site]))
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
