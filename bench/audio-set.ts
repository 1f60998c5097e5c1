/**
 * Sounds with faults whose times are known, and sounds without, for the benchmark of the detectors. All of them are
 * synthesised from seeds: voices, music, applause. The faults are mixed into the voices.
 */

import { demoVoices, normalize, synthesizeVoice } from '../simulators/audio/voices.ts'
import { type AudioFault, audioFaults } from '../src/domain/audio/faults/finding.ts'
import { createRandom } from '../src/domain/frequencies/random.ts'

const rate = 48_000

export interface Sound {
  readonly name: string
  readonly samples: Float32Array
  /** Ranges of samples that a network has lost. */
  readonly lost: readonly (readonly [number, number])[]
  readonly kind: AudioFault | null
  /** The times of the faults in seconds. */
  readonly faults: readonly { readonly from: number; readonly until: number }[]
}

/** Seconds of each sound without faults. */
const cleanSeconds = 120

export function* createSounds(): Generator<Sound> {
  for (const kind of audioFaults) {
    for (const variant of faultVariants[kind]) yield createFaults(kind, variant)
  }
  for (const [name, create] of Object.entries(cleanSounds)) {
    const sound = create()
    yield { name, lost: [], kind: null, faults: [], ...sound }
  }
}

interface Variant {
  readonly name: string
  readonly seconds: number
  /** Seconds between the beginnings of two faults. */
  readonly every: number
  mix(samples: Float32Array, from: number, until: number, random: () => number): void
}

const dbToGain = (db: number) => 10 ** (db / 20)

const faultVariants: Readonly<Record<AudioFault, readonly Variant[]>> = {
  audio_dropout: [
    ...[0.008, 0.02, 0.1, 0.5, 1.5].map((seconds) => ({
      name: `zeros for ${seconds * 1000} ms`,
      seconds,
      every: 4,
      mix: (samples: Float32Array, from: number, until: number) => samples.fill(0, from, until),
    })),
    ...[0.08, 0.3, 0.8].map((seconds) => ({
      name: `white noise for ${seconds * 1000} ms`,
      seconds,
      every: 4,
      mix: (samples: Float32Array, from: number, until: number, random: () => number) =>
        edit(samples, from, until, () => (random() - 0.5) * 0.4),
    })),
  ],
  audio_clipping: [6, 12].map((db) => ({
    name: `${db} dB over full scale`,
    seconds: 1.5,
    every: 6,
    mix: (samples: Float32Array, from: number, until: number) => {
      const peak = samples.subarray(from, until).reduce((most, value) => Math.max(most, Math.abs(value)), 0.01)
      edit(samples, from, until, (value) => Math.max(-1, Math.min(1, (value * dbToGain(db)) / peak)))
    },
  })),
  silence: [
    {
      name: 'noise at -70 dBFS for 14 s',
      seconds: 14,
      every: 20,
      mix: (samples, from, until, random) => edit(samples, from, until, () => (random() - 0.5) * 2 * 0.00055),
    },
  ],
  hum: [-40, -50, -57].map((db) => ({
    name: `50 Hz and harmonics at ${db} dBFS in a pause of 12 s`,
    seconds: 12,
    every: 16,
    mix: (samples: Float32Array, from: number, until: number, random: () => number) =>
      edit(samples, from, until, (_, i) => {
        const phase = (2 * Math.PI * 50.03 * i) / rate
        const hum = Math.sin(phase) + 0.7 * Math.sin(2 * phase) + 0.5 * Math.sin(3 * phase) + 0.3 * Math.sin(5 * phase)
        return (hum / Math.sqrt(0.915)) * dbToGain(db) + (random() - 0.5) * 0.0008
      }),
  })),
  noise: [-20, -40].map((db) => ({
    name: `white noise at ${db} dBFS for 1 s`,
    seconds: 1,
    every: 5,
    mix: (samples: Float32Array, from: number, until: number, random: () => number) =>
      edit(samples, from, until, (value) => value * 0.1 + (random() * 2 - 1) * Math.sqrt(3) * dbToGain(db)),
  })),
  clicks: [0.2, 0.6].map((height) => ({
    name: `one sample of ${height}`,
    seconds: 1 / rate,
    every: 5,
    mix: (samples: Float32Array, from: number, _until: number, random: () => number) => {
      samples[from] = random() < 0.5 ? height : -height
    },
  })),
  dc: [
    {
      name: 'an offset of 0.02 for 7 s',
      seconds: 7,
      every: 14,
      mix: (samples, from, until) => edit(samples, from, until, (value) => value + 0.02),
    },
  ],
}

function edit(
  samples: Float32Array,
  from: number,
  until: number,
  change: (value: number, index: number) => number,
): void {
  for (let i = from; i < until; i++) samples[i] = change(samples[i] as number, i)
}

const faultsInSound = 15

function createFaults(kind: AudioFault, variant: Variant): Sound {
  const { name, seconds, every, mix } = variant
  const random = createRandom(name.length + 100 * seconds)
  const samples = speak(Math.floor(random() * 4), faultsInSound * every)
  const faults = Array.from({ length: faultsInSound }, (_, index) => {
    const earliest = Math.round((index * every + 1) * rate)
    const from = kind === 'audio_dropout' ? findLoud(samples, earliest) : earliest
    const until = Math.min(samples.length, from + Math.max(1, Math.round(seconds * rate)))
    mix(samples, from, until, random)
    return { from: from / rate, until: until / rate }
  })
  return { name, samples, lost: [], kind, faults }
}

/** Finds 12 ms above -36 dBFS, because only speech can break off. */
function findLoud(samples: Float32Array, earliest: number): number {
  const length = 0.012 * rate
  for (let from = earliest; from + length < samples.length; from += length) {
    const energy = samples.subarray(from, from + length).reduce((sum, value) => sum + value * value, 0)
    if (energy / length > 10 ** -3.6) return from + length
  }
  return earliest
}

function speak(voice: number, seconds: number, seed = 0): Float32Array {
  const options = demoVoices[voice % demoVoices.length] as (typeof demoVoices)[number]
  return synthesizeVoice({ ...options, seconds, seed: options.seed + 1000 * seed })
}

const cleanSounds: Readonly<Record<string, () => Partial<Sound> & Pick<Sound, 'samples'>>> = {
  ...Object.fromEntries(
    demoVoices.map(({ pitch }, index) => [
      `voice of ${pitch} Hz`,
      () => ({ samples: normalize(speak(index, cleanSeconds, 1), 0.3 + 0.2 * index) }),
    ]),
  ),
  'voice through a noise gate': () => ({ samples: gate(speak(0, cleanSeconds, 2)) }),
  'voice with 1% of packets lost': () => losePackets(speak(1, cleanSeconds, 3)),
  music: () => ({ samples: playMusic(cleanSeconds) }),
  applause: () => ({ samples: applaud(cleanSeconds) }),
}

/** A gate that closes to zeros in 20 ms. */
function gate(samples: Float32Array): Float32Array {
  const release = 1 - Math.exp(-1 / (0.005 * rate))
  let level = 0
  let gain = 0
  return samples.map((value) => {
    level = Math.max(Math.abs(value), level * (1 - 1 / (0.05 * rate)))
    gain += ((level > 0.01 ? 1 : 0) - gain) * release
    return gain < 0.02 ? 0 : value * gain
  })
}

/** Packets of 1 ms, which the receiver fills with zeros. */
function losePackets(samples: Float32Array): Pick<Sound, 'samples' | 'lost'> {
  const random = createRandom(5)
  const lost: [number, number][] = []
  for (let from = 0; from < samples.length; from += 48) {
    if (random() >= 0.01) continue
    // Half of the losses are bursts.
    const until = Math.min(samples.length, from + 48 * (random() < 0.5 ? 1 : 2 + Math.floor(random() * 30)))
    samples.fill(0, from, until)
    lost.push([from, until])
    from = until
  }
  return { samples, lost }
}

/** Chords of plucked strings, a bass, a kick drum and a hi-hat at 120 beats a minute. */
function playMusic(seconds: number): Float32Array {
  const random = createRandom(11)
  const samples = new Float32Array(seconds * rate)
  const beat = rate / 2
  for (let start = 0; start < samples.length; start += beat) {
    const root = 55 * 2 ** (Math.floor(random() * 12) / 12)
    for (const ratio of [1, 2, 2.52, 3, 4]) pluck(samples, start, root * ratio, 0.2 / ratio)
    for (let i = 0; i < 0.15 * rate && start + i < samples.length; i++) {
      const time = i / rate
      add(
        samples,
        start + i,
        0.5 * Math.exp(-time / 0.04) * Math.sin(2 * Math.PI * (50 * time - 5 * Math.exp(-time / 0.02))),
      )
      add(samples, start + i + beat / 2, 0.15 * Math.exp(-time / 0.02) * (random() * 2 - 1))
    }
  }
  return normalize(samples, 0.7)
}

function pluck(samples: Float32Array, start: number, hz: number, level: number): void {
  for (let i = 0; i < 0.8 * rate; i++) {
    const time = i / rate
    const attack = Math.min(1, time / 0.004)
    let value = 0
    for (let harmonic = 1; harmonic <= 6; harmonic++) {
      value += (Math.exp((-time * harmonic) / 0.4) * Math.sin(2 * Math.PI * hz * harmonic * time)) / harmonic
    }
    add(samples, start + i, value * attack * level)
  }
}

function add(samples: Float32Array, index: number, value: number): void {
  if (index < samples.length) samples[index] = (samples[index] as number) + value
}

/** Two hundred people who clap four times a second, in a room. */
function applaud(seconds: number): Float32Array {
  const random = createRandom(13)
  const samples = new Float32Array(seconds * rate)
  for (let count = 0; count < seconds * 200 * 4; count++) {
    const start = Math.floor(random() * samples.length)
    const level = random() ** 2
    const hz = 800 + random() * 1500
    for (let i = 0; i < 0.012 * rate; i++) {
      const envelope = Math.min(1, i / 20) * Math.exp(-i / (0.003 * rate))
      add(samples, start + i, level * envelope * (Math.sin((2 * Math.PI * hz * i) / rate) + 0.5 * (random() - 0.5)))
    }
  }
  return normalize(samples, 0.5)
}
