import { describe, expect, it } from 'vitest'
import { PlayoutBuffer, rateFor } from './playout.ts'

const rate = 48_000
const frameSamples = 960

interface Simulated {
  readonly seconds: number
  /** Parts per million by which the clock of the sender is fast. */
  readonly ppm: number
  readonly jitterMs: number
  readonly block?: number
  /** Returns a delay in ms for all frames that are due in this time. */
  stallAt?(ms: number): number
}

/** 997 periods are 50 frames. */
const tone = Array.from({ length: 50 }, (_, frame) =>
  Int16Array.from({ length: frameSamples }, (_, index) =>
    Math.round(16_384 * Math.sin((2 * Math.PI * 997 * (frame * frameSamples + index)) / rate)),
  ),
)

const frameOf = (sequence: number) => tone[sequence % tone.length] ?? new Int16Array(frameSamples)

/** Frames of a tone arrive on the sender's clock with jitter; the output is read on its own clock. */
function simulate({ seconds, ppm, jitterMs, block = 128, stallAt = () => 0 }: Simulated) {
  const buffer = new PlayoutBuffer(rate, rate)
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const frameMs = 20 / (1 + ppm / 1e6)
  let arrived = 0
  let lastArrivalMs = 0
  const nextArrival = () => {
    const due = arrived * frameMs
    return Math.max(lastArrivalMs, due + random() * jitterMs + stallAt(due))
  }
  let arrivesAt = nextArrival()
  const output = new Float32Array(block)
  const fills: number[] = []
  const samples: number[] = []
  for (let read = 0; (read * block) / rate < seconds; read += 1) {
    const nowMs = (read * block * 1000) / rate
    while (arrivesAt <= nowMs) {
      buffer.write(arrived, frameOf(arrived))
      lastArrivalMs = arrivesAt
      arrived += 1
      arrivesAt = nextArrival()
    }
    buffer.read(output)
    if (nowMs > 5000) fills.push(buffer.fillMs)
    if (nowMs > 2000 && samples.length < rate * 20) samples.push(...output)
  }
  return { fills, samples, status: buffer.takeStatus(), fillMs: () => buffer.fillMs }
}

/** Differences of neighbouring samples of the tone are at most this; a click exceeds it. */
const maxStep = 0.5 * 2 * Math.PI * (997 / rate) * 1.1

function largestStep(samples: readonly number[]): number {
  let largest = 0
  for (let index = 1; index < samples.length; index += 1)
    largest = Math.max(largest, Math.abs((samples[index] ?? 0) - (samples[index - 1] ?? 0)))
  return largest
}

describe('rateFor', () => {
  it.each([
    [60, 60, 1],
    [75, 60, 1.001],
    [45, 60, 0.999],
    [600, 60, 1.005],
    [0, 60, 0.996],
    [-100, 60, 0.995],
  ])('reads a fill of %s ms with a target of %s ms at %s', (fill, target, expected) =>
    expect(rateFor(fill, target)).toBeCloseTo(expected, 6),
  )
})

describe('PlayoutBuffer', () => {
  // Conformance: C-27.33.
  it.each([-200, -50, 0, 50, 200])('holds 60 ms with a clock that is %s ppm fast and 10 ms of jitter', (ppm) => {
    const { fills, samples, status } = simulate({ seconds: 60, ppm, jitterMs: 10 })
    expect(status).toMatchObject({ underruns: 0, skips: 0, targetMs: 60 })
    expect(Math.min(...fills)).toBeGreaterThan(25)
    expect(Math.max(...fills)).toBeLessThan(95)
    expect(largestStep(samples)).toBeLessThan(maxStep)
  })

  it('raises its target after an underrun, and lowers it slowly', () => {
    const stallAt = (ms: number) => (ms > 4000 && ms < 4200 ? 4200 - ms + 60 : 0)
    const { status } = simulate({ seconds: 6, ppm: 0, jitterMs: 5, stallAt })
    expect(status.underruns).toBeGreaterThan(0)
    expect(status.targetMs).toBeGreaterThan(75)
    expect(simulate({ seconds: 60, ppm: 0, jitterMs: 5, stallAt }).status.targetMs).toBe(60)
  })

  it('never exceeds a target of 300 ms', () => {
    const stallAt = (ms: number) => (ms % 1000 < 500 ? 500 - (ms % 1000) : 0)
    expect(simulate({ seconds: 60, ppm: 0, jitterMs: 5, stallAt }).status.targetMs).toBeLessThanOrEqual(300)
  })

  it('skips what is more than 200 ms above the target', () => {
    const buffer = new PlayoutBuffer(rate, rate)
    for (let sequence = 0; sequence < 14; sequence += 1) buffer.write(sequence, new Int16Array(frameSamples))
    expect(buffer.fillMs).toBeCloseTo(60, 5)
    expect(buffer.takeStatus().skips).toBe(1)
  })

  // Conformance: C-27.122.
  it.each([
    ['a skip', 14, 0],
    ['missing frames', 3, 4],
  ])('fades at %s', (_what, count, missing) => {
    const buffer = new PlayoutBuffer(rate, rate)
    const output = new Float32Array(128)
    const samples: number[] = []
    const write = (from: number, to: number) => {
      for (let sequence = from; sequence < to; sequence += 1) buffer.write(sequence, frameOf(sequence))
    }
    const read = (times: number) => {
      for (let time = 0; time < times; time += 1) {
        buffer.read(output)
        samples.push(...output)
      }
    }
    write(0, 3)
    read(15)
    write(3 + missing, 3 + missing + count)
    read(60)
    expect(buffer.takeStatus().skips).toBe(missing === 0 ? 1 : 0)
    // A fade of 2 ms adds half of full scale in 96 samples.
    expect(largestStep(samples)).toBeLessThan(maxStep + 0.5 / 96)
  })

  it('plays silence for frames that are missing, ignores repeated ones, and takes the time of short gaps', () => {
    const buffer = new PlayoutBuffer(rate, rate)
    buffer.write(0, new Int16Array(frameSamples))
    buffer.write(3, new Int16Array(frameSamples))
    buffer.write(3, new Int16Array(frameSamples))
    expect(buffer.fillMs).toBeCloseTo(80, 5)
  })

  it('converts the rate of the output', () => {
    const buffer = new PlayoutBuffer(24_000, 44_100)
    const output = new Float32Array(441)
    for (let sequence = 0; sequence < 10; sequence += 1) {
      buffer.write(sequence, new Int16Array(480).fill(8192))
      buffer.read(output)
    }
    expect(output[400]).toBeCloseTo(0.25, 3)
  })
})
