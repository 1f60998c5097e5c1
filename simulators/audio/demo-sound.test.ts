import { expect, it } from 'vitest'
import { findDropout, isSquelched } from '../show/levels.ts'
import { DemoSound } from './demo-sound.ts'

const pack = { type: 'lithium', seed: 1, charge: 90, firstPerHour: 10, perHour: 10 } as const
const seed = 7
const setup = { channel: 1, slot: 1, frequency: '470.000', seed, name: 'Nora', part: 'song', pack } as const
const hourMs = 3_600_000

/** The middle of the first dropout that mutes the receiver. */
function findMuted(): number {
  for (let minute = 0; ; minute++) {
    const dropout = findDropout(seed, minute)
    const middle = dropout && (dropout.fromMs + dropout.toMs) / 2
    if (middle !== null && isSquelched(seed, middle)) return middle
  }
}

it('is a voice that repeats, silent while the receiver mutes, the transmitter is off or the channel is muted', () => {
  const day = {
    on: [{ fromMs: -2 * hourMs, toMs: 0, batteryFrom: 90, batteryTo: 80 }],
    muted: [{ fromMs: -hourMs, toMs: -hourMs + 60_000 }],
    interference: [],
  }
  const sound = new DemoSound([{ manufacturer: 'shure', reportedIds: ['a'], setup, day }])
  const peak = (fromMs: number, toMs: number) =>
    sound.read(0, fromMs, toMs).reduce((most, sample) => Math.max(most, sample), 0)
  // The voice lasts 8 s.
  expect(sound.read(0, -16_000, -15_500)).toEqual(sound.read(0, -8000, -7500))
  expect(peak(-8000, 0)).toBeGreaterThan(10_000)
  expect(peak(-hourMs, -hourMs + 8000)).toBe(0)
  expect(peak(-3 * hourMs, -3 * hourMs + 8000)).toBe(0)
  const muted = findMuted()
  expect(peak(muted - 10, muted + 10)).toBe(0)
  expect(peak(muted - 9000, muted - 1300)).toBeGreaterThan(1000)
})
