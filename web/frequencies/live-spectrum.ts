/** The sweeps of the chosen source, as the page shows them: read once, then followed by messages. */

import type { SweepsBody } from '../../src/contract/sweeps.ts'
import {
  holdHighest,
  maxWaterfallLines,
  maxWaterfallPoints,
  thin,
  unmeasured,
} from '../../src/domain/frequencies/sweeps/sweep.ts'
import type { SweepMessage } from '../app/live-updates.ts'
import { type Trace, traceOf } from './layout.ts'

export interface WaterfallLine {
  /** Epoch milliseconds. */
  readonly at: number
  /** Tenths of a dB, thinned to at most 2,000 levels over the whole range. */
  readonly levels: Int16Array
}

/** Levels are in tenths of a dB. */
export interface ShownSweeps {
  readonly source: string
  readonly fromKhz: number
  readonly stepKhz: number
  readonly last: Int16Array
  readonly max: Int16Array
  /** The oldest first. */
  readonly lines: readonly WaterfallLine[]
  readonly isCalibrated: boolean
  /** Between the last two sweeps; null after the first. */
  readonly sweepSeconds: number | null
  /** The begin of the last sweep, in epoch milliseconds. */
  readonly at: number
  /** When the last sweep arrived. The clock of an analyser may be wrong. */
  readonly receivedAt: number
  readonly resetMinutes: number | null
}

export function readSweeps(body: SweepsBody, now: number, known: ShownSweeps | null): ShownSweeps {
  const { source, from_mhz, step_mhz, last, max, waterfall, calibrated, sweep_seconds, reset_minutes } = body
  const at = Date.parse(body.at)
  const isKnown = known?.source === source && known.at >= at
  const sweeps: ShownSweeps = {
    ...{ source, fromKhz: from_mhz * 1000, stepKhz: step_mhz * 1000, isCalibrated: calibrated, at },
    ...{ last: toTenths(last), max: toTenths(max), sweepSeconds: sweep_seconds },
    lines: waterfall.map((line) => ({ at: Date.parse(line.at), levels: toTenths(line.dbm) })),
    receivedAt: isKnown ? known.receivedAt : Math.min(now, at),
    resetMinutes: reset_minutes ?? null,
  }
  if (!isKnown || known.at === at || !isSameRange(known, sweeps)) return sweeps
  // Messages overtook the response.
  return { ...known, max: holdHighest(sweeps.max, known.last), resetMinutes: sweeps.resetMinutes }
}

/** The service begins the maximum and the waterfall again, too, when the range changes. */
function addSweep(sweeps: ShownSweeps, message: SweepMessage, now: number): ShownSweeps {
  const at = Date.parse(message.at)
  const range = { fromKhz: message.from_mhz * 1000, stepKhz: message.step_mhz * 1000, last: toTenths(message.dbm) }
  const { last } = range
  const isSame = isSameRange(sweeps, range)
  const line = { at, levels: thin(last, maxWaterfallPoints) }
  return {
    ...sweeps,
    ...range,
    max: isSame ? holdHighest(sweeps.max, last) : last,
    lines: [...(isSame ? sweeps.lines : []), line].slice(-maxWaterfallLines),
    sweepSeconds: at > sweeps.at ? (at - sweeps.at) / 1000 : null,
    ...{ at, receivedAt: now },
  }
}

type Range = Pick<ShownSweeps, 'fromKhz' | 'stepKhz' | 'last'>

function isSameRange(one: Range, other: Range): boolean {
  return one.fromKhz === other.fromKhz && one.stepKhz === other.stepKhz && one.last.length === other.last.length
}

function toTenths(dbm: readonly (number | null)[]): Int16Array {
  return Int16Array.from(dbm, (level) => (level === null ? unmeasured : Math.round(level * 10)))
}

const [patienceMs, firstSweepSeconds] = [5_000, 12]

/** Two sweeps may be missing before a source counts as ended. */
export function isRunning({ receivedAt, sweepSeconds }: ShownSweeps, now: number): boolean {
  return now - receivedAt <= patienceMs + 2000 * (sweepSeconds ?? firstSweepSeconds)
}

const traces = new WeakMap<Int16Array, Trace>()

/** Frequencies that were not measured are left out. */
export function sweepTrace({ fromKhz, stepKhz }: Pick<ShownSweeps, 'fromKhz' | 'stepKhz'>, levels: Int16Array): Trace {
  const known = traces.get(levels)
  if (known !== undefined) return known
  const khz: number[] = []
  const dbm: number[] = []
  for (const [index, level] of levels.entries()) {
    if (level === unmeasured) continue
    khz.push(fromKhz + index * stepKhz)
    dbm.push(level / 10)
  }
  const trace = traceOf({ khz: Float64Array.from(khz), dbm: Float32Array.from(dbm) })
  traces.set(levels, trace)
  return trace
}

/** Not React state, because it changes up to four times a second. */
export class LiveSpectrum {
  #sweeps: ShownSweeps | null = null
  #isRunning = false
  readonly #listeners = new Set<() => void>()

  readonly sweeps = (): ShownSweeps | null => this.#sweeps

  /** False once sweeps stay away: what is shown is old. */
  readonly isRunning = (): boolean => this.#isRunning

  read(body: SweepsBody, now: number): void {
    this.#set(readSweeps(body, now, this.#sweeps), now)
  }

  receive(message: SweepMessage, now: number): void {
    if (this.#sweeps?.source === message.source) this.#set(addSweep(this.#sweeps, message, now), now)
  }

  /** Call once a second. */
  tick(now: number): void {
    if (this.#sweeps !== null && isRunning(this.#sweeps, now) !== this.#isRunning) this.#set(this.#sweeps, now)
  }

  clear(): void {
    if (this.#sweeps !== null) this.#set(null, 0)
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #set(sweeps: ShownSweeps | null, now: number): void {
    this.#sweeps = sweeps
    this.#isRunning = sweeps !== null && isRunning(sweeps, now)
    for (const listener of this.#listeners) listener()
  }
}
