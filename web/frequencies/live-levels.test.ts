import { expect, it } from 'vitest'
import { receiver } from '../../test/support/browser/fake-service.ts'
import { currentLevels, levelText, noiseByCarrier, noiseText, type RecordedNoise } from './live-levels.ts'

const idle = { channel_id: 1, receiver_id: 1, state: 'off', rf_level: -88, noise_dbm: -88 } as const
const on = { ...idle, state: 'on', rf_level: -50, noise_dbm: null } as const

/** Returns the watch state of receiver 1, whose channel 1 has a level of -70 dBm. */
function watchWith(...receivers: readonly ReturnType<typeof receiver>[]) {
  const watchState = { receivers: new Map(receivers.map((one) => [one.id, one])) }
  const watch = { get: () => watchState, levels: () => ({ rf: -70 }) }
  return watch as unknown as Parameters<typeof currentLevels>[0]
}

// Conformance: C-15.85.
it.each([
  ['the level of the response until the page receives levels', watchWith(), on, { rf: -50, noise: null }],
  ['the noise of the response until then', watchWith(), idle, { rf: null, noise: -88 }],
  ['the present level', watchWith(receiver(1, [{}])), on, { rf: -70, noise: null }],
  ['the present noise', watchWith(receiver(1, [null])), idle, { rf: null, noise: -70 }],
  ['no noise as soon as the transmitter is on', watchWith(receiver(1, [{}])), idle, { rf: -70, noise: null }],
] as const)('shows %s', (_, watch, carrier, levels) => {
  expect(currentLevels(watch, carrier)).toEqual(levels)
})

it.each([
  [{ rf: null, noise: -70 }, 'Noise −70 dBm'],
  [{ rf: -50, noise: null }, '−50 dBm'],
  [{ rf: null, noise: null }, null],
])('describes the levels %j', (levels, text) => {
  expect(levelText(levels)).toBe(text)
})

const noise: RecordedNoise = {
  ...{ id: 'c1', channel_id: 1, mhz: '500.000', seconds: 600, median_dbm: -97, highest_dbm: -71 },
  ...{ highest_at: '2026-11-22T19:03:00.000Z', is_high: true },
}

// Conformance: C-15.86.
it('describes recorded noise, and leaves out that of another frequency', () => {
  expect(noiseText(noise)).toMatch(/^Noise in 24 hours: peak −71 dBm at .+, median −97 dBm$/)
  expect(noiseText({ ...noise, median_dbm: -71 })).toBe('Highest noise in 24 hours: −71 dBm')
  const body = { channels: [noise, { ...noise, id: 'c2', mhz: '501.000' }] }
  const carriers = ['c1', 'c2'].map((id) => ({ id, presentMhz: '500.000' }))
  expect([...noiseByCarrier(body, carriers).keys()]).toEqual(['c1'])
})
