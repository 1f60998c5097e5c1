import { describe, expect, it } from 'vitest'
import {
  findNextTime,
  isPlanningCenterToken,
  listPositions,
  mergeSlots,
  type PositionSlots,
  type ScheduledPerson,
  type ServicePlan,
  suggestSlots,
  toCast,
} from './planning-center.ts'

/** `position: name`, optionally with a team and services. */
function person(position: string, name: string, more: Partial<ScheduledPerson> = {}): ScheduledPerson {
  return { position, name, team: 'Band', times: [], photo: null, ...more }
}

const planOf = (...people: readonly ScheduledPerson[]): ServicePlan => ({
  service_type: { id: '1', name: 'Sunday' },
  id: '1',
  title: null,
  dates: '6 September 2026',
  times: [],
  people,
})

function castOf(plan: ServicePlan, slots: PositionSlots, time: string | null = null) {
  const { rows, skipped } = toCast(listPositions(plan, time), slots, ({ photo }) => photo)
  return { rows: rows.map(({ slot, name, role }) => `${slot} ${name} (${role})`), skipped }
}

describe('the cast of a plan', () => {
  // Conformance: C-16.10.
  it('has a row for each position with a slot, whatever the case and the spaces of its name', () => {
    const plan = planOf(person('Vox 1', 'Nora', { photo: '/api/pictures/a' }), person('Worship  Leader', 'Ada'))
    expect(toCast(listPositions(plan, null), { 'VOX 1': 3, 'worship leader': 1 }, ({ photo }) => photo)).toEqual({
      rows: [
        { row: 1, slot: '3', name: 'Nora', role: 'Vox 1', note: '', photo: '/api/pictures/a', pack: '' },
        { row: 2, slot: '1', name: 'Ada', role: 'Worship  Leader', note: '', photo: '', pack: '' },
      ],
      positions: ['Vox 1', 'Worship  Leader'],
      skipped: [],
    })
  })

  // Conformance: C-16.11.
  it('skips positions without a slot, and those for which nobody is scheduled', () => {
    const plan = planOf(person('Drums', 'Bo'), person('Drums', 'Cy'), person('Keys', 'Di'))
    expect(castOf(plan, { 'Vox 1': 1, Keys: null, Bass: null }).skipped).toEqual([
      { position: 'Drums', name: 'Bo, Cy', reason: 'No slot is selected for this position.' },
      { position: 'Keys', name: 'Di', reason: 'No slot is selected for this position.' },
      { position: 'Vox 1', name: null, reason: 'Nobody is scheduled for this position at this service.' },
    ])
  })

  it('has one row for a slot, which the first person gets', () => {
    const plan = planOf(
      person('Vocals', 'Nora'),
      person('Vocals', 'Ada'),
      person('Host', 'Nora'),
      person('Guest', 'Bo'),
    )
    expect(castOf(plan, { Vocals: 1, Host: 1, Guest: 1 })).toEqual({
      rows: ['1 Nora (Vocals)'],
      skipped: [
        { position: 'Vocals', name: 'Ada', reason: 'Slot 1 is already used for Nora.' },
        { position: 'Guest', name: 'Bo', reason: 'Slot 1 is already used for Nora.' },
      ],
    })
  })

  it('has a row for each of the two positions of a person', () => {
    const plan = planOf(person('Vox 1', 'Nora'), person('Host', 'Nora'))
    expect(castOf(plan, { 'Vox 1': 1, Host: 2 }).rows).toEqual(['1 Nora (Vox 1)', '2 Nora (Host)'])
  })

  it('contains the people of one service, and those who are scheduled for all', () => {
    const plan = planOf(
      person('Vox 1', 'Nora', { times: ['9am'] }),
      person('Vox 1', 'Ada', { times: ['11am'] }),
      person('Host', 'Bo', { times: ['9am', '11am'] }),
      person('Guest', 'Cy'),
    )
    const slots = { 'Vox 1': 1, Host: 2, Guest: 3 }
    expect(castOf(plan, slots, '9am').rows).toEqual(['1 Nora (Vox 1)', '2 Bo (Host)', '3 Cy (Guest)'])
    expect(castOf(plan, slots, '11am').rows).toEqual(['1 Ada (Vox 1)', '2 Bo (Host)', '3 Cy (Guest)'])
  })

  it('distinguishes positions of the same name by their team', () => {
    const plan = planOf(person('Vocals', 'Nora'), person('Vocals', 'Ada', { team: 'Choir' }), person('Host', 'Bo'))
    expect(listPositions(plan, null).map(({ position }) => position)).toEqual([
      'Band / Vocals',
      'Choir / Vocals',
      'Host',
    ])
    expect(castOf(plan, { 'Choir / Vocals': 2, Vocals: 1, 'Band / Host': 3 }).rows).toEqual([
      '1 Nora (Vocals)',
      '2 Ada (Vocals)',
      '3 Bo (Host)',
    ])
  })
})

describe('the suggested slots', () => {
  const slots = [
    { slot: 1, names: ['Pulpit'] },
    { slot: 2, names: ['HH 2', 'Guest'] },
    { slot: 3, names: ['Spare'] },
    { slot: 4, names: [] },
  ]
  const suggest = (positions: readonly string[], remembered: PositionSlots = {}) =>
    Object.fromEntries(
      suggestSlots(
        listPositions(planOf(...positions.map((position) => person(position, 'Nora'))), null),
        remembered,
        slots,
      ),
    )

  it.each([
    [['Vox 1', 'Vocals #2', 'Lead Vocal 3', 'mic 4'], { 'Vox 1': 1, 'Vocals #2': 2, 'Lead Vocal 3': 3, 'mic 4': 4 }],
    [['Vox 2', 'Guest'], { 'Vox 2': null, Guest: 2 }],
    [['Vox 1', 'Mic 1'], { 'Vox 1': 1, 'Mic 1': null }],
    [['Vox 9', 'Camera 1', 'Vox'], { 'Vox 9': null, 'Camera 1': null, Vox: null }],
  ])('follow from the names of positions and slots: %j', (positions, suggested) => {
    expect(suggest(positions)).toEqual(suggested)
  })

  it('are those of the last import, unless the slot no longer exists', () => {
    expect(suggest(['Vox 1', 'Vox 2', 'Vox 3', 'Vox 4'], { 'vox 1': 3, 'Vox 2': null, 'Vox 4': 77 })).toEqual({
      'Vox 1': 3,
      'Vox 2': null,
      'Vox 3': null,
      'Vox 4': 4,
    })
  })
})

it('merges the slots of positions, whatever the case of their names', () => {
  expect(mergeSlots({ 'VOX 1': 1, Keys: 2, Drums: null }, { 'Vox 1': 3, Drums: 4 })).toEqual({
    Keys: 2,
    'Vox 1': 3,
    Drums: 4,
  })
})

describe('the next service of a plan', () => {
  const times = [
    { id: '9am', name: null, starts_at: 900, ends_at: 1000 },
    { id: '11am', name: null, starts_at: 1100, ends_at: null },
  ]

  it.each([
    [800, '9am'],
    [999, '9am'],
    [1000, '11am'],
    [5000, '11am'],
  ])('is at %i the one that runs or comes next, or the last one: %s', (now, id) => {
    expect(findNextTime(times, now)?.id).toBe(id)
  })

  it('is none if the plan has no services', () => {
    expect(findNextTime([], 0)).toBe(null)
  })
})

it.each([
  ['a1b2:c3d4', true],
  ['a1b2:c3:d4', true],
  ['a1b2', false],
  [':c3d4', false],
  ['a1b2:', false],
  ['a1b2: c3d4', false],
])('recognizes a token: %s %s', (text, isToken) => {
  expect(isPlanningCenterToken(text)).toBe(isToken)
})
