import { describe, expect, it } from 'vitest'
import type { Group } from '../../../src/contract/groups.ts'
import type { PlaceholderInData } from '../../../src/contract/placeholders.ts'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { defaultView, type View } from '../../app/view.ts'
import type { Levels } from '../../app/watch.ts'
import { decodeSlots, encodeSlots, type VisibleSlotOptions, visibleSlots } from './visible-slots.ts'

const ok = {
  state: 'ok',
  severity: 'ok',
  attention: false,
  since: '2026-11-20T19:00:00.000Z',
  since_known: true,
  flags: [],
} as const
const critical = { ...ok, state: 'battery_critical', severity: 'critical', attention: true } as const

function card(slot: number, over: Partial<ChannelFacts> = {}): ChannelFacts {
  const name = `Singer ${slot}`
  return {
    ...{ receiverId: 1, channelId: slot + 100, slot, token: null, name, title: over.name ?? name, picture: null },
    ...{
      condition: ok,
      state: 'ok',
      flags: [],
      needsAttention: false,
      isHandled: false,
      battery: 80,
      isBatteryOld: false,
      isLive: true,
    },
    ...{ since: null, frequency: '540.000', channel: 1, receiverName: 'Rack', receiverModel: 'AD4Q' },
    ...{ receiverIp: '10.0.0.5', manufacturer: 'shure', ownName: null, performer: null, label: null, role: null },
    ...over,
  } as ChannelFacts
}

const noLevels: Levels = {
  ...{ rf: null, rfPercent: null, rfA: null, rfB: null, antennas: null, quality: null },
  ...{ audio: null, audioPeak: null, rfTone: 'good', isLive: true },
}

function placeholder(slot: number, over: Partial<PlaceholderInData> = {}): PlaceholderInData {
  const condition = { ...ok, state: 'unmonitored' } as const
  return { id: slot, slot, name: 'Lectern', kind: 'wired', frequency: null, note: '', version: 1, condition, ...over }
}

const group = (slots: number[], manufacturer: string | null = null): Group => ({
  ...{ id: 2, title: 'Band', hide_charts: false, zone: null },
  slots,
  manufacturer,
  version: 1,
})

function slots(view: Partial<View>, over: Partial<VisibleSlotOptions> = {}): string[] {
  const cards = [card(1), card(2, { name: 'anna' }), card(3, { battery: 9, needsAttention: true, condition: critical })]
  const all = {
    cards,
    placeholders: [],
    slotRecords: new Map(),
    groups: [group([3, 65_001, 7, 1])],
    levelsOf: () => noLevels,
    ...over,
  }
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
    [{ sort: '-battery' }, ['channel 1', 'channel 2', 'channel 3']],
    [{ sort: '-slot' }, ['channel 3', 'channel 2', 'channel 1']],
    [{ sort: '-problems' }, ['channel 2', 'channel 1', 'channel 3']],
    [{ state: 'problems' }, ['channel 3']],
    [{ state: 'off' }, []],
    [{ q: 'ANNA rack' }, ['channel 2']],
    [{ q: 'nobody' }, []],
    [{ q: 'singer', group: 2 }, ['channel 1', 'channel 3']],
  ])('%j', (view, expected) => {
    expect(slots(view)).toEqual(expected)
  })

  it('sorts by weakest RF, unknown last', () => {
    const levelsOf = ({ slot }: ChannelFacts) => ({ ...noLevels, rf: slot === 1 ? null : -50 - slot })
    expect(slots({ sort: 'rf' }, { levelsOf })).toEqual(['channel 3', 'channel 2', 'channel 1'])
    expect(slots({ sort: '-rf' }, { levelsOf })).toEqual(['channel 2', 'channel 3', 'channel 1'])
  })

  it('shows placeholders in their slots, and blank ones as blank slots of their groups', () => {
    const placeholders = [placeholder(7), placeholder(9, { kind: 'blank', name: '' })]
    expect(slots({}, { placeholders })).toEqual(['channel 1', 'channel 2', 'channel 3', 'placeholder 7'])
    const groups = [group([9, 7, 1, 8])]
    const inGroup = ['spacer 9', 'placeholder 7', 'channel 1', 'planned 8']
    expect(slots({ group: 2 }, { placeholders, groups })).toEqual(inGroup)
    expect(slots({ q: 'lectern' }, { placeholders })).toEqual(['placeholder 7'])
    expect(slots({ state: 'problems' }, { placeholders })).toEqual(['channel 3'])
  })

  it('keeps the space of blank placeholders between other slots, in the order of the slots', () => {
    const cards = [card(1), card(4), card(9)]
    const placeholders = [
      placeholder(65_001, { kind: 'blank', name: '' }),
      placeholder(7),
      placeholder(3, { kind: 'blank', name: '' }),
    ]
    const shown = (view: Partial<View>) => slots(view, { cards, placeholders })
    expect(shown({})).toEqual(['channel 1', 'spacer 3', 'channel 4', 'placeholder 7', 'channel 9'])
    const withoutBlanks = ['channel 1', 'channel 4', 'channel 9', 'placeholder 7']
    expect(shown({ sort: 'name' })).toEqual(withoutBlanks)
    expect(shown({ q: '3' })).toEqual([])
    expect(shown({ state: 'on' })).toEqual(['channel 1', 'channel 4', 'channel 9'])
    expect(shown({ manufacturer: 'shure' })).toEqual(['channel 1', 'channel 4', 'channel 9'])
    expect(slots({}, { cards: [], placeholders: [placeholder(2, { kind: 'blank', name: '' })] })).toEqual([])
  })

  it('finds the pack of a number, and not parts of longer numbers', () => {
    const cards = [
      card(4, { title: 'H12 Maria', ownName: 'Body 1', role: 'Tosca' }),
      card(12),
      card(112, { frequency: '512.000', receiverIp: '10.0.0.12' }),
    ]
    const found = (q: string) => slots({ q }, { cards })
    expect(found('12')).toEqual(['channel 4', 'channel 12'])
    expect(found('512')).toEqual(['channel 112'])
    expect(found('body maria tosca')).toEqual(['channel 4'])
    expect(found('10.0.0.1')).toEqual(['channel 112'])
  })

  it('decodes what it encodes', () => {
    const entries = visibleSlots({
      cards: [card(3)],
      placeholders: [placeholder(5)],
      slotRecords: new Map(),
      groups: [group([3, 65_001, 7, 5])],
      view: { ...defaultView, group: 2 },
      levelsOf: () => noLevels,
    })
    expect(entries.map(({ kind }) => kind)).toEqual(['channel', 'spacer', 'planned', 'placeholder'])
    expect(decodeSlots(encodeSlots(entries))).toEqual(entries)
    expect(decodeSlots('')).toEqual([])
  })
})
