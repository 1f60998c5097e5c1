import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Channel,
  type ChannelReading,
  type DeviceReport,
  emptyChannel,
  mergeChannels,
  mergeReports,
  withoutSuperseded,
  withSummaryAsChannel,
} from './receiver.ts'

const level = fc.option(fc.integer({ min: -3, max: 0 }))
const levels = { audio_level: level, rf_level: level }
const transmitter = fc.record({ ...levels, battery: level }, { requiredKeys: [] })
const reading = (channel: number): fc.Arbitrary<ChannelReading> =>
  fc.record(
    {
      channel: fc.constant(channel),
      ...levels,
      transmitter: fc.option(transmitter),
      details: fc.record({ muted: fc.boolean() }, { requiredKeys: [] }),
    },
    { requiredKeys: ['channel'] },
  ) as fc.Arbitrary<ChannelReading>
const readings = fc.tuple(reading(1), reading(2))
const none = [emptyChannel(1, 1, 1), emptyChannel(2, 2, 2)]

/** Every value of a channel that a reading may tell, by its place in it. */
function valuesOf(channel: Channel | ChannelReading | undefined): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [field, value] of Object.entries(channel ?? {})) {
    if (value === undefined || ['id', 'slot', 'channel'].includes(field)) continue
    const isPlain = typeof value !== 'object' || value === null
    if (isPlain || field === 'transmitter') values.set(field, isPlain ? value : 'there')
    for (const [inner, one] of Object.entries(value ?? {})) if (one !== undefined) values.set(`${field}.${inner}`, one)
  }
  return values
}

describe('a reading that took its time', () => {
  it('leaves what has changed meanwhile, and tells all the rest', () => {
    fc.assert(
      fc.property(readings, readings, readings, (first, read, told) => {
        const before = mergeChannels(none, first)
        const now = mergeChannels(before, told)
        const after = mergeChannels(now, withoutSuperseded(read, before, now))
        for (const at of [0, 1]) {
          const [was, is, said, left] = [before, now, read, after].map((of) => valuesOf(of[at]))
          for (const [field, value] of is ?? []) {
            const hasChanged = (was?.get(field) ?? null) !== value
            if (hasChanged) expect([field, left?.get(field)]).toEqual([field, value])
          }
          // That it is not there counts only where nothing at all was told of it.
          const isOfOld = before[at]?.transmitter === now[at]?.transmitter
          for (const [field, value] of said ?? []) {
            if (field === 'transmitter' && !isOfOld) continue
            const isGone = field.startsWith('transmitter.') && left?.get('transmitter') !== 'there'
            const isAsBefore = (was?.get(field) ?? null) === (is?.get(field) ?? null)
            if (isAsBefore && !isGone) expect([field, left?.get(field) ?? null]).toEqual([field, value])
          }
        }
      }),
    )
  })

  it('stands as it is where nothing has changed', () => {
    fc.assert(
      fc.property(readings, readings, (first, read) => {
        const known = mergeChannels(none, first)
        expect(withoutSuperseded(read, known, known)).toBe(read)
      }),
    )
  })

  it('does not bring back a transmitter that was switched off, nor take one away that was switched on', () => {
    const [off] = none
    if (off === undefined) throw new Error('there is none')
    const on = mergeChannels([off], [{ channel: 1, transmitter: { battery: 80 } }])
    const readOn = { channel: 1, rf_level: -60, transmitter: { battery: 80, name: 'Host' } }
    expect(withoutSuperseded([readOn], on, [off])).toEqual([{ channel: 1, rf_level: -60 }])
    expect(withoutSuperseded([{ channel: 1, transmitter: null }], [off], on)).toEqual([{ channel: 1 }])
    // What came has only told its battery.
    const named = { channel: 1, transmitter: { battery: 81, name: 'Host' } }
    expect(withoutSuperseded([named], [off], on)).toEqual([{ channel: 1, transmitter: { name: 'Host' } }])
  })
})

describe('what a device says in sum', () => {
  const seen = { id: 'd', kind: 'receiver', battery: 30, rf_level: -80 } as const
  const channel = (reading: Omit<ChannelReading, 'channel'>, at = 1) =>
    mergeChannels([emptyChannel(at, at, at)], [{ channel: at, ...reading }])
  const sum = channel({ transmitter: { battery: 40, rf_level: null } })

  it('is what its channel has, where that is all there is', () => {
    const channels = [{ channel: 1, transmitter: { battery: 30, rf_level: -80 } }]
    expect(withSummaryAsChannel(seen, sum)).toEqual({ ...seen, channels })
    expect(withSummaryAsChannel({ id: 'd', kind: 'receiver', rf_level: -80 }, sum).channels).toEqual([
      { channel: 1, transmitter: { rf_level: -80 } },
    ])
  })

  it.each<[string, readonly Channel[]]>([
    ['no channel', []],
    ['two', [...sum, ...channel({}, 2)]],
    ['a channel without a transmitter', channel({})],
    ['a channel with a name', channel({ name: 'Host', transmitter: { battery: 40 } })],
    ['a transmitter with a frequency', channel({ transmitter: { battery: 40, frequency: '500.000' } })],
    ['a transmitter with details', channel({ transmitter: { battery: 40, details: { muted: true } } })],
  ])('says nothing of %s', (_, known) => {
    expect(withSummaryAsChannel(seen, known)).toBe(seen)
  })

  it('says nothing where channels are told, or nothing is', () => {
    const told = { ...seen, channels: [] }
    expect(withSummaryAsChannel(told, sum)).toBe(told)
    const silent = { id: 'd', kind: 'receiver' } as const
    expect(withSummaryAsChannel(silent, sum)).toBe(silent)
  })
})

it('two reports of one device are one: what the later one leaves out is as in the earlier one', () => {
  const earlier: DeviceReport = {
    id: 'd1',
    kind: 'receiver',
    name: 'Rack',
    model_name: 'ULXD4D',
    channels: [
      { channel: 1, name: 'Host', transmitter: { battery: 80, name: 'Pack' } },
      { channel: 2, transmitter: { battery: 70 } },
    ],
  }
  const later: DeviceReport = {
    id: 'd1',
    kind: 'receiver',
    name: 'Rack 2',
    model_name: null,
    channels: [
      { channel: 1, transmitter: { battery: 79 } },
      { channel: 2, transmitter: null },
      { channel: 3, rf_level: -90 },
    ],
  }
  expect(mergeReports(earlier, later)).toEqual({
    ...earlier,
    name: 'Rack 2',
    channels: [
      { channel: 1, name: 'Host', transmitter: { battery: 79, name: 'Pack' } },
      { channel: 2, transmitter: null },
      { channel: 3, rf_level: -90 },
    ],
  })
  expect(mergeReports(earlier, { id: 'd1', kind: 'receiver', channels: undefined })).toEqual(earlier)
})
