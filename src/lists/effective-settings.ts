/** The settings in force: globally, for each manufacturer, group and channel. */

import type { AlertKind } from '../contract/alert-kinds.ts'
import type { ConfigBody } from '../contract/configuration.ts'
import type { Settings } from '../contract/settings.ts'
import { type AlertScope, type AlertSettings, resolveAlertSettings } from '../domain/alerts/alert-settings.ts'
import { resolveThresholds, type Thresholds } from '../domain/conditions/condition.ts'
import {
  type ExplainedSettings,
  explainSettings,
  getEffectiveSettings,
  indexSettings,
  type ScopeSettings,
  type SettingScope,
  type SettingScopes,
  type StoredSettings,
} from '../domain/settings.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { StoredLists } from './stored-lists.ts'

export interface SettingsDefaults {
  /** `DEFAULT_POLLING_INTERVAL` in seconds. */
  readonly defaultInterval: number
  /** `WEBSOCKET_BROADCASTING`. */
  readonly isBroadcasting: boolean
}

interface IndexedSettings {
  readonly stored: StoredSettings
  /** The values of the groups that contain a slot; absent if none of them sets anything. */
  readonly ofSlot: ReadonlyMap<number, readonly ScopeSettings[]>
}

export class EffectiveSettings {
  readonly #lists: StoredLists
  readonly #sourceRegistry: SourceRegistry
  readonly #intervalSeconds: number | undefined
  /** Values from the configuration. */
  #defaults: SettingsDefaults
  #indexed: IndexedSettings | null = null
  readonly #cache = new Map<string | number | null, Settings>()
  /** By manufacturer, for channels without settings of a group. */
  readonly #thresholds = new Map<string, Thresholds>()

  /** `intervalSeconds` overrides every polling interval in this process. */
  constructor(
    lists: StoredLists,
    sourceRegistry: SourceRegistry,
    defaults: SettingsDefaults,
    intervalSeconds?: number,
  ) {
    this.#lists = lists
    this.#sourceRegistry = sourceRegistry
    this.#defaults = defaults
    this.#intervalSeconds = intervalSeconds
  }

  /** Replaces the values from the configuration. The caller must call `clear` afterwards. */
  setDefaults(defaults: SettingsDefaults): void {
    this.#defaults = defaults
  }

  /** Returns the settings of a manufacturer, or the global ones. */
  get(manufacturer: string | null): Settings {
    // Unknown codes are not cached, because clients can request any code.
    const isKnown = manufacturer === null || this.#sourceRegistry.has(manufacturer)
    return this.#cached(isKnown ? manufacturer : undefined, { manufacturer, group: null })
  }

  /** Returns the settings of a scope; a group must exist. */
  inScope({ manufacturer, group }: SettingScope): Settings {
    return group === null ? this.get(manufacturer) : this.#cached(group, { manufacturer: null, group })
  }

  /** As `inScope`, with the version of the stored settings of the scope. */
  toBody(scope: SettingScope): ConfigBody {
    return { ...this.inScope(scope), version: this.#lists.settingsVersion(scope) }
  }

  /** Returns the settings of a scope, each with its origin. */
  explain(scope: SettingScope): ExplainedSettings {
    return explainSettings(this.#optionsFor(scope))
  }

  pollingIntervalMs(manufacturer: string): number {
    return (this.#intervalSeconds ?? this.get(manufacturer).polling_interval) * 1000
  }

  /** Returns the thresholds in force for a channel; most channels of a manufacturer share one object. */
  thresholds(manufacturer: string, slot: number): Thresholds {
    const { global, manufacturer: ofManufacturer, groups } = this.#scopesOf({ manufacturer, slots: [slot] })
    if (groups.length > 0) return resolveThresholds(global, ofManufacturer, groups)
    let shared = this.#thresholds.get(manufacturer)
    if (shared === undefined) {
      shared = resolveThresholds(global, ofManufacturer, [])
      this.#thresholds.set(manufacturer, shared)
    }
    return shared
  }

  /** Returns the settings in force for alerts of this kind about a channel, a receiver, a source or the service. */
  alertSettings(kind: AlertKind, scope: AlertScope): AlertSettings {
    return resolveAlertSettings(kind, this.#scopesOf(scope))
  }

  /** True if alerts of this kind are enabled for any channel. */
  hasAlerts(kind: AlertKind): boolean {
    const slots = [[], ...this.#lists.current.groups.map((group) => group.slots)]
    return this.#sourceRegistry
      .manufacturers()
      .some(({ code }) => slots.some((some) => this.alertSettings(kind, { manufacturer: code, slots: some }).isEnabled))
  }

  /** Must be called after the stored settings, the groups or the manufacturers have changed. */
  clear(): void {
    this.#indexed = null
    this.#cache.clear()
    this.#thresholds.clear()
  }

  /** Returns the settings of a scope, which are kept under this key; they are not kept if it is undefined. */
  #cached(key: string | number | null | undefined, scope: SettingScope): Settings {
    const known = key === undefined ? undefined : this.#cache.get(key)
    if (known !== undefined) return known
    const settings = getEffectiveSettings(this.#optionsFor(scope))
    if (key !== undefined) this.#cache.set(key, settings)
    return settings
  }

  #optionsFor({ group, manufacturer: code }: SettingScope) {
    // A value that a group of one manufacturer does not set is that of the manufacturer.
    const manufacturer = this.#lists.current.groups.find(({ id }) => id === group)?.manufacturer ?? code
    const configuredInterval =
      manufacturer === null ? undefined : this.#sourceRegistry.pollIntervalSeconds(manufacturer)
    const scope = { manufacturer, group }
    const { maxHistoryBytes } = this.#lists.current
    const defaultMaxGb = maxHistoryBytes === null ? null : maxHistoryBytes / 1e9
    return { stored: this.#index().stored, scope, configuredInterval, defaultMaxGb, ...this.#defaults }
  }

  #scopesOf({ manufacturer, slots }: AlertScope): SettingScopes {
    const { stored, ofSlot } = this.#index()
    return {
      global: stored.global,
      manufacturer: (manufacturer === null ? undefined : stored.manufacturers.get(manufacturer)) ?? {},
      groups: ofSlot.size === 0 ? [] : slots.flatMap((slot) => ofSlot.get(slot) ?? []),
    }
  }

  #index(): IndexedSettings {
    if (this.#indexed !== null) return this.#indexed
    const { settings, groups } = this.#lists.current
    const stored = indexSettings(settings)
    const ofSlot = new Map<number, ScopeSettings[]>()
    for (const { id, slots } of groups) {
      const values = stored.groups.get(id)
      if (values === undefined) continue
      for (const slot of slots) ofSlot.set(slot, [...(ofSlot.get(slot) ?? []), values])
    }
    this.#indexed = { stored, ofSlot }
    return this.#indexed
  }
}
