import { describe, expect, it } from 'vitest'
import type { Group } from '../src/model/api.ts'
import type { ChannelFacts } from './channel-state.ts'
import { decodePlaces, encodePlaces, isSpacer, nextSpacer, type PlaceOptions, placesOf } from './places.ts'
import { defaultView, type View } from './view.ts'

function card(slot: number, over: Partial<ChannelFacts> = {}): ChannelFacts {
  return {
    ...{ receiverId: 1, channelId: slot + 100, slot, token: null, name: `Singer ${slot}`, picture: null },
    ...{ state: 'good', marks: [], needsHand: false, urgency: 9, battery: 80, isBatteryOld: false, isLive: true },
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

function slots(view: Partial<View>, over: Partial<PlaceOptions> = {}): string[] {
  const cards = [card(1), card(2, { name: 'anna' }), card(3, { battery: 9, needsHand: true, urgency: 0 })]
  const all = { cards, groups: [group([3, 65_001, 7, 1])], rfOf: () => null, ...over }
  return placesOf({ ...all, view: { ...defaultView, ...view } }).map(({ kind, slot }) => `${kind} ${slot}`)
}

describe('places', () => {
  it('are all channels by slot', () => {
    expect(slots({})).toEqual(['channel 1', 'channel 2', 'channel 3'])
  })

  it('of a group stand in its order, with what is planned and what is blank', () => {
    expect(slots({ group: 2 })).toEqual(['channel 3', 'spacer 65001', 'planned 7', 'channel 1'])
  })

  it('of a group that is not there are all', () => {
    expect(slots({ group: 9 })).toHaveLength(3)
  })

  it('that may be filled by another manufacturer are not called planned', () => {
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

  it('put the weakest RF first, the unknown last', () => {
    const rfOf = ({ slot }: ChannelFacts) => (slot === 1 ? null : -50 - slot)
    expect(slots({ sort: 'rf' }, { rfOf })).toEqual(['channel 3', 'channel 2', 'channel 1'])
  })

  it('survive being text', () => {
    const places = placesOf({
      cards: [card(3)],
      groups: [group([3, 65_001, 7])],
      view: { ...defaultView, group: 2 },
      rfOf: () => null,
    })
    expect(decodePlaces(encodePlaces(places))).toEqual(places)
    expect(decodePlaces('')).toEqual([])
  })

  it('have room for many blanks', () => {
    expect(nextSpacer([65_001, 4, 65_003])).toBe(65_002)
    expect(isSpacer(65_000)).toBe(false)
  })
})
