import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { emptyChannel } from '../equipment/receiver.ts'
import { type Arranged, captureArrangement } from './arrangement.ts'
import { listChanges, planRecall } from './plan-recall.ts'

const time = { started_at: 0, ended_at: null, is_active: true }

/** Three channels with their packs, a placeholder, a group of the first two slots, and two performers. */
const stored: Arranged = {
  receivers: [
    buildReceiver(1, {
      name: 'Rack',
      channels: [
        { ...emptyChannel(11, 1, 1), name: 'Vox', frequency: '470.125' },
        emptyChannel(12, 2, 2),
        { ...emptyChannel(13, 3, 3), frequency: '471.000' },
      ],
    }),
  ],
  placeholders: [{ id: 21, slot: 9, name: 'Piano', kind: 'wired', frequency: null, note: 'DI', created_at: 0 }],
  groups: [{ id: 31, title: 'Act 1', slots: [1, 2], hide_charts: false, zone: null, manufacturer: null }],
  performers: [
    { id: 41, name: 'Ada', notes: '', picture: null },
    { id: 42, name: 'Bo', notes: '', picture: null },
  ],
  units: [11, 12, 13].map((channel_id) => ({ id: channel_id + 40, name: `Pack ${channel_id}`, channel_id })),
  assignments: [{ id: 61, performer: 41, wireless_unit: 51, role: 'Glinda', ...time }],
}
const everything = captureArrangement({ group_ids: [] }, stored)

/** Returns the changes and the skipped entries of a full recall. */
function recall(now: Partial<Arranged>, arrangement = everything, planned = new Map<number, string>()) {
  const arranged = { ...stored, ...now }
  const plan = planRecall(arrangement, arranged, planned)
  return { changes: listChanges(plan, arranged), skipped: plan.skipped }
}

function withChannels(
  change: (channels: Arranged['receivers'][number]['channels']) => Arranged['receivers'][number]['channels'],
) {
  return { receivers: stored.receivers.map((receiver) => ({ ...receiver, channels: change(receiver.channels) })) }
}

// Conformance: C-13.14.
describe('captureArrangement', () => {
  it('contains everything for a show without groups', () => {
    expect(everything).toEqual({
      channels: [
        { id: 11, name: 'Vox', slot: 1, frequency: '470.125' },
        { id: 12, name: 'Rack', slot: 2, frequency: null },
        { id: 13, name: 'Rack', slot: 3, frequency: '471.000' },
      ],
      placeholders: [{ id: 21, slot: 9, name: 'Piano', kind: 'wired', frequency: null }],
      groups: [{ id: 31, title: 'Act 1', slots: [1, 2] }],
      performers: [
        { id: 41, name: 'Ada' },
        { id: 42, name: 'Bo' },
      ],
      units: [
        { id: 51, name: 'Pack 11', performer: 41, role: 'Glinda' },
        { id: 52, name: 'Pack 12', performer: null, role: null },
        { id: 53, name: 'Pack 13', performer: null, role: null },
      ],
    })
  })

  it('contains only what is in the groups of a show that has groups', () => {
    const { channels, placeholders, groups, performers, units } = captureArrangement({ group_ids: [31] }, stored)
    expect([channels, placeholders, groups, performers, units].map((list) => list.map(({ id }) => id))).toEqual([
      [11, 12],
      [],
      [31],
      [41],
      [51, 52],
    ])
  })
})

// Conformance: C-13.15.
describe('planRecall', () => {
  it('changes nothing if nothing has changed', () => {
    expect(recall({})).toEqual({ changes: [], skipped: [] })
  })

  it('swaps slots, and moves what has come into a slot since', () => {
    const swapped = withChannels(
      ([first, second, third]) =>
        [...[{ ...first, slot: 9 }, { ...second, slot: 1 }, third, emptyChannel(14, 4, 2)]] as never,
    )
    const { changes } = recall({ ...swapped, placeholders: stored.placeholders.map((item) => ({ ...item, slot: 5 })) })
    expect(changes.map(({ what, id, from, to }) => [what, id, slotOf(from), slotOf(to)])).toEqual([
      ['channel', 11, 9, 1],
      ['channel', 12, 1, 2],
      ['channel', 14, 2, 4],
      ['placeholder', 21, 5, 9],
    ])
  })

  it('restores the names of placeholders and performers, and groups', () => {
    const placeholders = stored.placeholders.map((item) => ({ ...item, name: 'Organ', note: 'Stays' }))
    const performers = stored.performers.map((item) => (item.id === 41 ? { ...item, name: 'Ada B.' } : item))
    const groups = stored.groups.map((group) => ({ ...group, title: 'Act I', slots: [3], hide_charts: true }))
    expect(recall({ placeholders, performers, groups }).changes).toEqual([
      { what: 'group', id: 31, from: { title: 'Act I', slots: [3] }, to: { title: 'Act 1', slots: [1, 2] } },
      {
        what: 'placeholder',
        id: 21,
        from: { slot: 9, name: 'Organ', kind: 'wired', frequency: null },
        to: { slot: 9, name: 'Piano', kind: 'wired', frequency: null },
      },
      { what: 'performer', id: 41, from: { name: 'Ada B.' }, to: { name: 'Ada' } },
    ])
  })

  it('ends and begins assignments, and restores roles', () => {
    const assigned = (unit: number, performer: number, role: string | null) => ({
      ...{ id: unit + 10, performer, wireless_unit: unit, role, ...time },
    })
    const label = (unit: number, id: number, name: string, role: string | null) => ({
      ...{ slot: unit - 50, wireless_unit: unit, performer: { id, name }, role },
    })
    expect(recall({ assignments: [assigned(51, 42, null), assigned(52, 41, 'Glinda')] }).changes).toEqual([
      { what: 'assignment', id: 61, from: label(51, 42, 'Bo', null), to: null },
      { what: 'assignment', id: 62, from: label(52, 41, 'Ada', 'Glinda'), to: null },
      { what: 'assignment', id: null, from: null, to: label(51, 41, 'Ada', 'Glinda') },
    ])
    expect(recall({ assignments: [assigned(51, 41, null)] }).changes).toEqual([
      { what: 'assignment', id: 61, from: label(51, 41, 'Ada', null), to: label(51, 41, 'Ada', 'Glinda') },
    ])
  })

  it('leaves what it does not contain as it is', () => {
    const arrangement = captureArrangement({ group_ids: [31] }, stored)
    const assignments = [...stored.assignments, { id: 63, performer: 42, wireless_unit: 53, role: null, ...time }]
    const performers = stored.performers.map((item) => (item.id === 42 ? { ...item, name: 'Bob' } : item))
    expect(recall({ assignments, performers }, arrangement).changes).toEqual([])
  })

  it('changes the plan where a frequency differs from the last plan, else from the present one', () => {
    const retuned = withChannels((channels) => channels.map((channel) => ({ ...channel, frequency: '472.000' })))
    const change = (id: number, name: string, slot: number, from: string, to: string) => ({
      ...{ what: 'planned_frequency', id, from: { name, slot, frequency: from }, to: { name, slot, frequency: to } },
    })
    expect(recall(retuned).changes).toEqual([
      change(11, 'Vox', 1, '472.000', '470.125'),
      change(13, 'Rack', 3, '472.000', '471.000'),
    ])
    const planned = new Map([
      [11, '470.125'],
      [13, '480.000'],
    ])
    expect(recall(retuned, everything, planned).changes).toEqual([change(13, 'Rack', 3, '480.000', '471.000')])
  })

  it('skips what no longer exists', () => {
    const now = {
      ...withChannels((channels) => channels.slice(1)),
      ...{ placeholders: [], groups: [], units: stored.units.slice(1, 2), performers: [], assignments: [] },
    }
    const reason = (what: string) => `The ${what} no longer exists.`
    expect(recall(now)).toEqual({
      changes: [],
      skipped: [
        { what: 'group', id: 31, name: 'Act 1', reason: reason('group') },
        { what: 'channel', id: 11, name: 'Vox', reason: reason('channel') },
        { what: 'placeholder', id: 21, name: 'Piano', reason: reason('placeholder') },
        { what: 'performer', id: 41, name: 'Ada', reason: reason('performer') },
        { what: 'performer', id: 42, name: 'Bo', reason: reason('performer') },
        { what: 'unit', id: 51, name: 'Pack 11', reason: reason('pack') },
      ],
    })
  })
})

function slotOf(value: unknown): number {
  return (value as { readonly slot: number }).slot
}
