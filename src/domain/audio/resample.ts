/**
 * Converts between the rates of streams and of listeners with a polyphase low-pass filter: a Kaiser window with 60 dB
 * (Oppenheim and Schafer, Discrete-Time Signal Processing, 7.5). All above half the lower rate is rejected.
 */

const stopDb = 60
const kaiserBeta = 0.1102 * (stopDb - 8.7)
/** The pass band ends at this part of half the lower rate. */
const passPart = 0.9

interface Filter {
  readonly up: number
  readonly down: number
  /** Taps of one phase. */
  readonly taps: number
  /** The phases one after another, each in reverse order. */
  readonly coefficients: Float64Array
}

const filters = new Map<string, Filter>()

export class Resampler {
  /** Milliseconds by which the output is later than the input. */
  readonly delayMs: number
  readonly #filter: Filter
  /** The last `taps - 1` samples of the previous block. */
  #history: Float64Array
  /** Position of the next output between input samples, in units of 1 / `up`. */
  #phase = 0

  constructor(fromRate: number, toRate: number) {
    this.#filter = filterOf(fromRate, toRate)
    this.#history = new Float64Array(this.#filter.taps - 1)
    this.delayMs = (((this.#filter.taps * this.#filter.up - 1) / 2 / this.#filter.up) * 1000) / fromRate
  }

  /** Returns the output for the next samples. Successive blocks continue each other. */
  resample(samples: Int32Array): Float64Array {
    const { up, down, taps, coefficients } = this.#filter
    const input = new Float64Array(this.#history.length + samples.length)
    input.set(this.#history)
    input.set(samples, this.#history.length)
    const output = new Float64Array(Math.ceil((samples.length * up - this.#phase) / down))
    let phase = this.#phase
    for (let index = 0; index < output.length; index++) {
      const start = Math.floor(phase / up)
      const offset = (phase - start * up) * taps
      let sum = 0
      for (let tap = 0; tap < taps; tap++)
        sum += (input[start + tap] as number) * (coefficients[offset + tap] as number)
      output[index] = sum
      phase += down
    }
    this.#phase = phase - samples.length * up
    this.#history = input.slice(samples.length)
    return output
  }
}

function filterOf(fromRate: number, toRate: number): Filter {
  const key = `${fromRate} ${toRate}`
  const filter = filters.get(key) ?? designFilter(fromRate, toRate)
  filters.set(key, filter)
  return filter
}

function designFilter(fromRate: number, toRate: number): Filter {
  const divisor = greatestCommonDivisor(fromRate, toRate)
  const [up, down] = [toRate / divisor, fromRate / divisor]
  const nyquist = Math.min(fromRate, toRate) / 2
  const transition = nyquist * (1 - passPart)
  const taps = Math.ceil((stopDb - 8) / (2.285 * 2 * Math.PI * (transition / fromRate)))
  const length = taps * up
  const cutoff = (nyquist - transition / 2) / (fromRate * up)
  const middle = (length - 1) / 2
  const coefficients = new Float64Array(length)
  for (let index = 0; index < length; index++) {
    const x = index - middle
    const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x)
    const window = bessel(kaiserBeta * Math.sqrt(1 - (x / (middle + 0.5)) ** 2)) / bessel(kaiserBeta)
    // Output at phase p uses the coefficients p, p + up, … with ever older samples.
    const tap = Math.floor(index / up)
    coefficients[(index % up) * taps + (taps - 1 - tap)] = sinc * window * up
  }
  return { up, down, taps, coefficients }
}

/** The modified Bessel function of the first kind and order 0. */
function bessel(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
