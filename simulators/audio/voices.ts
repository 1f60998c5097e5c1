/**
 * Voices synthesised from glottal pulses and formants. They speak no language, but have what detectors mistake for
 * faults: sibilants, plosives, breaths and pauses. The same seed gives the same samples.
 */

import { createRandom } from '../../src/domain/frequencies/random.ts'

const rate = 48_000
/** Formants move this often. */
const controlLength = 48

export interface VoiceOptions {
  readonly seed: number
  /** Hz. */
  readonly pitch: number
  /** 1 for a man; shorter vocal tracts have more. */
  readonly formantScale: number
  readonly seconds: number
  /** The highest sample, from 0 to 1. */
  readonly peak: number
}

/** The voices of the demo. */
export const demoVoices: readonly VoiceOptions[] = [
  { seed: 1, pitch: 105, formantScale: 1, seconds: 8, peak: 0.4 },
  { seed: 2, pitch: 205, formantScale: 1.17, seconds: 8, peak: 0.4 },
  { seed: 3, pitch: 135, formantScale: 1.05, seconds: 8, peak: 0.4 },
  { seed: 4, pitch: 260, formantScale: 1.25, seconds: 8, peak: 0.4 },
]

type Formants = readonly [number, number, number]

/** First three formants of a man in Hz, after Peterson and Barney (1952). */
const vowels: readonly Formants[] = [
  [270, 2290, 3010],
  [530, 1840, 2480],
  [660, 1720, 2410],
  [730, 1090, 2440],
  [570, 840, 2410],
  [300, 870, 2240],
]
const nasal: Formants = [250, 1200, 2200]
const bandwidths = [60, 90, 120, 200] as const
const fourthFormant = 3500

interface Segment {
  readonly seconds: number
  readonly formants: Formants
  readonly voiced: number
  /** Of the noise that the tongue and lips make, and its centre in Hz. */
  readonly noise: number
  readonly noiseHz: number
  /** Seconds in which it fades in. */
  readonly attack: number
}

export function synthesizeVoice({ seed, pitch, formantScale, seconds, peak }: VoiceOptions): Float32Array {
  const random = createRandom(seed)
  const samples = new Float32Array(Math.round(seconds * rate))
  const voice = new Voice(random, pitch, formantScale)
  let position = 0
  while (position < samples.length) {
    for (const segment of speakWord(random)) position = voice.speak(segment, samples, position)
  }
  return normalize(fadeEnds(samples), peak)
}

/** One to four syllables and a pause. */
function speakWord(random: () => number): Segment[] {
  const syllables = Array.from({ length: 1 + Math.floor(random() * 4) }, () => speakSyllable(random)).flat()
  const pause = random() < 0.2 ? 0.4 + random() * 0.8 : 0.03 + random() * 0.15
  return [...syllables, { ...silent, seconds: pause }]
}

const silent: Segment = { seconds: 0, formants: [500, 1500, 2500], voiced: 0, noise: 0, noiseHz: 2000, attack: 0.02 }

function speakSyllable(random: () => number): Segment[] {
  const formants = vowels[Math.floor(random() * vowels.length)] as Formants
  const vowel: Segment = { ...silent, seconds: 0.08 + random() * 0.16, formants, voiced: 0.6 + random() * 0.4 }
  const consonant = random()
  if (consonant < 0.3) {
    const noiseHz = 2500 + random() * 4500
    return [{ ...silent, seconds: 0.06 + random() * 0.1, formants, noise: 0.15 + random() * 0.2, noiseHz }, vowel]
  }
  if (consonant < 0.6) {
    const closure = { ...silent, seconds: 0.04 + random() * 0.05, formants, attack: 0.01 }
    const burst = {
      ...closure,
      seconds: 0.012,
      noise: 0.4 + random() * 0.5,
      noiseHz: 1000 + random() * 3000,
      attack: 0.0005,
    }
    return [closure, burst, vowel]
  }
  if (consonant < 0.8) return [{ ...silent, seconds: 0.05 + random() * 0.05, formants: nasal, voiced: 0.3 }, vowel]
  return [vowel]
}

class Voice {
  readonly #random: () => number
  readonly #pitch: number
  readonly #scale: number
  readonly #tract = bandwidths.map(() => new Resonator())
  readonly #friction = new Resonator()
  #formants: Formants = silent.formants
  #voiced = 0
  #noise = 0
  #phase = 0
  #period = 0
  #flow = 0
  #drift = 0

  constructor(random: () => number, pitch: number, scale: number) {
    this.#random = random
    this.#pitch = pitch
    this.#scale = scale
  }

  /** Writes a segment and returns the position after it. */
  speak(segment: Segment, samples: Float32Array, start: number): number {
    const end = Math.min(samples.length, start + Math.round(segment.seconds * rate))
    // Both the tongue and the glottis move within some 10 ms.
    const movement = 1 - Math.exp(-controlLength / (0.015 * rate))
    const onset = 1 - Math.exp(-1 / (Math.max(segment.attack, 0.0003) * rate))
    this.#friction.tune(segment.noiseHz, 900)
    for (let i = start; i < end; i++) {
      if ((i - start) % controlLength === 0) this.#move(segment.formants, movement)
      this.#voiced += (segment.voiced - this.#voiced) * onset
      this.#noise += (segment.noise - this.#noise) * onset
      const white = this.#random() * 2 - 1
      let value = this.#pulse() * this.#voiced + white * 0.004 * this.#voiced
      for (const resonator of this.#tract) value = resonator.filter(value)
      samples[i] = value + this.#friction.filter(white * this.#noise) * 0.25 + white * 0.0002
    }
    return end
  }

  #move(target: Formants, movement: number): void {
    const [first, second, third] = this.#formants.map(
      (hz, index) => hz + ((target[index] as number) - hz) * movement,
    ) as unknown as Formants
    this.#formants = [first, second, third]
    this.#drift += (this.#random() - 0.5) * 0.02 - this.#drift * 0.01
    for (const [index, resonator] of this.#tract.entries()) {
      const hz = (this.#formants[index] ?? fourthFormant) * this.#scale
      resonator.tune(hz, bandwidths[index] as number)
    }
  }

  /** The derivative of the flow through the glottis, after Rosenberg (1971): it opens for 40% and closes in 16%. */
  #pulse(): number {
    if (this.#phase >= this.#period) {
      this.#phase -= this.#period
      const jitter = 1 + (this.#random() - 0.5) * 0.01 + this.#drift
      this.#period = rate / (this.#pitch * jitter)
    }
    const time = this.#phase++ / this.#period
    const flow =
      time < 0.4
        ? 0.5 - 0.5 * Math.cos((Math.PI * time) / 0.4)
        : time < 0.56
          ? Math.cos(((time - 0.4) / 0.16) * (Math.PI / 2))
          : 0
    const derivative = flow - this.#flow
    this.#flow = flow
    return derivative
  }
}

/** Two poles, with a gain of 1 at 0 Hz. */
class Resonator {
  #a = 0
  #b = 0
  #c = 0
  #before = 0
  #beforeThat = 0

  tune(hz: number, bandwidth: number): void {
    const radius = Math.exp((-Math.PI * bandwidth) / rate)
    this.#b = 2 * radius * Math.cos((2 * Math.PI * hz) / rate)
    this.#c = -radius * radius
    this.#a = 1 - this.#b - this.#c
  }

  filter(value: number): number {
    const result = this.#a * value + this.#b * this.#before + this.#c * this.#beforeThat
    this.#beforeThat = this.#before
    this.#before = result
    return result
  }
}

/** So that a loop does not click. */
function fadeEnds(samples: Float32Array): Float32Array {
  const length = Math.min(rate / 50, samples.length / 2)
  for (let i = 0; i < length; i++) {
    samples[i] = ((samples[i] as number) * i) / length
    const last = samples.length - 1 - i
    samples[last] = ((samples[last] as number) * i) / length
  }
  return samples
}

export function normalize(samples: Float32Array, peak: number): Float32Array {
  const highest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return highest === 0 ? samples : samples.map((value) => (value * peak) / highest)
}
