/** The signals near channels in use that nobody has planned or tuned, as the sweeps of analysers show them. */

import type { NearCarrier } from '../domain/alerts/unknown-carrier.ts'
import {
  findUnknownCarriers,
  followCarriers,
  isLasting,
  type SeenCarrier,
} from '../domain/frequencies/sweeps/unknown-carriers.ts'
import type { LiveFrequencies, TunedChannel } from '../frequencies/live-frequencies.ts'
import type { LiveSpectrum } from '../frequencies/live-spectrum.ts'
import type { MeasuredScans } from '../frequencies/measured-scans.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { Topic } from '../platform/topic.ts'

/** An alert is cleared this long after the last sweep that shows its signal. */
const clearAfterMs = 10_000
/** A slow analyser is given the time of its next sweep and half of another. */
const slowSweeps = 1.5

interface SeenSource {
  readonly seen: readonly SeenCarrier[]
  readonly at: number
}

interface Near extends NearCarrier {
  readonly receiverId: number
  /** As a `performance.now()` time. */
  readonly until: number
}

export class UnknownCarriers {
  /** Contains the ids of the receivers with other unknown carriers near their channels. */
  readonly changed = new Topic<Iterable<number>>()
  readonly #receiverStore: ReceiverStore
  readonly #frequencies: LiveFrequencies
  readonly #measured: MeasuredScans
  readonly #settings: EffectiveSettings
  readonly #sources = new Map<string, SeenSource>()
  /** By the id of the channel. */
  readonly #near = new Map<number, Near>()
  /** Null after a change, until the next sweep. */
  #tuned: { readonly inUse: readonly TunedChannel[]; readonly knownKhz: readonly number[] } | null = null
  #isSettling = true
  #timer: NodeJS.Timeout | undefined

  constructor(
    receiverStore: ReceiverStore,
    frequencies: LiveFrequencies,
    measured: MeasuredScans,
    settings: EffectiveSettings,
  ) {
    this.#receiverStore = receiverStore
    this.#frequencies = frequencies
    this.#measured = measured
    this.#settings = settings
  }

  /** Alerts from before a restart are kept until their signals can have been received again. */
  open(): void {
    this.#timer = setTimeout(() => {
      this.#isSettling = false
      if (this.#isEnabled) this.changed.publish(this.#receiverStore.listAll().map(({ id }) => id))
      this.#setTimer()
    }, clearAfterMs)
    this.#timer.unref()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  get isSettling(): boolean {
    return this.#isSettling
  }

  carrierNear(channelId: number): NearCarrier | null {
    return this.#near.get(channelId) ?? null
  }

  carriersChanged(): void {
    this.#tuned = null
  }

  /** Relative levels cannot be compared with the threshold. */
  sweepReceived({ source, last, sweepSeconds }: LiveSpectrum): void {
    if (!this.#isEnabled || !last.isCalibrated) return
    const now = performance.now()
    const before = this.#sources.get(source)
    this.#tuned ??= this.#frequencies.tuned()
    const { inUse, knownKhz } = this.#tuned
    const aboveDbm = this.#measured.defaults().peak_above_dbm
    const found = findUnknownCarriers(
      last,
      inUse.map(({ khz }) => khz),
      { knownKhz, aboveDbm },
    )
    const seen = followCarriers(before?.seen ?? [], found, { now, stepMhz: last.stepMhz })
    this.#sources.set(source, { seen, at: now })
    const intervalMs = before === undefined ? 0 : now - before.at
    const until = now + Math.max(clearAfterMs, slowSweeps * intervalMs)
    const lasting = seen.filter((carrier) => isLasting(carrier, now))
    this.#update(source, lasting, inUse, { until, sweepSeconds: sweepSeconds ?? intervalMs / 1000 })
  }

  get #isEnabled(): boolean {
    return this.#settings.hasAlerts('unknown_carrier')
  }

  /** Each signal belongs to the nearest channel, and each channel has the strongest of its signals. */
  #update(
    source: string,
    lasting: readonly SeenCarrier[],
    inUse: readonly TunedChannel[],
    common: Pick<Near, 'until' | 'sweepSeconds'>,
  ): void {
    const changed = new Set<number>()
    const strongest = new Map<number, Near>()
    for (const { khz, dbm } of lasting) {
      const nearest = inUse.reduce((a, b) => (Math.abs(b.khz - khz) < Math.abs(a.khz - khz) ? b : a))
      const { channelId, receiverId, khz: nearKhz } = nearest
      if (dbm <= (strongest.get(channelId)?.dbm ?? Number.NEGATIVE_INFINITY)) continue
      strongest.set(channelId, { khz, dbm, nearKhz, source, receiverId, ...common })
    }
    for (const [channelId, near] of strongest) {
      const before = this.#near.get(channelId)
      if (before !== undefined && before.source !== source && before.dbm > near.dbm) continue
      this.#near.set(channelId, near)
      changed.add(near.receiverId)
    }
    this.#setTimer()
    if (changed.size > 0) this.changed.publish(changed)
  }

  #setTimer(): void {
    if (this.#isSettling || this.#near.size === 0) return
    clearTimeout(this.#timer)
    const first = Math.min(...[...this.#near.values()].map(({ until }) => until))
    this.#timer = setTimeout(() => this.#forgetEnded(), Math.max(1, first - performance.now()))
    this.#timer.unref()
  }

  #forgetEnded(): void {
    const now = performance.now()
    const changed = new Set<number>()
    for (const [channelId, { until, receiverId }] of this.#near) {
      if (until > now) continue
      this.#near.delete(channelId)
      changed.add(receiverId)
    }
    this.#setTimer()
    if (changed.size > 0) this.changed.publish(changed)
  }
}
