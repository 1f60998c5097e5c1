/**
 * The scan of a simulated Digital 6000: a session at a time, which measures one frequency after the other and receives
 * nothing meanwhile (TI 1109 v2.2, 8.18 and 8.19).
 */

export interface SimulatedScanOptions {
  /** The time that one frequency takes; default 1 ms. TI 1109 does not state it. */
  readonly scanStepMs?: number
  /** Returns the level in dBm of an antenna at a frequency. By default, the noise floor and two TV channels. */
  readonly spectrum?: (khz: number, antenna: 0 | 1) => number
  /** True if a session ends after its last frequency instead of beginning again. TI 1109 does not state it. */
  readonly scansOnce?: boolean
  /** True if the receiver stays on the frequency at which a scan ended, instead of returning to its own. */
  readonly staysTuned?: boolean
  /** False for firmware without scans. */
  readonly canScan?: boolean
}

interface ScanRange {
  readonly fromHz: number
  readonly toHz: number
  readonly stepHz: number
}

interface ScanHooks {
  /** A block was measured, or the session has ended. */
  onBlock(block: readonly number[]): void
  onEnd(): void
}

const lowestHz = 470_100_000
const highestHz = 713_900_000
const smallestStepHz = 25_000
const blockPoints = 100
/** A device needs this long to end a session. */
const stopMs = 100

export class SimulatedScan {
  readonly #options: SimulatedScanOptions
  readonly #hooks: ScanHooks
  #range: ScanRange = { fromHz: lowestHz, toHz: highestHz, stepHz: smallestStepHz }
  #session = 0
  #isRunning = false
  #timer: NodeJS.Timeout | undefined
  /** The measured levels of RF 1 and RF 2, by index. */
  #levels: (readonly [number, number] | undefined)[] = []
  #index = 0

  constructor(options: SimulatedScanOptions, hooks: ScanHooks) {
    this.#options = options
    this.#hooks = hooks
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** The frequency that is being measured. */
  get khz(): number {
    return (this.#range.fromHz + this.#index * this.#range.stepHz) / 1000
  }

  /** Returns the answer to a value of `/rx1/scan/config`; null reads it. */
  configure(requested: unknown): readonly number[] {
    if (requested === null) return [Number(this.#isRunning)]
    if (!Array.isArray(requested) || requested[0] !== 1) {
      if (this.#isRunning) this.#endIn(stopMs)
      return [0]
    }
    const range = toRange(requested.slice(1))
    if (this.#isRunning || range === null) return [0]
    this.#range = range
    this.#session += 1
    this.#isRunning = true
    this.#levels = []
    this.#index = 0
    this.#measureBlock()
    return [1, range.fromHz, range.toHz, range.stepHz, this.#session]
  }

  /** Returns the answer to a value of `/rx1/scan/result`: the last block, or a part of what is stored. */
  read(requested: unknown): readonly number[] {
    if (!Array.isArray(requested)) return this.#isRunning ? this.#block(0, this.#index - 1) : []
    const [fromHz, toHz] = requested.map(Number)
    const { fromHz: start, stepHz } = this.#range
    const first = Math.ceil((Math.max(fromHz ?? 0, start) - start) / stepHz)
    const last = Math.floor(((toHz ?? 0) - start) / stepHz)
    return this.#block(first, Math.min(last, first + blockPoints - 1))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#isRunning = false
  }

  #measureBlock(): void {
    const points = Math.floor((this.#range.toHz - this.#range.fromHz) / this.#range.stepHz) + 1
    const count = Math.min(blockPoints, points - this.#index)
    const { scanStepMs = 1, scansOnce = false } = this.#options
    this.#timer = setTimeout(() => {
      const first = this.#index
      for (; this.#index < first + count; this.#index += 1) this.#levels[this.#index] = this.#measure(this.khz)
      this.#hooks.onBlock(this.#block(first, this.#index - 1))
      if (this.#index < points) return this.#measureBlock()
      if (scansOnce) return this.#endIn(0)
      this.#index = 0
      this.#measureBlock()
    }, count * scanStepMs)
  }

  #endIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#isRunning = false
      this.#hooks.onEnd()
    }, ms)
  }

  #measure(khz: number): readonly [number, number] {
    const { spectrum = defaultSpectrum } = this.#options
    return [toRaw(spectrum(khz, 0)), toRaw(spectrum(khz, 1))]
  }

  #block(first: number, last: number): readonly number[] {
    const from = Math.max(first, last - blockPoints + 1)
    const levels = this.#levels.slice(from, last + 1).flatMap((pair) => pair ?? [])
    if (levels.length === 0) return []
    const { fromHz, toHz, stepHz } = this.#range
    const toFrequency = (index: number) => fromHz + index * stepHz
    return [
      fromHz,
      toHz,
      stepHz,
      toFrequency(from),
      toFrequency(from + levels.length / 2 - 1),
      this.#session,
      ...levels,
    ]
  }
}

/** Corrects the range; null if there is none. */
function toRange(requested: readonly unknown[]): ScanRange | null {
  const [from, to, step] = requested.map(Number)
  if (from === undefined || to === undefined || step === undefined || [from, to, step].some(Number.isNaN)) return null
  const stepHz = Math.max(1, Math.round(step / smallestStepHz)) * smallestStepHz
  const fromHz = Math.max(lowestHz, Math.round(from / smallestStepHz) * smallestStepHz)
  const points = Math.floor((Math.min(highestHz, to) - fromHz) / stepHz)
  return points < 1 ? null : { fromHz, toHz: fromHz + points * stepHz, stepHz }
}

/** As in `/mm`: dBm = (value - 255) / 2. */
function toRaw(dbm: number): number {
  return Math.min(255, Math.max(0, Math.round(2 * dbm + 255)))
}

/** A noise floor that varies by 3 dB, and TV channels 25 and 32. */
function defaultSpectrum(khz: number, antenna: 0 | 1): number {
  const isTv = (khz >= 502_000 && khz < 510_000) || (khz >= 558_000 && khz < 566_000)
  return (isTv ? -70 : -112) + ((khz / 25) % 4) - antenna
}
