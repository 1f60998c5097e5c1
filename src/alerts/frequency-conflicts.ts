/** The conflicts between the transmitters that are on. They are determined after a change of a carrier, not of a level. */

import type { ChannelConflict } from '../domain/alerts/frequency-conflict.ts'
import { hasRow } from '../domain/conditions/condition.ts'
import { frequencyOf, type Receiver } from '../domain/equipment/receiver.ts'
import type { CheckResult } from '../domain/frequencies/conflict.ts'
import type { LiveCarrier, LiveCheckFilter } from '../domain/frequencies/live-carriers.ts'
import type { LiveFrequencies } from '../frequencies/live-frequencies.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'

type Conflicts = ReadonlyMap<number, ChannelConflict & { readonly receiverId: number }>

/** Changes that arrive within this time are checked together. */
const collectMs = 250
/** A carrier keeps its conflict for this long, so that brief changes do not flicker. */
const clearAfterMs = 10_000

const liveFilter: LiveCheckFilter = { level: 'standard', isOnlyOn: true, slots: null }

export class FrequencyConflicts {
  /** A carrier of a receiver was changed, switched on or off, or removed. */
  readonly carriersChanged = new Topic()
  /** Contains the ids of the receivers whose conflicts have changed. */
  readonly changed = new Topic<Iterable<number>>()
  readonly #receiverStore: ReceiverStore
  readonly #frequencies: LiveFrequencies
  readonly #settings: EffectiveSettings
  readonly #log: Log
  readonly #carriersOf = new Map<number, string>()
  /** Null until they are known. */
  #conflicts: Conflicts | null = null
  /** When the conflicts of a channel ended, as a `performance.now()` time. */
  readonly #endedAt = new Map<number, { readonly at: number; readonly receiverId: number }>()
  #checkTimer: NodeJS.Timeout | undefined
  #clearTimer: NodeJS.Timeout | undefined
  #isOpen = false
  #isChecking = false
  #isDue = false

  constructor(receiverStore: ReceiverStore, frequencies: LiveFrequencies, settings: EffectiveSettings, log: Log) {
    this.#receiverStore = receiverStore
    this.#frequencies = frequencies
    this.#settings = settings
    this.#log = log
  }

  /** Begins to check. Must be called after the alerts were loaded. */
  open(): void {
    this.#isOpen = true
    this.#checkSoon()
  }

  receiverChanged(id: number): void {
    const receiver = this.#receiverStore.facts(id)
    const carriers = receiver === undefined ? '' : describeCarriers(receiver)
    if ((this.#carriersOf.get(id) ?? '') === carriers) return
    if (carriers === '') this.#carriersOf.delete(id)
    else this.#carriersOf.set(id, carriers)
    this.carriersChanged.publish()
    this.#checkSoon()
  }

  listsChanged(): void {
    this.#checkSoon()
  }

  conflictOf(channelId: number): ChannelConflict | null {
    return this.#conflicts?.get(channelId) ?? null
  }

  isSettling(channelId: number): boolean {
    return this.#conflicts === null || this.#endedAt.has(channelId)
  }

  close(): void {
    this.#isOpen = false
    clearTimeout(this.#checkTimer)
    clearTimeout(this.#clearTimer)
  }

  #checkSoon(): void {
    if (!this.#isOpen) return
    this.#isDue = true
    if (this.#isChecking || this.#checkTimer !== undefined) return
    this.#checkTimer = setTimeout(() => void this.#check(), collectMs)
    this.#checkTimer.unref()
  }

  async #check(): Promise<void> {
    this.#checkTimer = undefined
    this.#isChecking = true
    this.#isDue = false
    try {
      const conflicts = this.#settings.hasAlerts('frequency_conflict') ? await this.#findConflicts() : new Map()
      if (this.#isOpen) this.#replace(conflicts)
    } catch (error) {
      if (this.#isOpen) this.#log.warn({ error: String(error) }, 'frequencies could not be checked')
    }
    this.#isChecking = false
    if (this.#isDue) this.#checkSoon()
  }

  async #findConflicts(): Promise<Conflicts> {
    const { carriers, result } = await this.#frequencies.check(liveFilter)
    return firstConflicts(carriers, result)
  }

  #replace(conflicts: Conflicts): void {
    const before = this.#conflicts
    this.#conflicts = conflicts
    const changed = new Set<number>()
    for (const [channelId, { receiverId }] of before ?? []) {
      if (conflicts.has(channelId)) continue
      this.#endedAt.set(channelId, { at: performance.now(), receiverId })
      changed.add(receiverId)
    }
    for (const [channelId, { receiverId }] of conflicts) {
      this.#endedAt.delete(channelId)
      if (before?.has(channelId) !== true) changed.add(receiverId)
    }
    // An alert from before a restart may have to be cleared.
    if (before === null) for (const receiverId of this.#carriersOf.keys()) changed.add(receiverId)
    this.#setClearTimer()
    if (changed.size > 0) this.changed.publish(changed)
  }

  #setClearTimer(): void {
    clearTimeout(this.#clearTimer)
    if (this.#endedAt.size === 0 || !this.#isOpen) return
    const first = Math.min(...[...this.#endedAt.values()].map(({ at }) => at))
    this.#clearTimer = setTimeout(() => this.#forgetEnded(), Math.max(1, first + clearAfterMs - performance.now()))
    this.#clearTimer.unref()
  }

  #forgetEnded(): void {
    const changed = new Set<number>()
    for (const [channelId, { at, receiverId }] of this.#endedAt) {
      if (performance.now() - at < clearAfterMs) continue
      this.#endedAt.delete(channelId)
      changed.add(receiverId)
    }
    this.#setClearTimer()
    if (changed.size > 0) this.changed.publish(changed)
  }
}

/** Without levels. */
function describeCarriers({ is_active, name, model, device_type, location, channels }: Receiver): string {
  const described = channels.map((channel) => {
    const { condition, transmitter, last_transmitter, details = {} } = channel
    const shown = [channel.name, (transmitter ?? last_transmitter)?.name, transmitter !== null]
    const rows = [hasRow(condition, 'stale'), transmitter === null && hasRow(condition, 'interference')]
    const { second_frequency, band, transmission_mode } = details
    const radio = [frequencyOf(channel), second_frequency, band, transmission_mode, channel.profile]
    return [channel.id, channel.slot, shown, rows, radio]
  })
  return JSON.stringify([is_active, name, model, device_type, location, described])
}

function firstConflicts(carriers: readonly LiveCarrier[], { conflicts, victims }: CheckResult): Conflicts {
  const byId = new Map(carriers.map((carrier) => [carrier.id, carrier]))
  const listed = new Map(conflicts.toReversed().map((conflict) => [conflict.victim, conflict]))
  const first = new Map<number, ChannelConflict & { readonly receiverId: number }>()
  for (const id of Object.keys(victims)) {
    const { channelId = null, receiverId = null } = byId.get(id) ?? {}
    if (channelId === null || receiverId === null) continue
    const { kind = null, generators = [] } = listed.get(id) ?? {}
    const named = generators.flatMap((one) => byId.get(one) ?? []).map(({ slot, name: title }) => ({ slot, title }))
    first.set(channelId, { kind, generators: named, receiverId })
  }
  return first
}
