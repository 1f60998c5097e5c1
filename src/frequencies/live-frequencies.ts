/** The carriers of the installation and their conflicts, which are determined only after a carrier has changed. */

import { localSite } from '../domain/equipment/sites.ts'
import type { TitleOf } from '../domain/equipment/slot-record.ts'
import type { Placeholder } from '../domain/equipment/slots.ts'
import { RequestError } from '../domain/errors.ts'
import { type Carrier, parseMhz } from '../domain/frequencies/carrier.ts'
import { type CheckOptions, isComplete, mergeSecondCarriers, recheckCarriers } from '../domain/frequencies/check.ts'
import { type CheckResult, maxCarriers } from '../domain/frequencies/conflict.ts'
import {
  createCarrierLists,
  type LiveCarrier,
  type LiveCheckFilter,
  listLiveCarriers,
  toLiveCheck,
} from '../domain/frequencies/live-carriers.ts'
import type { Measured } from '../domain/frequencies/measured.ts'
import { resolveProfiles, type StoredProfile } from '../domain/frequencies/profile-changes.ts'
import type { Profile } from '../domain/frequencies/profiles.ts'
import { parseTvInUse } from '../domain/frequencies/tv-raster.ts'
import type { PlaceholderStore } from '../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { SlotRecords } from '../lists/slot-records.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { now } from '../platform/clock.ts'
import type { ClientKey } from '../platform/concurrency.ts'
import type { FrequencyChecker } from './frequency-checker.ts'

export interface LiveFrequencyCheck {
  readonly carriers: readonly LiveCarrier[]
  readonly result: CheckResult
  /** When the conflicts were determined (epoch ms). */
  readonly checkedAt: number
}

export interface TunedChannel {
  readonly channelId: number
  readonly receiverId: number
  readonly khz: number
}

interface Checked {
  readonly result: CheckResult
  readonly checkedAt: number
}

/** A finished or running check. */
interface KeptCheck {
  /** Identifies the inputs of the result, except for the carriers. */
  readonly options: string
  /** The carriers as JSON, by id. */
  readonly carriers: ReadonlyMap<string, string>
  readonly checking: Promise<Checked>
  /** Null until it is known. */
  result: CheckResult | null
}

/** Enough for three levels, with and without transmitters that are off, and a few groups. */
const maxKept = 12
/** The main thread compares at most this many pairs of carriers. After more changes, all carriers are checked. */
const maxRecheckedPairs = 500_000

export class LiveFrequencies {
  readonly #lists: StoredLists
  readonly #settings: EffectiveSettings
  readonly #receiverStore: ReceiverStore
  readonly #placeholderStore: PlaceholderStore
  readonly #slotRecords: SlotRecords
  readonly #checker: FrequencyChecker
  /** By the input of the check, the most recently used last. */
  readonly #kept = new Map<string, KeptCheck>()
  #resolved: { readonly stored: readonly StoredProfile[]; readonly profiles: readonly Profile[] } | null = null

  constructor(
    lists: StoredLists,
    settings: EffectiveSettings,
    receiverStore: ReceiverStore,
    placeholderStore: PlaceholderStore,
    slotRecords: SlotRecords,
    checker: FrequencyChecker,
  ) {
    this.#lists = lists
    this.#settings = settings
    this.#receiverStore = receiverStore
    this.#placeholderStore = placeholderStore
    this.#slotRecords = slotRecords
    this.#checker = checker
  }

  /** Returns the profiles in force. */
  profiles(): readonly Profile[] {
    const { frequencyProfiles: stored } = this.#lists.current
    if (this.#resolved?.stored !== stored) this.#resolved = { stored, profiles: resolveProfiles(stored) }
    return this.#resolved.profiles
  }

  /** Returns the carriers of a site; those of this installation include placeholders. */
  carriers(site = localSite): readonly LiveCarrier[] {
    const placeholders = site === localSite ? this.#placeholderStore.list() : []
    return listLiveCarriers({ receivers: this.#receiverStore.listAll({ site }), placeholders, ...this.#context() })
  }

  /**
   * Returns the channels whose transmitters are received, and all frequencies in kHz that are tuned or planned, in
   * ascending order. A placeholder's frequency is that of its slot's plan. Spares of the plan in force also count.
   */
  tuned(): { readonly inUse: readonly TunedChannel[]; readonly knownKhz: readonly number[] } {
    const carriers = this.carriers()
    const frequencies = carriers.flatMap(({ khz, secondKhz }) => (secondKhz === null ? [khz] : [khz, secondKhz]))
    const planned = [...this.#slotRecords.current().values()].flatMap(
      ({ planned: { frequency } }) => parseMhz(frequency ?? '') ?? [],
    )
    return {
      inUse: carriers.flatMap(({ channelId, receiverId, isOn, khz }) =>
        isOn !== true || channelId === null || receiverId === null ? [] : [{ channelId, receiverId, khz }],
      ),
      knownKhz: [...new Set([...frequencies, ...planned, ...this.#plannedKhz()])].sort((a, b) => a - b),
    }
  }

  #plannedKhz(): number[] {
    const { carriers = [], spares = [] } = this.#lists.current.activePlan ?? {}
    return [...carriers, ...spares].flatMap(({ mhz }) => parseMhz(mhz) ?? [])
  }

  #context() {
    const { groups, locations } = this.#lists.current
    const titleOf: TitleOf = (receiver, channel) => this.#slotRecords.titleOf(receiver, channel)
    const titleOfPlaceholder = ({ slot }: Placeholder) => this.#slotRecords.find(slot)?.title ?? ''
    return { groups, locations, profiles: this.profiles(), titleOf, titleOfPlaceholder }
  }

  /** Describes the settings and lists on which carriers and conflicts depend. */
  describeLists(): string {
    const { REGION, TV_IN_USE } = this.#settings.get(null)
    const context = this.#context()
    const { groups, locations, profiles } = context
    const { measured, scans } = this.#lists.current
    const zones = [
      groups.filter(({ zone }) => zone !== null).map(({ id, slots, zone }) => [id, slots, zone]),
      locations.some(({ zone }) => zone !== null) ? locations.map(({ id, parent, zone }) => [id, parent, zone]) : [],
    ]
    const placeholders = createCarrierLists(context).ofPlaceholders(this.#placeholderStore.list())
    const titles = [...this.#slotRecords.current().values()]
      .filter(({ title_from: from }) => from === 'performer' || from === 'label')
      .map(({ slot, title }) => [slot, title])
    const measuredIds = scans.map(({ id }) => id).filter((id) => measured.scan_ids.includes(id))
    const lists = [profiles, zones, placeholders, titles, this.#plannedKhz()]
    return JSON.stringify([REGION, TV_IN_USE, ...lists, measured.version, measuredIds])
  }

  /**
   * Checks the carriers of a site, for a client. Throws a RequestError if there are too many. The result also contains
   * the carriers that were not selected.
   */
  async check(
    filter: LiveCheckFilter,
    site = localSite,
    client: ClientKey = null,
    measured: Measured | null = null,
  ): Promise<LiveFrequencyCheck> {
    const carriers = this.carriers(site)
    const { carriers: checked, victims } = toLiveCheck(carriers, filter)
    if (checked.length > maxCarriers) {
      const subject = `There are ${checked.length} carriers, and at most ${maxCarriers} can be checked. Use only_on.`
      throw new RequestError('wrong_state', { subject })
    }
    const { REGION, TV_IN_USE } = this.#settings.get(null)
    const options = { victims, tvInUse: parseTvInUse(REGION, TV_IN_USE).inUse, measured }
    const kept = this.#keep(checked, options, client)
    return { carriers, ...(await kept.checking) }
  }

  /** Reuses an earlier check of the same carriers. */
  #keep(checked: readonly Carrier[], options: CheckOptions, client: ClientKey): KeptCheck {
    const optionsText = describeOptions(options)
    const texts = new Map(checked.map((carrier) => [carrier.id, JSON.stringify(carrier)]))
    const key = [optionsText, ...texts.values()].join('\n')
    const known = this.#kept.get(key)
    this.#kept.delete(key)
    const kept = known ?? this.#start(checked, texts, options, optionsText, client)
    this.#kept.set(key, kept)
    kept.checking.catch(() => this.#kept.delete(key))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxKept) break
      this.#kept.delete(oldest)
    }
    return kept
  }

  #start(
    checked: readonly Carrier[],
    carriers: ReadonlyMap<string, string>,
    options: CheckOptions,
    optionsText: string,
    client: ClientKey,
  ): KeptCheck {
    const rechecked = this.#recheck(checked, carriers, options, optionsText)
    const checking = (
      rechecked === null ? this.#checker.check(checked, options, client) : Promise.resolve(rechecked)
    ).then((result) => {
      kept.result = result
      return { result: mergeSecondCarriers(result), checkedAt: now() }
    })
    const kept: KeptCheck = { options: optionsText, carriers, checking, result: rechecked }
    return kept
  }

  /** Checks only the changes since an earlier check; null if none is similar enough. */
  #recheck(
    checked: readonly Carrier[],
    carriers: ReadonlyMap<string, string>,
    options: CheckOptions,
    optionsText: string,
  ): CheckResult | null {
    // A check with scans is never partial, and must not take the main thread for long.
    if ((options.measured ?? null) !== null) return null
    for (const { result, options: earlier, carriers: before } of [...this.#kept.values()].reverse()) {
      if (result === null || earlier !== optionsText || !isComplete(result)) continue
      const ids = [...carriers.keys()].filter((id) => before.get(id) !== carriers.get(id))
      const removed = [...before.keys()].filter((id) => !carriers.has(id))
      if ((ids.length + removed.length) * checked.length ** 2 > maxRecheckedPairs) continue
      return recheckCarriers(result, checked, [...ids, ...removed], options)
    }
    return null
  }
}

/** The levels of a stored scan never change, but the carriers that are left out can become known later. */
function describeOptions({ measured = null, ...options }: CheckOptions): string {
  const scans = measured?.scans.map(({ id, khz }) => [id, khz.length])
  return JSON.stringify([options, measured === null ? null : { ...measured, scans }])
}
