/** Measures the frequency, level, clicks and gaps of a tone. */

import { amplitude, toneAt } from './tones.ts'

const rate = 48_000
const frameSamples = 960

/**
 * The step between samples that is a click. Concealed losses add a fade of 5 ms and two ramps of 2 ms, each over at
 * most twice the amplitude.
 */
export const clickStep = (hz: number) => amplitude * (2 * Math.sin((Math.PI * hz) / rate) + 1 / 240 + 2 / 97 + 2 / 96)

/** Counts steps of at least `limit`; those within 10 ms are one click. */
export function countClicks(samples: Float32Array, limit: number): number {
  let clicks = 0
  let last = Number.NEGATIVE_INFINITY
  for (let index = 1; index < samples.length; index++) {
    if (Math.abs((samples[index] as number) - (samples[index - 1] as number)) < limit) continue
    if (index - last > 480) clicks++
    last = index
  }
  return clicks
}

/** Returns for each 20 ms whether the tone has less than half its amplitude. */
export function findGaps(samples: Float32Array): boolean[] {
  return Array.from({ length: Math.floor(samples.length / frameSamples) }, (_, frame) =>
    samples
      .subarray(frame * frameSamples, (frame + 1) * frameSamples)
      .every((value) => Math.abs(value) < amplitude / 2),
  )
}

/** In dBFS of a sine. */
export function levelOf(samples: Float32Array): number {
  const energy = samples.reduce((sum, value) => sum + value * value, 0)
  return 10 * Math.log10((2 * energy) / samples.length)
}

/** Follows the phase of a tone that is within 10 Hz of `hz`. */
export function frequencyOf(samples: Float32Array, hz: number): number {
  const part = rate / 20
  let turns = 0
  let before: number | null = null
  let count = 0
  for (let start = 0; start + part <= samples.length; start += part) {
    const phase = phaseOf(samples.subarray(start, start + part), start, hz)
    if (before !== null) {
      turns += phase - before - Math.round(phase - before)
      count++
    }
    before = phase
  }
  return hz + (turns * rate) / (count * part)
}

/** In turns, relative to a tone of this frequency that began `start` samples before. */
function phaseOf(samples: Float32Array, start: number, hz: number): number {
  let [real, imaginary] = [0, 0]
  for (const [index, sample] of samples.entries()) {
    const angle = (2 * Math.PI * hz * (start + index)) / rate
    real += sample * Math.cos(angle)
    imaginary -= sample * Math.sin(angle)
  }
  return Math.atan2(imaginary, real) / (2 * Math.PI)
}

/** Returns the number of the tone's sample with which these begin. */
export function findStart(samples: Int16Array, hz: number): number {
  for (let start = 0; start < rate; start++) if (countOthers(samples, hz, start) === 0) return start
  throw new Error(`These are no samples of ${hz} Hz.`)
}

/** Counts samples that differ from those that were sent. */
export function countOthers(samples: Int16Array, hz: number, start: number): number {
  let count = 0
  for (const [index, sample] of samples.entries()) {
    if (sample !== Math.round(toneAt(start + index, hz, rate) * 32_768)) count++
  }
  return count
}
