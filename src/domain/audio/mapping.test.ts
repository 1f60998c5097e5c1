import { describe, expect, it } from 'vitest'
import { emptyChannel, type Receiver, unknownHardware } from '../equipment/receiver.ts'
import { type AudioStream, idleStatus } from './audio-stream.ts'
import { findWithheldReason, proposeMappings, toChannelAudioBody } from './mapping.ts'

function stream(over: Partial<AudioStream>): AudioStream {
  return {
    ...{ id: 1, name: 'Stage : 1', source: 'sap', address: '239.69.1.1', port: 5004, interface: null },
    ...{ encoding: 'L24', sample_rate: 48_000, channels: 2, labels: [], enabled: true, announced: true },
    ...{ device: null, origin: null, version: 1, status: idleStatus },
    ...{ key: null, payload_type: null, legs: [], is_edited: false },
    ...over,
  }
}

function receiver(id: number, over: Partial<Receiver>, names: readonly (string | null)[]): Receiver {
  const channels = names.map((name, index) => ({ ...emptyChannel(id * 10 + index + 1, index + 1, index + 1), name }))
  return { ...unknownHardware, id, name: `Rack ${id}`, manufacturer: 'shure', ...over, channels } as Receiver
}

const propose = (receivers: readonly Receiver[], streams: readonly AudioStream[], mapped: readonly number[] = []) =>
  proposeMappings({
    receivers,
    streams,
    mappings: mapped.map((channel_id) => ({ channel_id, stream_id: 1, channel: 1, label: null })),
    titleOf: (_receiver, { name }) => name,
  })

describe('proposeMappings', () => {
  // Conformance: C-27.47.
  it('proposes by label, ignoring case and accents', () => {
    const streams = [stream({ labels: ['02', 'NÓRA'] })]
    expect(propose([receiver(1, {}, ['Nora', 'Max'])], streams)).toEqual([
      { channel_id: 11, stream_id: 1, channel: 2, by: 'label' },
    ])
  })

  it('ignores labels and names that are not unique', () => {
    const twice = [stream({ labels: ['Nora', 'Nora'] })]
    expect(propose([receiver(1, {}, ['Nora'])], twice)).toEqual([])
    expect(propose([receiver(1, {}, ['Nora']), receiver(2, {}, ['Nora'])], [stream({ labels: ['Nora'] })])).toEqual([])
  })

  it('proposes by the name of the device, then by its address, if it has one stream', () => {
    const rack = receiver(1, { ip: '10.0.0.5' }, ['a', 'b', 'c'])
    expect(propose([rack], [stream({ device: 'rack 1', origin: '10.0.0.5' })])).toEqual([
      { channel_id: 11, stream_id: 1, channel: 1, by: 'device' },
      { channel_id: 12, stream_id: 1, channel: 2, by: 'device' },
    ])
    expect(propose([rack], [stream({ origin: '10.0.0.5' })]).map(({ by }) => by)).toEqual(['address', 'address'])
    expect(propose([rack], [stream({ device: 'Rack 1' }), stream({ id: 2, device: 'Rack 1' })])).toEqual([])
  })

  it('proposes nothing for mapped channels, used stream channels and disabled streams', () => {
    const rack = receiver(1, {}, ['a', 'b'])
    expect(propose([rack], [stream({ device: 'Rack 1' })], [11])).toEqual([
      { channel_id: 12, stream_id: 1, channel: 2, by: 'device' },
    ])
    expect(propose([rack], [stream({ device: 'Rack 1', enabled: false })])).toEqual([])
  })
})

describe('toChannelAudioBody', () => {
  const mapping = { channel_id: 11, stream_id: 1, channel: 1, label: 'Nora' }
  it.each([
    [stream({ labels: ['Nora'] }), { label_now: 'Nora', label_changed: false }],
    [stream({ labels: ['Max'] }), { label_now: 'Max', label_changed: true }],
    [undefined, { label_now: null, label_changed: true }],
  ])('flags a changed label', (now, expected) =>
    expect(toChannelAudioBody(mapping, now)).toEqual({ stream_id: 1, channel: 1, label: 'Nora', ...expected }),
  )
})

describe('findWithheldReason', () => {
  const channel = emptyChannel(1, 1, 1)
  it.each([
    [channel, null],
    [{ ...channel, not_now: { by: 'Ana', since: 0, until: null } }, 'not_now'],
    [{ ...channel, details: { muted: true } }, 'muted'],
    [{ ...channel, details: { muted: false } }, null],
  ])('returns why sound is withheld', (given, expected) => expect(findWithheldReason(given)).toBe(expected))
})
