/**
 * Simulates the battery of a transmitter as a pure function of the elapsed time. The level of its gauge is not
 * proportional to its run time.
 */

import { chance, smoothNoise } from './levels.ts'

export const batteryTypes = ['lithium', 'nimh', 'alkaline'] as const
export type BatteryType = (typeof batteryTypes)[number]

/** A transmitter's battery and its replacements, each inserted when the previous one is empty. */
export interface Pack {
  readonly type: BatteryType
  /** Determines how unevenly the batteries drain. */
  readonly seed: number
  /** Battery percentage at the start. */
  readonly charge: number
  /** The average drain of the first battery in percent per hour. Its replacements drain at `perHour`. */
  readonly firstPerHour: number
  readonly perHour: number
  /** In milliseconds since the start of the show (default 0). */
  readonly insertedAtMs?: number
}

export interface BatteryState {
  /** The level of the gauge in percent. */
  readonly percent: number
  readonly remainingMs: number
}

/** A transmitter switches off when its gauge shows this percentage. */
export const emptyAt = 4
/** The transmitter is off while its battery is replaced. */
const swapMs = 25_000
const hourMs = 3_600_000

/**
 * The level of a gauge after each fraction of the run time. Lithium packs have a fuel gauge. The voltage of NiMH falls
 * quickly at both ends, and that of alkaline cells falls ever more slowly.
 */
const curves: Readonly<Record<BatteryType, readonly (readonly [used: number, percent: number])[]>> = {
  lithium: pairs([0, 100], [0.5, 53], [0.9, 14], [1, emptyAt]),
  nimh: pairs([0, 100], [0.06, 85], [0.3, 68], [0.8, 47], [0.93, 24], [1, emptyAt]),
  alkaline: pairs([0, 100], [0.15, 76], [0.5, 42], [0.75, 20], [0.9, 9], [1, emptyAt]),
}

function pairs<Pair extends readonly [number, number]>(...points: Pair[]): Pair[] {
  return points
}

/** Returns null while the battery is being replaced. */
export function batteryAt(pack: Pack, elapsedMs: number): BatteryState | null {
  const sinceStart = Math.max(0, elapsedMs - (pack.insertedAtMs ?? 0))
  const start = usedAt(pack.type, pack.charge)
  const firstMs = (1 - start) * lifeOf(pack.firstPerHour)
  if (sinceStart < firstMs) return stateOf(pack, { number: 0, start, sinceMs: sinceStart, totalMs: firstMs })
  const totalMs = lifeOf(pack.perHour)
  const number = 1 + Math.floor((sinceStart - firstMs) / (totalMs + swapMs))
  const sinceMs = ((sinceStart - firstMs) % (totalMs + swapMs)) - swapMs
  return sinceMs < 0 ? null : stateOf(pack, { number, start: 0, sinceMs, totalMs })
}

/** The run time of a battery with this drain. */
function lifeOf(perHour: number): number {
  return ((100 - emptyAt) / perHour) * hourMs
}

function stateOf(
  { type, seed }: Pack,
  run: { readonly number: number; readonly start: number; readonly sinceMs: number; readonly totalMs: number },
): BatteryState {
  const { start, totalMs } = run
  const part = run.sinceMs / totalMs
  // The load and the temperature change, but never so much that the level rises.
  const uneven = 0.025 * 4 * part * (1 - part) * smoothNoise(seed + 97 * run.number, 1000 * part, 150)
  const used = start + (1 - start) * (part + uneven)
  return { percent: Math.round(percentAt(type, used)), remainingMs: totalMs - run.sinceMs }
}

/** Returns the level of the gauge after a fraction of the run time. */
function percentAt(type: BatteryType, used: number): number {
  const points = curves[type]
  const index = Math.max(
    1,
    points.findIndex(([at]) => at >= used),
  )
  const [[fromUsed, from], [toUsed, to]] = [points[index - 1], points[index]] as [Point, Point]
  return from + ((to - from) * (used - fromUsed)) / (toUsed - fromUsed)
}

type Point = readonly [used: number, percent: number]

/** Returns the fraction of the run time after which the gauge shows a percentage. */
function usedAt(type: BatteryType, percent: number): number {
  const points = curves[type]
  const found = points.findIndex(([, shown]) => shown <= percent)
  if (found === -1) return 1
  const index = Math.max(1, found)
  const [[fromUsed, from], [toUsed, to]] = [points[index - 1], points[index]] as [Point, Point]
  return fromUsed + ((toUsed - fromUsed) * (from - percent)) / (from - to)
}

/** Returns the remaining minutes as a device computes them, to within a few percent. */
export function reportedMinutes({ seed }: Pack, { remainingMs }: BatteryState): number {
  const minutes = remainingMs / 60_000
  return Math.round(minutes * (1 + 0.04 * smoothNoise(seed + 5, minutes, 60)))
}

/** In percent per hour. */
export function drainOf(type: BatteryType, seed: number): number {
  return typicalDrain[type] * (0.9 + 0.2 * chance(seed, 60))
}

const typicalDrain: Readonly<Record<BatteryType, number>> = { lithium: 10.5, nimh: 14, alkaline: 12 }
