/** Consumers of the sound of a channel: one passes it on to a listener, the other holds it. */

import { Concealer } from '../domain/audio/concealment.ts'
import { ChannelDetectors } from '../domain/audio/faults/channel-detectors.ts'
import type { AudioFinding } from '../domain/audio/faults/finding.ts'
import { HeldSound, heldRate } from '../domain/audio/held-sound.ts'
import { Resampler } from '../domain/audio/resample.ts'
import type { SampleBlock } from '../domain/audio/ring.ts'
import { toInt16 } from '../domain/audio/samples.ts'
import type { ChannelConsumer } from './flow.ts'

/**
 * Converts times of `performance.now()`, which have fractions, to Unix milliseconds of the main thread. A clock of this
 * thread could differ after a step of the system clock, because it may notice the step later.
 */
class WallClock {
  #offset = 0

  /** `offset` is Unix milliseconds minus those of `performance.now()`, which is the same in all threads. */
  set(offset: number): void {
    // `now` returns whole milliseconds.
    if (Math.abs(offset - this.#offset) > 2) this.#offset = offset
  }

  toUnix(at: number): number {
    return this.#offset + at
  }
}

export const wallClock = new WallClock()

type OnFrame = (frame: { sequence: number; at: number; samples: Int16Array }) => void

export class Listener implements ChannelConsumer {
  readonly #concealer: Concealer
  readonly #resampler: Resampler | null
  readonly #onFrame: OnFrame
  #sequence = 0

  constructor(fromRate: number, toRate: number, onFrame: OnFrame) {
    this.#concealer = new Concealer(fromRate)
    this.#resampler = fromRate === toRate ? null : new Resampler(fromRate, toRate)
    this.#onFrame = onFrame
  }

  receive(samples: Int32Array, { lost, startsSegment }: SampleBlock, at: number): void {
    // Other consumers of the channel receive the same samples.
    const concealed = Int32Array.from(samples)
    this.#concealer.conceal(concealed, lost, startsSegment && this.#sequence > 0)
    const frame = Int16Array.from(this.#resampler?.resample(concealed) ?? concealed, toInt16)
    const delayMs = this.#resampler?.delayMs ?? 0
    this.#onFrame({ sequence: this.#sequence++, at: wallClock.toUnix(at - delayMs), samples: frame })
  }
}

export class Holder implements ChannelConsumer {
  readonly sound = new HeldSound()
  readonly #resampler: Resampler | null
  readonly #ratio: number
  readonly #detectors = new ChannelDetectors()
  readonly #onFindings: (findings: readonly AudioFinding[]) => void

  constructor(fromRate: number, onFindings: (findings: readonly AudioFinding[]) => void) {
    this.#onFindings = onFindings
    this.#ratio = heldRate / fromRate
    this.#resampler = fromRate === heldRate ? null : new Resampler(fromRate, heldRate)
  }

  receive(samples: Int32Array, { lost }: SampleBlock, at: number): void {
    const converted = Int16Array.from(this.#resampler?.resample(samples) ?? samples, toInt16)
    const ranges = lost.map(({ from, to }) => ({
      from: Math.floor(from * this.#ratio),
      to: Math.min(converted.length, Math.ceil(to * this.#ratio)),
    }))
    const from = wallClock.toUnix(at - (this.#resampler?.delayMs ?? 0))
    this.sound.add(from, converted, ranges)
    const lostRanges = ranges.map(({ from: first, to }) => [first, to] as const)
    const findings = this.#detectors.add({ at: from, samples: converted, lost: lostRanges })
    if (findings.length > 0) this.#onFindings(findings)
  }
}
