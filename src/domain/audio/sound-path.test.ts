/** From packets in any order to blocks, to ears and to memory. */

import { describe, expect, it } from 'vitest'
import { ArrivalClock } from './arrival-clock.ts'
import { Concealer } from './concealment.ts'
import { HeldSound } from './held-sound.ts'
import { PeakMeter } from './peak-meter.ts'
import { Resampler } from './resample.ts'
import { type SampleBlock, SampleRing } from './ring.ts'
import { copyChannel, toInt16 } from './samples.ts'

const rate = 48_000
const packet = 48

function sine(hz: number, sampleRate = rate) {
  return (frame: number) => Math.round(2 ** 22 * Math.sin((2 * Math.PI * hz * frame) / sampleRate))
}

function toBytes(sample: (frame: number) => number, from: number, frames: number, width: 2 | 3 = 3): Uint8Array {
  const bytes = Buffer.alloc(frames * width)
  for (let i = 0; i < frames; i++) bytes.writeIntBE(sample(from + i) >> (width === 2 ? 8 : 0), i * width, width)
  return bytes
}

function readBlocks(order: readonly number[], sample = sine(997)) {
  const ring = new SampleRing({ format: 'L24', rate, channels: 1 })
  ring.addChannel(0)
  const blocks: (SampleBlock & { samples: Int32Array })[] = []
  for (const index of order) {
    const position = 1000 + index * packet
    ring.write(position, toBytes(sample, position, packet), packet, (block) =>
      blocks.push({ ...block, samples: block.samplesOf(0) }),
    )
  }
  return blocks
}

const inOrder = Array.from({ length: 200 }, (_, index) => index)

describe('SampleRing', () => {
  // Conformance: C-27.7.
  it('returns the same samples for packets that are reordered and doubled', () => {
    const swapped = inOrder.flatMap((index) =>
      index % 7 === 0 && index > 0 ? [] : index % 7 === 1 ? [index, index - 1, index] : [index],
    )
    const blocks = readBlocks(swapped.filter((index) => index >= 0))
    expect(blocks.length).toBeGreaterThan(7)
    for (const { position, samples, lost } of blocks) {
      expect(lost).toEqual([])
      expect([...samples]).toEqual(Array.from({ length: 960 }, (_, i) => sine(997)(position + i)))
    }
  })

  // Conformance: C-27.8.
  it('names what the network lost, and leaves it silent', () => {
    const [first] = readBlocks(inOrder.filter((index) => index !== 5 && index !== 6))
    expect(first?.lost).toEqual([{ from: 5 * packet, to: 7 * packet }])
    expect(first?.samples.subarray(5 * packet, 7 * packet).every((sample) => sample === 0)).toBe(true)
    expect(first?.samples[5 * packet - 1]).not.toBe(0)
  })

  it('starts a segment after a long gap, and completes what came before', () => {
    const blocks = readBlocks(inOrder.filter((index) => index < 50 || index >= 160))
    expect(blocks.map(({ startsSegment }) => startsSegment).filter(Boolean).length).toBe(2)
    const second = blocks.find(({ startsSegment, position }) => startsSegment && position > 1000)
    expect(second?.position).toBe(1000 + 160 * packet)
    expect(second?.lost).toEqual([])
  })
})

// Conformance: C-27.9.
it('returns samples of 16 bits unchanged', () => {
  const all = Buffer.alloc(2 * 65_536)
  for (let value = -32_768; value < 32_768; value++) all.writeInt16BE(value, 2 * (value + 32_768))
  const samples = new Int32Array(65_536)
  copyChannel.L16(all, 0, 1, samples, 0)
  expect(samples.every((sample, index) => toInt16(sample) === index - 32_768)).toBe(true)
})

it('decodes the formats of programs', () => {
  const sample = -1_234_567
  const into = new Int32Array(2)
  const bytes = Buffer.alloc(16)
  for (const [format, width] of [
    ['s24le', 3],
    ['s32le', 4],
    ['s16le', 2],
    ['L24', 3],
    ['L16', 2],
  ] as const) {
    const value = format === 's32le' ? sample * 256 : width === 2 ? sample >> 8 : sample
    if (format.startsWith('L')) bytes.writeIntBE(value, width, width)
    else bytes.writeIntLE(value, width, width)
    copyChannel[format](bytes.subarray(0, 2 * width), 1, 2, into, 0)
    expect(into[0]).toBe(width === 2 ? (sample >> 8) * 256 : sample)
  }
})

describe('Concealer', () => {
  const conceal = (lostMs: number) => {
    const samples = Int32Array.from({ length: 960 }, (_, i) => sine(440)(i))
    const lost = { from: 400, to: 400 + lostMs * 48 }
    samples.fill(0, lost.from, lost.to)
    new Concealer(rate).conceal(samples, [lost])
    return samples
  }
  const largestStep = (samples: Int32Array) =>
    samples.reduce((largest, sample, i) => Math.max(largest, Math.abs(sample - (samples[i - 1] ?? sample))), 0)

  // Conformance: C-27.10.
  it.each([1, 3, 5, 8, 10])('makes no click from a loss of %i ms', (lostMs) => {
    const step = 2 ** 22 * Math.sin((2 * Math.PI * 440) / rate)
    expect(largestStep(conceal(lostMs))).toBeLessThan(2.5 * step)
  })

  it.each([1, 2, 3, 4, 5, 6])(
    'makes no click from losses of 1 ms that are %i ms apart, also across blocks',
    (apartMs) => {
      const samples = Int32Array.from({ length: 96_000 }, (_, i) => sine(440)(i))
      const concealer = new Concealer(rate)
      for (let start = 0; start < samples.length; start += 960) {
        const lost = []
        for (let from = 0; from < 960; from += 48) {
          if (((start + from) / 48) % 50 < 2 * apartMs && (((start + from) / 48) % 50) % apartMs === 0)
            lost.push({ from, to: from + 48 })
        }
        const block = samples.subarray(start, start + 960)
        for (const { from, to } of lost) block.fill(0, from, to)
        concealer.conceal(block, lost)
      }
      const step = 2 ** 22 * Math.sin((2 * Math.PI * 440) / rate)
      expect(largestStep(samples)).toBeLessThan(1.5 * step)
    },
  )

  it('makes no click where a segment starts', () => {
    const samples = Int32Array.from({ length: 4 * 960 }, (_, i) => sine(440)(i < 1920 ? i : i + 55))
    const concealer = new Concealer(rate)
    for (let start = 0; start < samples.length; start += 960) {
      concealer.conceal(samples.subarray(start, start + 960), [], start === 1920)
    }
    const step = 2 ** 22 * Math.sin((2 * Math.PI * 440) / rate)
    expect(largestStep(samples)).toBeLessThan(1.5 * step)
    expect([...samples.subarray(1920 + 96, 1920 + 100)]).toEqual([0, 1, 2, 3].map((i) => sine(440)(1920 + 96 + i + 55)))
  })

  it('repeats short losses, and fades long ones to silence within 2 ms', () => {
    const energy = (samples: Int32Array, from: number, to: number) =>
      samples.subarray(from, to).reduce((sum, sample) => sum + sample ** 2, 0)
    expect(energy(conceal(3), 440, 500)).toBeGreaterThan(0)
    expect(energy(conceal(10), 400, 480)).toBeGreaterThan(0)
    expect(energy(conceal(10), 500, 870)).toBe(0)
  })
})

describe('Resampler', () => {
  /** Returns the level of a frequency in dB relative to the input. */
  const levelOf = (fromRate: number, toRate: number, hz: number, found: number) => {
    const resampler = new Resampler(fromRate, toRate)
    const output: number[] = []
    for (let block = 0; block < 25; block++) {
      const samples = Int32Array.from({ length: fromRate / 50 }, (_, i) =>
        sine(hz, fromRate)(block * (fromRate / 50) + i),
      )
      const resampled = resampler.resample(samples)
      expect(resampled.length).toBe(toRate / 50)
      output.push(...resampled)
    }
    const part = output.slice(toRate / 10)
    let [real, imaginary, weight] = [0, 0, 0]
    for (const [i, value] of part.entries()) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / part.length)
      real += window * value * Math.cos((2 * Math.PI * found * i) / toRate)
      imaginary += window * value * Math.sin((2 * Math.PI * found * i) / toRate)
      weight += window
    }
    return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / weight / 2 ** 22)
  }

  // Conformance: C-27.11.
  it.each([
    [44_100, 48_000],
    [88_200, 48_000],
    [96_000, 48_000],
    [48_000, 24_000],
    [44_100, 24_000],
    [96_000, 24_000],
  ])('keeps a tone, and rejects aliases, from %i to %i Hz', (fromRate, toRate) => {
    expect(levelOf(fromRate, toRate, 997, 997)).toBeCloseTo(0, 1)
    const highest = 0.88 * (Math.min(fromRate, toRate) / 2)
    expect(levelOf(fromRate, toRate, highest, highest)).toBeGreaterThan(-0.5)
    if (fromRate > toRate) {
      for (const above of [200, 1000, 5000]) {
        expect(levelOf(fromRate, toRate, toRate / 2 + above, toRate / 2 - above)).toBeLessThan(-40)
      }
    } else {
      // The image of the tone above half of the source rate.
      const hz = fromRate - 21_000
      expect(levelOf(fromRate, toRate, 21_000, hz)).toBeLessThan(-40)
    }
  })
})

// Conformance: C-27.12.
it('measures the peak of each channel over the last second', () => {
  const meter = new PeakMeter('L24', 2)
  const bytes = Buffer.alloc(6)
  bytes.writeIntBE(-(2 ** 23), 0, 3)
  bytes.writeIntBE(2 ** 22, 3, 3)
  meter.write(bytes, 1, 10_000)
  expect(meter.levels(10_500)).toEqual([0, -6])
  meter.write(Buffer.alloc(6), 1, 10_900)
  expect(meter.levels(10_950)).toEqual([0, -6])
  expect(meter.levels(11_050)).toEqual([-144, -144])
})

it('follows a clock that drifts, and is not misled by delays', () => {
  const clock = new ArrivalClock(rate)
  const ppm = 200
  for (let ms = 0; ms < 60_000; ms++) {
    const delay = ms % 10 === 0 ? 0 : 15
    clock.observe((ms * rate * (1 + ppm / 1e6)) / 1000, 5000 + ms + delay)
  }
  expect(Math.abs(clock.timeOf((60_000 * rate * (1 + ppm / 1e6)) / 1000) - 65_000)).toBeLessThan(2)
})

describe('HeldSound', () => {
  const block = (value: number) => new Int16Array(960).fill(value)

  // Conformance: C-27.13.
  it('keeps the last seconds with their losses, and forgets them', () => {
    const held = new HeldSound()
    for (let index = -200; index < 1000; index++) {
      const at = 5_000_000 + index * 20 + (Math.abs(index) % 3) * 0.2
      held.add(at, block(index), index === 990 ? [{ from: 100, to: 200 }] : [])
    }
    expect(held.read(0, 5_000_000)).toBeNull()
    const all = held.read(0, 9_000_000)
    expect((all?.samples.length ?? 0) / 48_000).toBe(20)
    const part = held.read(5_019_785, 5_019_840)
    expect(part?.from).toBeCloseTo(5_019_780, 0)
    expect([part?.samples[0], part?.samples[960]]).toEqual([989, 990])
    expect(part?.lost).toEqual([{ from: 960 + 100, to: 960 + 200 }])
    held.discard()
    expect(held.read(0, 9_000_000)).toBeNull()
  })

  it('leaves a gap where no sound was received', () => {
    const held = new HeldSound()
    held.add(1000, block(1), [])
    held.add(1100, block(2), [])
    const read = held.read(0, 2000)
    expect(read?.samples.length).toBe(6 * 960)
    expect(read?.lost).toEqual([{ from: 960, to: 5 * 960 }])
    expect(read?.samples[5 * 960]).toBe(2)
  })
})
