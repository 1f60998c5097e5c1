import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../../contract/live.ts'
import type { DeviceUpdate } from '../messages.ts'
import { createRecordReader, differOnlyInLevels, encodeRecords, isEncodable } from './level-records.ts'

const level = fc.option(fc.integer({ min: -127, max: 127 }))
const levels = fc.record({ audio_level: level, rf_level: level, battery: level })
const name = fc.option(fc.constantFrom('Host', 'Guest'))
const identity = fc.record({ id: fc.nat(), channel: fc.nat(), slot: fc.nat(), name, frequency: name })

/**
 * Channels with these levels. Channels in even slots have no transmitter, those in slots divisible by three have
 * details.
 */
function channelsOf(
  identities: readonly Omit<ChannelBody, 'audio_level' | 'rf_level' | 'transmitter'>[],
  levels: readonly { audio_level: number | null; rf_level: number | null; battery: number | null }[],
): ChannelBody[] {
  return identities.map((identity, index) => {
    const { battery, audio_level, rf_level } = levels[index] ?? { battery: null, audio_level: null, rf_level: null }
    const transmitter = { ...identity, upstream_slot: null, battery, audio_level: rf_level, rf_level: audio_level }
    const letters = ['', 'A', 'AB', 'BD', null][(rf_level ?? 0) & 3] ?? null
    const details = { rf_a: rf_level, rf_b: null, antennas: letters, quality: battery, muted: false, gain_db: 3.5 }
    const plain = { ...identity, audio_level, rf_level, transmitter: identity.slot % 2 === 0 ? null : transmitter }
    return identity.slot % 3 === 0 ? { ...plain, details } : plain
  })
}

function update(receiver_id: number, channels: readonly ChannelBody[], more: object = {}): DeviceUpdate {
  return { type: 'device_update', manufacturer: 'shure', receiver_id, data: { channels, ...more } }
}

const frameOf = (...updates: DeviceUpdate[]) => new Uint8Array(encodeRecords(updates)).buffer

describe('level records', () => {
  it('decode to the encoded update', () => {
    const ids = fc.uniqueArray(fc.nat({ max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 5 })
    const receiver = fc.record({
      identities: fc.array(identity, { maxLength: 5 }),
      before: fc.array(levels),
      now: fc.array(levels),
    })
    fc.assert(
      fc.property(ids, fc.array(receiver, { minLength: 5, maxLength: 5 }), (receiverIds, receivers) => {
        const reader = createRecordReader()
        const updates = receiverIds.map((id, index) => {
          const { identities, before, now } = receivers[index] as (typeof receivers)[number]
          const [known, changed] = [channelsOf(identities, before), channelsOf(identities, now)]
          expect(differOnlyInLevels(known, changed)).toBe(true)
          reader.remember(update(id, known))
          return update(id, changed)
        })
        expect(updates.every(isEncodable)).toBe(true)
        expect(reader.read(frameOf(...updates))).toEqual(updates)
      }),
    )
  })

  const [channel] = channelsOf([{ id: 1, channel: 1, slot: 1, name: 'Host', frequency: '470.300' }], []) as [
    ChannelBody,
  ]
  const { transmitter } = channel

  it.each([
    ['a name', [{ ...channel, name: 'Guest' }]],
    ['a transmitter’s name', [{ ...channel, transmitter: transmitter && { ...transmitter, name: 'Guest' } }]],
    ['a removed transmitter', [{ ...channel, transmitter: null }]],
    ['an additional channel', [channel, { ...channel, id: 2 }]],
    ['a missing channel', []],
    ['an additional field', [{ ...channel, muted: true }]],
    ['additional details', [{ ...channel, details: { muted: true } }]],
    ['an additional level', [{ ...channel, details: { rf_a: -50 } }]],
    [
      'a transmitter’s details',
      [{ ...channel, transmitter: transmitter && { ...transmitter, details: { muted: true } } }],
    ],
  ])('cannot express %s', (_, channels) => {
    expect(differOnlyInLevels([channel], channels)).toBe(false)
    expect(differOnlyInLevels(channels, [channel])).toBe(false)
  })

  it.each([
    ['a level that does not fit into a byte', update(1, [{ ...channel, rf_level: -128 }])],
    ['a fractional level', update(1, [{ ...channel, audio_level: -1.5 }])],
    ['fields other than levels', update(1, [channel], { is_active: true })],
    ['a receiver id above 32 bits', update(2 ** 32, [channel])],
    ['antennas in another order', update(1, [{ ...channel, details: { antennas: 'BA' } }])],
    [
      'more levels than a record can count',
      update(
        1,
        Array.from({ length: 20_000 }, () => channel),
      ),
    ],
  ])('cannot encode %s', (_, invalid) => {
    expect(isEncodable(update(1, [channel]))).toBe(true)
    expect(isEncodable(invalid)).toBe(false)
  })

  it('are skipped if they are truncated or the complete update is missing', () => {
    const reader = createRecordReader()
    reader.remember(update(1, [channel]))
    reader.remember(update(3, [channel, channel]))
    const frame = frameOf(update(2, [channel]), update(3, [channel]), update(1, [channel]), update(1, [channel]))
    expect(reader.read(frame)).toHaveLength(2)
    for (let size = 0; size < frame.byteLength; size += 1) {
      expect(reader.read(frame.slice(0, size)).length).toBeLessThan(2)
    }
  })
})
