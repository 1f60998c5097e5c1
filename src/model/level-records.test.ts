import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChannelBody } from './api.ts'
import { createRecordReader, differOnlyInLevels, encodeRecords, isEncodable } from './level-records.ts'
import type { DeviceUpdate } from './messages.ts'

const level = fc.option(fc.integer({ min: -127, max: 127 }))
const levels = fc.record({ audio_level: level, rf_level: level, battery: level })
const name = fc.option(fc.constantFrom('Host', 'Guest'))
const place = fc.record({ id: fc.nat(), channel: fc.nat(), slot: fc.nat(), name, frequency: name })

/** Channels with these levels, as the transmitter has them too; every other one without a transmitter where told so. */
function channelsOf(
  places: readonly Omit<ChannelBody, 'audio_level' | 'rf_level' | 'transmitter'>[],
  heard: readonly { audio_level: number | null; rf_level: number | null; battery: number | null }[],
): ChannelBody[] {
  return places.map((one, at) => {
    const { battery, audio_level, rf_level } = heard[at] ?? { battery: null, audio_level: null, rf_level: null }
    const transmitter = { ...one, upstream_slot: null, battery, audio_level: rf_level, rf_level: audio_level }
    const letters = ['', 'A', 'AB', 'BD', null][(rf_level ?? 0) & 3] ?? null
    const details = { rf_a: rf_level, rf_b: null, antennas: letters, quality: battery, muted: false, gain_db: 3.5 }
    const plain = { ...one, audio_level, rf_level, transmitter: one.slot % 2 === 0 ? null : transmitter }
    return one.slot % 3 === 0 ? { ...plain, details } : plain
  })
}

function update(receiver_id: number, channels: readonly ChannelBody[], more: object = {}): DeviceUpdate {
  return { type: 'device_update', manufacturer: 'shure', receiver_id, data: { channels, ...more } }
}

const frameOf = (...updates: DeviceUpdate[]) => new Uint8Array(encodeRecords(updates)).buffer

describe('records', () => {
  it('say the same as the update', () => {
    const ids = fc.uniqueArray(fc.nat({ max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 5 })
    const receiver = fc.record({
      places: fc.array(place, { maxLength: 5 }),
      before: fc.array(levels),
      now: fc.array(levels),
    })
    fc.assert(
      fc.property(ids, fc.array(receiver, { minLength: 5, maxLength: 5 }), (receiverIds, receivers) => {
        const reader = createRecordReader()
        const told = receiverIds.map((id, at) => {
          const { places, before, now } = receivers[at] as (typeof receivers)[number]
          const [known, changed] = [channelsOf(places, before), channelsOf(places, now)]
          expect(differOnlyInLevels(known, changed)).toBe(true)
          reader.remember(update(id, known))
          return update(id, changed)
        })
        expect(told.every(isEncodable)).toBe(true)
        expect(reader.read(frameOf(...told))).toEqual(told)
      }),
    )
  })

  const [one] = channelsOf([{ id: 1, channel: 1, slot: 1, name: 'Host', frequency: '470.300' }], []) as [ChannelBody]
  const { transmitter } = one

  it.each([
    ['a name', [{ ...one, name: 'Guest' }]],
    ['a transmitter’s name', [{ ...one, transmitter: transmitter && { ...transmitter, name: 'Guest' } }]],
    ['a transmitter that is gone', [{ ...one, transmitter: null }]],
    ['a channel more', [one, { ...one, id: 2 }]],
    ['a channel less', []],
    ['a field more', [{ ...one, muted: true }]],
    ['details', [{ ...one, details: { muted: true } }]],
    ['a level more', [{ ...one, details: { rf_a: -50 } }]],
    ['a transmitter’s details', [{ ...one, transmitter: transmitter && { ...transmitter, details: { muted: true } } }]],
  ])('do not say %s', (_, channels) => {
    expect(differOnlyInLevels([one], channels)).toBe(false)
    expect(differOnlyInLevels(channels, [one])).toBe(false)
  })

  it.each([
    ['a level beyond a byte', update(1, [{ ...one, rf_level: -128 }])],
    ['a level between two', update(1, [{ ...one, audio_level: -1.5 }])],
    ['more than levels', update(1, [one], { is_active: true })],
    ['a great number', update(2 ** 32, [one])],
    ['antennas it has no names for', update(1, [{ ...one, details: { antennas: 'BA' } }])],
    [
      'more levels than it counts',
      update(
        1,
        Array.from({ length: 20_000 }, () => one),
      ),
    ],
  ])('do not hold %s', (_, told) => {
    expect(isEncodable(update(1, [one]))).toBe(true)
    expect(isEncodable(told)).toBe(false)
  })

  it('of receivers that were not told whole, or cut off, say nothing', () => {
    const reader = createRecordReader()
    reader.remember(update(1, [one]))
    reader.remember(update(3, [one, one]))
    const frame = frameOf(update(2, [one]), update(3, [one]), update(1, [one]), update(1, [one]))
    expect(reader.read(frame)).toHaveLength(2)
    for (let size = 0; size < frame.byteLength; size += 1) {
      expect(reader.read(frame.slice(0, size)).length).toBeLessThan(2)
    }
  })
})
