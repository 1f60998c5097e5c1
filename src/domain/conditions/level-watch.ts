/**
 * Tracks when weak, noisy, silent and clipping stretches of a channel's levels begin and end. It is updated ten times a
 * second for thousands of channels, so it consists of numbers, and an update allocates nothing. All times are monotonic
 * milliseconds (`performance.now()`).
 */

import type { Channel } from '../equipment/receiver.ts'
import { toAntennaMask } from '../levels/level-sample.ts'
import type { Thresholds } from './condition.ts'
import { type Condition, type ConditionFlag, hasRow } from './condition.ts'

interface Stretch {
  readonly index: number
  /** The row that the stretch makes true. */
  readonly row: ConditionFlag
  /** The stretch must last this long without a break before the row is true. */
  readonly afterMs: number
  /** The row stays true for this long after the stretch ends. */
  readonly holdMs: number
}

export const stretches = {
  weak: { index: 0, row: 'rf_weak', afterMs: 1000, holdMs: 3000 },
  noise: { index: 1, row: 'interference', afterMs: 2000, holdMs: 5000 },
  reportedInterference: { index: 2, row: 'interference', afterMs: 0, holdMs: 5000 },
  peak: { index: 3, row: 'clipping', afterMs: 0, holdMs: 10_000 },
  reportedOverload: { index: 4, row: 'clipping', afterMs: 0, holdMs: 10_000 },
  /** The duration is `NO_AUDIO_MINUTES`, which is applied when the condition is evaluated. */
  silent: { index: 5, row: 'no_audio', afterMs: Number.POSITIVE_INFINITY, holdMs: 0 },
  fair: { index: 6, row: 'rf_fair', afterMs: 0, holdMs: 0 },
} as const satisfies Record<string, Stretch>

const stretchList: readonly Stretch[] = Object.values(stretches)
const stretchCount = stretchList.length

/**
 * Two numbers for each stretch. The first is the start of the current one, or infinity. The second, `stretchCount`
 * further, is the end of the last one that made its row true, or minus infinity. The last number is a bit mask of the
 * current stretches, because most samples change none.
 */
export type LevelWatch = number[]

const maskIndex = 2 * stretchCount

export function createWatch(): LevelWatch {
  const watch = new Array<number>(maskIndex + 1)
  resetWatch(watch, null)
  return watch
}

/** RF is weak below this link quality (percent). */
const weakQuality = 20
/** RF is fair below this level (dBm). */
const fairDbm = -70
/** A channel is silent below this level (dBFS). */
const silentDbfs = -60
const clippingDbfs = -1

/** The input of stretches that level samples do not contain. */
export interface WatchedFacts {
  hasTransmitter: boolean
  /** True if the transmitter or the receiver is muted. */
  isMuted: boolean
  /** True if the equipment reports interference. */
  isInterfered: boolean
  /** True if the equipment reports an audio level that is too high. */
  isOverloaded: boolean
  /** True if the equipment reports that it conceals link errors. */
  isConcealed: boolean
  /** The lowest audio level in dBFS that the equipment can report, if it is above -60; otherwise null. */
  audioFloor: number | null
}

/** The input of stretches. A caller reuses one object for all channels. NaN stands for an unknown number. */
export interface WatchedValues extends WatchedFacts {
  /** In dBm: the transmitter's level, else the channel's. */
  rf: number
  rfA: number
  rfB: number
  rfC: number
  rfD: number
  /** Bit mask of the antennas in use, A as bit 0; negative if unknown. */
  antennas: number
  quality: number
  /** The audio peak in dBFS, else the transmitter's audio level, else the channel's. */
  peak: number
}

export function createWatchedValues(): WatchedValues {
  return {
    hasTransmitter: false,
    isMuted: false,
    isInterfered: false,
    isOverloaded: false,
    isConcealed: false,
    audioFloor: null,
    rf: Number.NaN,
    rfA: Number.NaN,
    rfB: Number.NaN,
    rfC: Number.NaN,
    rfD: Number.NaN,
    antennas: -1,
    quality: Number.NaN,
    peak: Number.NaN,
  }
}

export function copyFacts(from: Readonly<WatchedFacts>, to: WatchedFacts): void {
  to.hasTransmitter = from.hasTransmitter
  to.isMuted = from.isMuted
  to.isInterfered = from.isInterfered
  to.isOverloaded = from.isOverloaded
  to.isConcealed = from.isConcealed
  to.audioFloor = from.audioFloor
}

/** Writes all values of a channel's record except `audioFloor` to `values`. */
export function readWatchedValues({ transmitter, details, ...channel }: Channel, values: WatchedValues): void {
  values.hasTransmitter = transmitter !== null
  values.isMuted = transmitter?.details?.muted === true || details?.muted === true
  values.isInterfered = details?.interference === true
  values.isOverloaded = details?.overload === true || details?.audio_activity === 'clipping'
  values.isConcealed = details?.rf_concealed === true
  values.rf = transmitter?.rf_level ?? channel.rf_level ?? Number.NaN
  values.rfA = details?.rf_a ?? Number.NaN
  values.rfB = details?.rf_b ?? Number.NaN
  values.rfC = details?.rf_c ?? Number.NaN
  values.rfD = details?.rf_d ?? Number.NaN
  values.antennas = details?.antennas == null ? -1 : toAntennaMask(details.antennas)
  values.quality = details?.quality ?? Number.NaN
  values.peak = details?.audio_peak ?? transmitter?.audio_level ?? channel.audio_level ?? Number.NaN
}

/**
 * Initializes the watch of a channel. The rows of a stored condition stay true until the first sample shows otherwise.
 * A restart does not end stretches, and the downtime does not lengthen them.
 */
export function resetWatch(watch: LevelWatch, stored: Condition | null): void {
  watch.fill(Number.POSITIVE_INFINITY, 0, stretchCount)
  watch.fill(Number.NEGATIVE_INFINITY, stretchCount, maskIndex)
  let mask = 0
  for (const { index, row } of stretchList) {
    if (stored === null || !hasRow(stored, row)) continue
    watch[index] = Number.NEGATIVE_INFINITY
    mask |= 1 << index
  }
  watch[maskIndex] = mask
}

/** Applies the values at the time `at`. Returns true if a stretch began or ended. */
export function updateWatch(
  watch: LevelWatch,
  values: Readonly<WatchedValues>,
  thresholds: Thresholds,
  at: number,
): boolean {
  const mask = toMask(values, thresholds)
  if (mask === watch[maskIndex]) return false
  for (const stretch of stretchList) set(watch, stretch, (mask & (1 << stretch.index)) !== 0, at)
  watch[maskIndex] = mask
  return true
}

function toMask(values: Readonly<WatchedValues>, thresholds: Thresholds): number {
  const { hasTransmitter, quality, peak } = values
  const { weak, noise, reportedInterference, peak: clipping, reportedOverload, silent, fair } = stretches
  let mask = values.isInterfered ? 1 << reportedInterference.index : 0
  if (!hasTransmitter) return noiseLevel(values) > thresholds.RF_NOISE_DBM ? mask | (1 << noise.index) : mask
  const rf = bestInUse(values)
  if (rf < thresholds.RF_WEAK_DBM || quality < weakQuality || values.isConcealed) mask |= 1 << weak.index
  if (rf < fairDbm) mask |= 1 << fair.index
  if (peak > clippingDbfs) mask |= 1 << clipping.index
  if (values.isOverloaded) mask |= 1 << reportedOverload.index
  if (!values.isMuted && isSilence(peak, values.audioFloor)) mask |= 1 << silent.index
  return mask
}

/**
 * Returns the level of the best antenna in use, or NaN. Equipment that names its antennas but reports only one level is
 * evaluated by that level.
 */
export function bestInUse({ rf, rfA, rfB, rfC, rfD, antennas }: Readonly<WatchedValues>): number {
  if (antennas < 0) return rf
  if (antennas === 0) return Number.NaN
  let best = Number.NEGATIVE_INFINITY
  if ((antennas & 1) !== 0 && rfA > best) best = rfA
  if ((antennas & 2) !== 0 && rfB > best) best = rfB
  if ((antennas & 4) !== 0 && rfC > best) best = rfC
  if ((antennas & 8) !== 0 && rfD > best) best = rfD
  return best === Number.NEGATIVE_INFINITY ? rf : best
}

/** Returns the RF level of a channel without a transmitter: the channel's own level, else any antenna's. */
function noiseLevel({ rf, rfA, rfB, rfC, rfD }: Readonly<WatchedValues>): number {
  if (!Number.isNaN(rf)) return rf
  let best = Number.NEGATIVE_INFINITY
  if (rfA > best) best = rfA
  if (rfB > best) best = rfB
  if (rfC > best) best = rfC
  if (rfD > best) best = rfD
  return best
}

/** Equipment whose scale ends above -60 dBFS is silent at the bottom of its scale. */
export function isSilence(peak: number, floor: number | null): boolean {
  return peak < silentDbfs || (floor !== null && peak <= floor)
}

function set(watch: LevelWatch, { index, afterMs }: Stretch, isTrue: boolean, at: number): void {
  const since = sinceOf(watch, index)
  const isRunning = since !== Number.POSITIVE_INFINITY
  if (isTrue === isRunning) return
  if (!isTrue && at - since >= afterMs) watch[stretchCount + index] = at
  watch[index] = isTrue ? at : Number.POSITIVE_INFINITY
}

/** True if the stretch has lasted long enough, or ended so recently that its row is held. */
export function isStretchTrue(watch: LevelWatch, { index, afterMs, holdMs }: Stretch, now: number): boolean {
  return now - sinceOf(watch, index) >= afterMs || now < heldUntil(watch, index, holdMs)
}

/**
 * Returns when a row was last true, without the hold time: infinity while one of its stretches runs, minus infinity if
 * there was none.
 */
export function rowTrueUntil(watch: LevelWatch, row: ConditionFlag, now: number): number {
  let until = Number.NEGATIVE_INFINITY
  for (const { index, row: ofStretch, afterMs } of stretchList) {
    if (ofStretch !== row) continue
    until = Math.max(
      until,
      now - sinceOf(watch, index) >= afterMs ? Number.POSITIVE_INFINITY : heldUntil(watch, index, 0),
    )
  }
  return until
}

/** Returns the next time at which `isStretchTrue` can change without an update, or infinity. */
export function nextStretchChange(watch: LevelWatch, { index, afterMs, holdMs }: Stretch, now: number): number {
  const begins = sinceOf(watch, index) + afterMs
  const ends = heldUntil(watch, index, holdMs)
  if (now >= begins) return Number.POSITIVE_INFINITY
  return now < ends ? Math.min(begins, ends) : begins
}

function sinceOf(watch: LevelWatch, index: number): number {
  return watch[index] ?? Number.POSITIVE_INFINITY
}

function heldUntil(watch: LevelWatch, index: number, holdMs: number): number {
  return (watch[stretchCount + index] ?? Number.NEGATIVE_INFINITY) + holdMs
}
