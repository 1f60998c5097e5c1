import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { type Channel, emptyChannel, type Transmitter } from '../equipment/receiver.ts'
import { toChannelBody } from '../equipment/receiver-body.ts'
import { compareReceivers, withChangedDetails } from './receiver-changes.ts'

const transmitter: Transmitter = {
  upstream_slot: null,
  name: 'Ana',
  battery: 80,
  audio_level: -20,
  rf_level: -60,
  frequency: '540.000',
}
const channel: Channel = { ...emptyChannel(11, 1, 5), name: 'A', transmitter, details: { quality: 90, muted: false } }
const receiver = buildReceiver(1, {
  name: 'Rack A',
  model: 'ULXD4Q',
  ip: '10.0.0.1',
  last_seen: 1,
  channels: [channel],
})

function changeOf(change: Partial<Channel>, before = channel) {
  const after = { ...receiver, channels: [{ ...before, ...change }] }
  return compareReceivers({ ...receiver, channels: [before] }, after, toChannelBody)
}

const ids = { type: 'channel', id: 11, receiver_id: 1 }
const body = toChannelBody(channel)
const cases: { title: string; change: Partial<Channel>; message: object | null; levels?: boolean }[] = [
  { title: 'a name', change: { name: 'B' }, message: { ...ids, name: 'B' } },
  {
    title: 'the battery: the whole transmitter',
    change: { transmitter: { ...transmitter, battery: 79 } },
    message: { ...ids, transmitter: { ...body.transmitter, battery: 79 } },
  },
  {
    title: 'the RF level of the transmitter',
    change: { transmitter: { ...transmitter, rf_level: -61 } },
    message: null,
    levels: true,
  },
  { title: 'the quality', change: { details: { quality: 89, muted: false } }, message: null, levels: true },
  {
    title: 'a detail that is no level: that detail',
    change: { details: { quality: 90, muted: true } },
    message: { ...ids, details: { muted: true } },
  },
  {
    title: 'a transmitter that goes: with the levels of the channel',
    change: { transmitter: null, rf_level: -100 },
    message: { ...ids, transmitter: null, rf_level: -100, audio_level: null },
    levels: true,
  },
]

describe('compareReceivers', () => {
  it.each(cases)('announces $title', ({ change, message, levels = false }) => {
    const result = changeOf(change)
    expect(result.changes).toEqual(message === null ? [] : [message])
    expect(result.levels).toEqual(levels ? [11] : [])
    expect(result.slots).toEqual([])
  })

  it('announces a new transmitter together with its levels', () => {
    const { changes } = changeOf({ transmitter }, { ...channel, transmitter: null })
    expect(changes).toEqual([{ ...ids, transmitter: body.transmitter }])
  })

  it('announces removed details as null', () => {
    const { details: _, ...bare } = channel
    const after = { ...receiver, channels: [bare] }
    expect(compareReceivers(receiver, after, toChannelBody).changes).toEqual([{ ...ids, details: null }])
  })

  it('announces a detail that is gone as null, and applies what it announces', () => {
    const change = { muted: null, band: 'G50' }
    expect(changeOf({ details: { quality: 90, band: 'G50' } }).changes).toEqual([{ ...ids, details: change }])
    expect(withChangedDetails<object>(channel.details, change)).toEqual({ quality: 90, band: 'G50' })
    expect(withChangedDetails<object>(channel.details, undefined)).toEqual(channel.details)
    expect(withChangedDetails<object>(channel.details, null)).toBeUndefined()
  })

  it('announces a slot as a pair, and the transmitter, which contains the slot', () => {
    const { changes, slots } = changeOf({ slot: 9 })
    expect(slots).toEqual([[11, 9]])
    expect(changes).toEqual([{ ...ids, transmitter: { ...body.transmitter, slot: 9 } }])
    expect(changeOf({ slot: 9 }, { ...channel, transmitter: null }).changes).toEqual([])
  })

  it('announces added and removed receivers and channels', () => {
    const added = compareReceivers(undefined, receiver, toChannelBody)
    expect(added.changes).toMatchObject([{ type: 'receiver_added', receiver: { id: 1, channels: [{ id: 11 }] } }])
    expect(added.changes[0]).not.toHaveProperty('receiver.last_seen')
    expect(compareReceivers(receiver, undefined, toChannelBody).changes).toEqual([{ type: 'receiver_removed', id: 1 }])
    const second = emptyChannel(12, 2, 6)
    const grown = { ...receiver, channels: [channel, second] }
    const { id: _, ...fields } = toChannelBody(second)
    expect(compareReceivers(receiver, grown, toChannelBody).changes).toEqual([
      { type: 'channel', id: 12, receiver_id: 1, ...fields },
    ])
    expect(compareReceivers(grown, receiver, toChannelBody).changes).toEqual([
      { type: 'channel_removed', id: 12, receiver_id: 1 },
    ])
  })

  it('announces changed fields of the receiver, and ignores last_seen', () => {
    const after = { ...receiver, is_active: false, last_seen: 2 }
    expect(compareReceivers(receiver, after, toChannelBody).changes).toEqual([
      { type: 'receiver', id: 1, is_active: false },
    ])
    expect(compareReceivers(receiver, { ...receiver, last_seen: 2 }, toChannelBody).changes).toEqual([])
  })
})
