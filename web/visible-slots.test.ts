import { describe, expect, it } from 'vitest'
import type { Group } from '../src/contract/resources/groups.ts'
import type { ChannelFacts } from './channel-state.ts'
import { defaultView, type View } from './view.ts'
import {
  decodeSlots,
  encodeSlots,
  isSpacer,
  nextSpacer,
  type VisibleSlotOptions,
  visibleSlots,
} from './visible-slots.ts'

function card(slot: number, over: Partial<ChannelFacts> = {}): ChannelFacts {
  return {
    ...{ receiverId: 1, channelId: slot + 100, slot, token: null, name: `Singer ${slot}`, picture: null },
    ...{ state: 'good', flags: [], needsAttention: false, urgency: 9, battery: 80, isBatteryOld: false, isLive: true },
    ...{ since: null, overloadAt: null, frequency: '540.000', channel: 1, receiverName: 'Rack', receiverModel: 'AD4Q' },
    ...{ receiverIp: '10.0.0.5', manufacturer: 'shure' },
    ...over,
  } as ChannelFacts
}

const group = (slots: number[], manufacturer: string | null = null): Group => ({
  ...{ id: 2, title: 'Band', hide_charts: false },
  slots,
  manufacturer,
})

function slots(view: Partial<View>, over: Partial<VisibleSlotOptions> = {}): string[] {
  const cards = [card(1), card(2, { name: 'anna' }), card(3, { battery: 9, needsAttention: true, urgency: 0 })]
  const all = { cards, groups: [group([3, 65_001, 7, 1])], rfOf: () => null, ...over }
  return visibleSlots({ ...all, view: { ...defaultView, ...view } }).map(({ kind, slot }) => `${kind} ${slot}`)
}

describe('visibleSlots', () => {
  it('lists all channels by slot', () => {
    expect(slots({})).toEqual(['channel 1', 'channel 2', 'channel 3'])
  })

  it('lists a group in its order with planned and blank slots', () => {
    expect(slots({ group: 2 })).toEqual(['channel 3', 'spacer 65001', 'planned 7', 'channel 1'])
  })

  it('lists all channels for an unknown group', () => {
    expect(slots({ group: 9 })).toHaveLength(3)
  })

  it('leaves out empty slots that may belong to another manufacturer', () => {
    expect(slots({ group: 2, manufacturer: 'shure' })).toEqual(['channel 3', 'spacer 65001', 'channel 1'])
    const ours = { groups: [group([3, 7], 'shure')] }
    expect(slots({ group: 2, manufacturer: 'shure' }, ours)).toEqual(['channel 3', 'planned 7'])
  })

  it.each<[Partial<View>, string[]]>([
    [{ sort: 'problems' }, ['channel 3', 'channel 1', 'channel 2']],
    [{ sort: 'name' }, ['channel 2', 'channel 1', 'channel 3']],
    [{ sort: 'battery' }, ['channel 3', 'channel 1', 'channel 2']],
    [{ state: 'problems' }, ['channel 3']],
    [{ state: 'off' }, []],
    [{ q: 'ANNA rack' }, ['channel 2']],
    [{ q: 'nobody' }, []],
    [{ q: 'singer', group: 2 }, ['channel 1', 'channel 3']],
  ])('%j', (view, expected) => {
    expect(slots(view)).toEqual(expected)
  })

  it('sorts by weakest RF, unknown last', () => {
    const rfOf = ({ slot }: ChannelFacts) => (slot === 1 ? null : -50 - slot)
    expect(slots({ sort: 'rf' }, { rfOf })).toEqual(['channel 3', 'channel 2', 'channel 1'])
  })

  it('decodes what it encodes', () => {
    const entries = visibleSlots({
      cards: [card(3)],
      groups: [group([3, 65_001, 7])],
      view: { ...defaultView, group: 2 },
      rfOf: () => null,
    })
    expect(decodeSlots(encodeSlots(entries))).toEqual(entries)
    expect(decodeSlots('')).toEqual([])
  })

  it('allows many blank slots', () => {
    expect(nextSpacer([65_001, 4, 65_003])).toBe(65_002)
    expect(isSpacer(65_000)).toBe(false)
  })
})
