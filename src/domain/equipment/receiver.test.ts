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
const emptyChannels = [emptyChannel(1, 1, 1), emptyChannel(2, 2, 2)]

function valuesOf(channel: Channel | ChannelReading | undefined): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [field, value] of Object.entries(channel ?? {})) {
    if (value === undefined || ['id', 'slot', 'channel'].includes(field)) continue
    const isPlain = typeof value !== 'object' || value === null
    if (isPlain || field === 'transmitter') values.set(field, isPlain ? value : 'present')
    for (const [name, inner] of Object.entries(value ?? {})) {
      if (inner !== undefined) values.set(`${field}.${name}`, inner)
    }
  }
  return values
}

describe('withoutSuperseded', () => {
  it('drops the fields that changed meanwhile and keeps all others', () => {
    fc.assert(
      fc.property(readings, readings, readings, (first, read, reported) => {
        const before = mergeChannels(emptyChannels, first)
        const now = mergeChannels(before, reported)
        const after = mergeChannels(now, withoutSuperseded(read, before, now))
        for (const index of [0, 1]) {
          const [oldValues, newValues, readValues, result] = [before, now, read, after].map((list) =>
            valuesOf(list[index]),
          )
          for (const [field, value] of newValues ?? []) {
            const hasChanged = (oldValues?.get(field) ?? null) !== value
            if (hasChanged) expect([field, result?.get(field)]).toEqual([field, value])
          }
          // An absent transmitter is applied only if no report changed the transmitter in the meantime.
          const isTransmitterUnchanged = before[index]?.transmitter === now[index]?.transmitter
          for (const [field, value] of readValues ?? []) {
            if (field === 'transmitter' && !isTransmitterUnchanged) continue
            const isRemoved = field.startsWith('transmitter.') && result?.get('transmitter') !== 'present'
            const isUnchanged = (oldValues?.get(field) ?? null) === (newValues?.get(field) ?? null)
            if (isUnchanged && !isRemoved) expect([field, result?.get(field) ?? null]).toEqual([field, value])
          }
        }
      }),
    )
  })

  it('returns the same readings if nothing changed', () => {
    fc.assert(
      fc.property(readings, readings, (first, read) => {
        const known = mergeChannels(emptyChannels, first)
        expect(withoutSuperseded(read, known, known)).toBe(read)
      }),
    )
  })

  it('does not restore a transmitter that was switched off, or remove one that was switched on', () => {
    const [off] = emptyChannels
    if (off === undefined) throw new Error('no channel')
    const on = mergeChannels([off], [{ channel: 1, transmitter: { battery: 80 } }])
    const readOn = { channel: 1, rf_level: -60, transmitter: { battery: 80, name: 'Host' } }
    expect(withoutSuperseded([readOn], on, [off])).toEqual([{ channel: 1, rf_level: -60 }])
    expect(withoutSuperseded([{ channel: 1, transmitter: null }], [off], on)).toEqual([{ channel: 1 }])
    // Only the battery of the new transmitter was reported.
    const named = { channel: 1, transmitter: { battery: 81, name: 'Host' } }
    expect(withoutSuperseded([named], [off], on)).toEqual([{ channel: 1, transmitter: { name: 'Host' } }])
  })
})

describe('withSummaryAsChannel', () => {
  const report = { id: 'd', kind: 'receiver', battery: 30, rf_level: -80 } as const
  const channel = (reading: Omit<ChannelReading, 'channel'>, number = 1) =>
    mergeChannels([emptyChannel(number, number, number)], [{ channel: number, ...reading }])
  const summary = channel({ transmitter: { battery: 40, rf_level: null } })

  it('converts the summary into a reading of the only channel', () => {
    const channels = [{ channel: 1, transmitter: { battery: 30, rf_level: -80 } }]
    expect(withSummaryAsChannel(report, summary)).toEqual({ ...report, channels })
    expect(withSummaryAsChannel({ id: 'd', kind: 'receiver', rf_level: -80 }, summary).channels).toEqual([
      { channel: 1, transmitter: { rf_level: -80 } },
    ])
  })

  it.each<[string, readonly Channel[]]>([
    ['no channel', []],
    ['two channels', [...summary, ...channel({}, 2)]],
    ['a channel without a transmitter', channel({})],
    ['a channel with a name', channel({ name: 'Host', transmitter: { battery: 40 } })],
    ['a transmitter with a frequency', channel({ transmitter: { battery: 40, frequency: '500.000' } })],
    ['a transmitter with details', channel({ transmitter: { battery: 40, details: { muted: true } } })],
  ])('returns the report unchanged for a receiver with %s', (_, known) => {
    expect(withSummaryAsChannel(report, known)).toBe(report)
  })

  it('returns the report unchanged if it has channels, or no summary', () => {
    const withChannels = { ...report, channels: [] }
    expect(withSummaryAsChannel(withChannels, summary)).toBe(withChannels)
    const empty = { id: 'd', kind: 'receiver' } as const
    expect(withSummaryAsChannel(empty, summary)).toBe(empty)
  })
})

it('mergeReports keeps the earlier value of fields that the later report leaves out', () => {
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
