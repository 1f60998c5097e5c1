import { describe, expect, it } from 'vitest'
import { buildGroup, buildReceiver } from '../../../test/support/builders.ts'
import type { SlotRecord } from '../../contract/slots.ts'
import { type Channel, emptyChannel } from '../equipment/receiver.ts'
import { emptyFields } from '../equipment/slot-entry.ts'
import { type Arranged, captureArrangement, toArrangement } from './arrangement.ts'
import { listChanges, planRecall } from './plan-recall.ts'

const time = { started_at: 0, ended_at: null, is_active: true }
const ada = { id: 41, name: 'Ada', picture: null }
const bo = { id: 42, name: 'Bo', picture: null }

type Entered = Partial<Pick<SlotRecord, 'title' | 'performer' | 'role' | 'label' | 'color'>>

interface Stage extends Omit<Arranged, 'receivers' | 'records'> {
  readonly channels: readonly Channel[]
  /** By the id of the channel or placeholder. */
  readonly entered: Readonly<Record<number, Entered>>
}

/** Three channels with their packs, a placeholder, a group of the first two slots, and two performers. */
const stage: Stage = {
  channels: [
    { ...emptyChannel(11, 1, 1), frequency: '470.125' },
    emptyChannel(12, 2, 2),
    { ...emptyChannel(13, 3, 3), frequency: '471.000' },
  ],
  placeholders: [
    { id: 21, slot: 9, name: 'Piano', kind: 'wired', frequency: null, note: '', created_at: 0, version: 1 },
  ],
  entered: {
    11: { title: 'Ada', performer: ada, role: 'Glinda', color: 'red' },
    13: { title: 'Rack' },
    21: { title: 'Piano', label: 'Piano' },
  },
  groups: [buildGroup(31, { title: 'Act 1', slots: [1, 2] })],
  performers: [ada, bo].map((performer) => ({ ...performer, notes: '', version: 1 })),
  units: [11, 12, 13].map((channel_id) => ({ id: channel_id + 40, name: `Pack ${channel_id}`, channel_id })),
  assignments: [{ id: 61, performer: 41, wireless_unit: 51, role: 'Glinda', ...time }],
}

function arrange({ channels, entered, ...stage }: Stage): Arranged {
  const record = (slot: number, holder: Partial<SlotRecord>, id: number): SlotRecord => ({
    ...{ ...emptyFields, spares: [], performer: null, title: null, title_from: null, kind: 'wireless' },
    ...{ unit_id: null, version: 0, slot, channel_id: null, placeholder_id: null, ...holder, ...entered[id] },
  })
  const records = [
    ...channels.map(({ id, slot }) => record(slot, { channel_id: id }, id)),
    ...stage.placeholders.map(({ id, slot, kind }) => record(slot, { placeholder_id: id, kind }, id)),
  ]
  return { ...stage, receivers: [buildReceiver(1, { name: 'Rack', channels: [...channels] })], records }
}

const everything = captureArrangement({ group_ids: [] }, arrange(stage))

/** Returns the changes and the skipped entries of a full recall. */
function recall(now: Partial<Stage>, arrangement = everything, planned = new Map<number, string>()) {
  const arranged = arrange({ ...stage, ...now })
  const plan = planRecall(arrangement, arranged, planned)
  return { changes: listChanges(plan, arranged), skipped: plan.skipped }
}

// Conformance: C-13.14.
describe('captureArrangement', () => {
  it('contains everything for a show without groups', () => {
    expect(everything).toMatchObject({
      slots: [
        {
          ...{ slot: 1, channel_id: 11, placeholder_id: null, kind: 'wireless', name: 'Ada', frequency: '470.125' },
          entered: { ...emptyFields, performer: 41, role: 'Glinda', color: 'red' },
        },
        { slot: 2, channel_id: 12, frequency: null, entered: emptyFields },
        { slot: 3, channel_id: 13, frequency: '471.000' },
        { slot: 9, channel_id: null, placeholder_id: 21, kind: 'wired', frequency: null, entered: { label: 'Piano' } },
      ],
      groups: [{ id: 31, title: 'Act 1', slots: [1, 2] }],
      performers: [
        { id: 41, name: 'Ada' },
        { id: 42, name: 'Bo' },
      ],
      units: [],
    })
  })

  it('contains only what is in the groups of a show that has groups', () => {
    const { slots, groups, performers } = captureArrangement({ group_ids: [31] }, arrange(stage))
    const ids = [groups, performers].map((list) => list.map(({ id }) => id))
    expect([slots.map(({ slot }) => slot), ...ids]).toEqual([[1, 2], [31], [41]])
  })
})

// Conformance: C-13.15.
describe('planRecall', () => {
  it('changes nothing if nothing has changed', () => {
    expect(recall({})).toEqual({ changes: [], skipped: [] })
  })

  it('swaps slots, and moves what has come into a slot since', () => {
    const [first, second, third] = stage.channels as [Channel, Channel, Channel]
    const { changes } = recall({
      channels: [{ ...first, slot: 9 }, { ...second, slot: 1 }, third, emptyChannel(14, 4, 2)],
      placeholders: stage.placeholders.map((item) => ({ ...item, slot: 5 })),
    })
    expect(changes.map(({ what, id, from, to }) => [what, id, slotOf(from), slotOf(to)])).toEqual([
      ['channel', 11, 9, 1],
      ['channel', 12, 1, 2],
      ['channel', 14, 2, 4],
      ['placeholder', 21, 5, 9],
    ])
  })

  // Conformance: C-21.64.
  it('restores what was entered about slots, the names of performers, kinds and groups', () => {
    const placeholders = stage.placeholders.map((item) => ({ ...item, kind: 'blank' as const }))
    const performers = stage.performers.map((item) => (item.id === 41 ? { ...item, name: 'Ada B.' } : item))
    const groups = stage.groups.map((group) => ({ ...group, title: 'Act I', slots: [3], hide_charts: true }))
    const entered = {
      11: { performer: bo, role: 'Glinda', color: 'red' },
      12: { performer: ada },
      21: { label: 'Organ' },
    }
    expect(recall({ placeholders, performers, groups, entered: entered as Stage['entered'] }).changes).toEqual([
      { what: 'group', id: 31, from: { title: 'Act I', slots: [3] }, to: { title: 'Act 1', slots: [1, 2] } },
      {
        what: 'placeholder',
        id: 21,
        from: { slot: 9, name: 'Piano', kind: 'blank' },
        to: { slot: 9, name: 'Piano', kind: 'wired' },
      },
      { what: 'performer', id: 41, from: { name: 'Ada B.' }, to: { name: 'Ada' } },
      {
        what: 'slot',
        id: 1,
        from: { slot: 1, performer: { id: 42, name: 'Bo' } },
        to: { slot: 1, performer: { id: 41, name: 'Ada' } },
      },
      {
        what: 'slot',
        id: 2,
        from: { slot: 2, performer: { id: 41, name: 'Ada B.' } },
        to: { slot: 2, performer: null },
      },
      { what: 'slot', id: 9, from: { slot: 9, label: 'Organ' }, to: { slot: 9, label: 'Piano' } },
    ])
  })

  it('leaves what it does not contain as it is', () => {
    const arrangement = captureArrangement({ group_ids: [31] }, arrange(stage))
    const entered = { ...stage.entered, 13: { title: 'Bo', performer: bo } }
    const performers = stage.performers.map((item) => (item.id === 42 ? { ...item, name: 'Bob' } : item))
    expect(recall({ entered, performers }, arrangement).changes).toEqual([])
  })

  // Conformance: C-21.64.
  it('restores what was entered about a merged placeholder for the channel in its slot', () => {
    const channels = [...stage.channels, emptyChannel(14, 4, 9)]
    expect(recall({ channels, placeholders: [] })).toEqual({
      changes: [{ what: 'slot', id: 9, from: { slot: 9, label: null }, to: { slot: 9, label: 'Piano' } }],
      skipped: [],
    })
  })

  it('changes the plan where a frequency differs from the last plan, else from the present one', () => {
    const channels = stage.channels.map((channel) => ({ ...channel, frequency: '472.000' }))
    const change = (id: number, name: string, slot: number, from: string, to: string) => ({
      ...{ what: 'planned_frequency', id, from: { name, slot, frequency: from }, to: { name, slot, frequency: to } },
    })
    expect(recall({ channels }).changes).toEqual([
      change(11, 'Ada', 1, '472.000', '470.125'),
      change(13, 'Rack', 3, '472.000', '471.000'),
    ])
    const planned = new Map([
      [11, '470.125'],
      [13, '480.000'],
    ])
    expect(recall({ channels }, everything, planned).changes).toEqual([change(13, 'Rack', 3, '480.000', '471.000')])
  })

  it('skips what no longer exists', () => {
    const now = { channels: stage.channels.slice(1), placeholders: [], groups: [], performers: [], assignments: [] }
    const reason = (what: string) => `The ${what} no longer exists.`
    expect(recall(now)).toEqual({
      changes: [],
      skipped: [
        { what: 'group', id: 31, name: 'Act 1', reason: reason('group') },
        { what: 'channel', id: 11, name: 'Ada', reason: reason('channel') },
        { what: 'placeholder', id: 21, name: 'Piano', reason: reason('placeholder') },
        { what: 'performer', id: 41, name: 'Ada', reason: reason('performer') },
        { what: 'performer', id: 42, name: 'Bo', reason: reason('performer') },
      ],
    })
  })
})

// Conformance: C-21.64.
describe('a scene of version 1.0.0', () => {
  const unit = (id: number, performer: number | null, role: string | null) => ({ id, name: null, performer, role })
  const former = toArrangement({
    channels: [
      { id: 11, name: 'Vox', slot: 1, frequency: '470.125' },
      { id: 12, name: 'Rack', slot: 2, frequency: null },
    ],
    placeholders: [{ id: 21, slot: 9, name: 'Piano', kind: 'wired', frequency: null }],
    groups: [],
    performers: [{ id: 41, name: 'Ada' }],
    units: [unit(51, 41, 'Glinda'), unit(52, null, null)],
  })

  it('changes only what it contains', () => {
    expect(recall({}, former)).toEqual({ changes: [], skipped: [] })
    const entered = { 11: { title: 'Mic', label: 'Mic', color: 'blue' as const }, 21: { label: 'Organ' } }
    const [first] = stage.channels as [Channel]
    const channels = [{ ...first, slot: 4 }, ...stage.channels.slice(1)]
    expect(recall({ entered, channels }, former).changes).toEqual([
      { what: 'channel', id: 11, from: { name: 'Mic', slot: 4 }, to: { name: 'Mic', slot: 1 } },
      { what: 'slot', id: 9, from: { slot: 9, label: 'Organ' }, to: { slot: 9, label: 'Piano' } },
    ])
  })

  it('ends and begins assignments of its packs, and restores roles', () => {
    const assigned = (unit: number, performer: number, role: string | null) => ({
      ...{ id: unit + 10, performer, wireless_unit: unit, role, ...time },
    })
    const label = (unit: number, id: number, name: string, role: string | null) => ({
      ...{ slot: unit - 50, wireless_unit: unit, performer: { id, name }, role },
    })
    expect(recall({ assignments: [assigned(51, 42, null), assigned(52, 41, 'Glinda')] }, former).changes).toEqual([
      { what: 'assignment', id: 61, from: label(51, 42, 'Bo', null), to: null },
      { what: 'assignment', id: 62, from: label(52, 41, 'Ada', 'Glinda'), to: null },
      { what: 'assignment', id: null, from: null, to: label(51, 41, 'Ada', 'Glinda') },
    ])
    expect(recall({ assignments: [assigned(51, 41, null)] }, former).changes).toEqual([
      { what: 'assignment', id: 61, from: label(51, 41, 'Ada', null), to: label(51, 41, 'Ada', 'Glinda') },
    ])
  })
})

function slotOf(value: unknown): number {
  return (value as { readonly slot: number }).slot
}
