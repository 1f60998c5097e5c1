import { expect, it } from 'vitest'
import { countColumns, toDifference } from './cast-difference.ts'

const assignment = (slot: number | null, unit: number, name: string, role: string | null = null) => ({
  ...{ slot, wireless_unit: unit, role },
  performer: { id: null, name },
})

it('combines the end of an assignment with the new one of the same unit, and sorts units and placeholders by slot', () => {
  const difference = toDifference([
    { what: 'performer', id: null, from: null, to: { name: 'Nora', notes: '' } },
    { what: 'performer', id: 3, from: { notes: '' }, to: { notes: 'Late' } },
    { what: 'assignment', id: 8, from: assignment(4, 40, 'Maria', 'Queen'), to: null },
    { what: 'assignment', id: null, from: null, to: assignment(null, 99, 'Otto') },
    { what: 'assignment', id: null, from: null, to: assignment(4, 40, 'Nora', 'Queen') },
    { what: 'assignment', id: 9, from: assignment(2, 20, 'Ida'), to: assignment(2, 20, 'Ida', 'Papagena') },
    {
      what: 'placeholder',
      id: 20,
      from: { slot: 3, name: '', note: '' },
      to: { slot: 3, name: 'Lectern', note: 'DI 2' },
    },
    { what: 'assignment', id: 7, from: assignment(1, 10, 'Nora'), to: null },
  ])
  expect(difference).toEqual({
    rows: [
      { kind: 'unit', id: 10, slot: 1, before: { name: 'Nora', detail: null }, after: null },
      {
        kind: 'unit',
        id: 20,
        slot: 2,
        before: { name: 'Ida', detail: null },
        after: { name: 'Ida', detail: 'Papagena' },
      },
      {
        kind: 'placeholder',
        id: 3,
        slot: 3,
        before: { name: '', detail: null },
        after: { name: 'Lectern', detail: 'DI 2' },
      },
      {
        kind: 'unit',
        id: 40,
        slot: 4,
        before: { name: 'Maria', detail: 'Queen' },
        after: { name: 'Nora', detail: 'Queen' },
      },
      { kind: 'unit', id: 99, slot: null, before: null, after: { name: 'Otto', detail: null } },
    ],
    added: ['Nora'],
    updated: 1,
    createdSlots: new Set(),
  })
})

it('lists placeholders that are added and slots that change by slot, then groups', () => {
  const { rows } = toDifference([
    { what: 'channel_slot', id: 11, from: { slot: 1 }, to: { slot: 4 } },
    { what: 'placeholder', id: null, from: null, to: { slot: 2, name: 'Cantor', note: 'P1' } },
    { what: 'group', id: null, from: null, to: { title: 'Leads', slots: [4, 2] } },
    { what: 'group', id: 5, from: { title: 'Choir', slots: [1] }, to: { title: 'Choir', slots: [9] } },
  ])
  expect(
    rows.map(({ kind, slot, before, after }) => [kind, slot, before?.name, before?.detail, after?.name, after?.detail]),
  ).toEqual([
    ['placeholder', 2, undefined, undefined, 'Cantor', 'P1'],
    ['move', 4, 'Slot 1', null, 'Slot 4', null],
    ['group', null, undefined, undefined, 'Group Leads', '4, 2'],
    ['group', null, 'Group Choir', '1', 'Group Choir', '9'],
  ])
})

it('lists the performer of a slot once, and the slots that are added', () => {
  const slot = (slot: number, name: string) => ({ slot, performer: { id: null, name }, role: null })
  const { rows, createdSlots } = toDifference([
    { what: 'placeholder', id: null, from: null, to: { slot: 7, kind: 'wireless', name: '', note: '' } },
    { what: 'slot', id: 7, from: null, to: slot(7, 'Nora') },
    { what: 'slot', id: 4, from: slot(4, 'Maria'), to: { slot: 4, performer: null, role: null } },
    { what: 'assignment', id: 8, from: assignment(4, 40, 'Maria'), to: null },
  ])
  expect(rows.map(({ kind, slot, before, after }) => [kind, slot, before?.name, after?.name])).toEqual([
    ['slot', 4, 'Maria', undefined],
    ['slot', 7, undefined, 'Nora'],
  ])
  expect([...createdSlots]).toEqual([7])
})

it('counts the columns of a copy from a spreadsheet and of CSV', () => {
  expect(countColumns('\n1\tNora\tPapagena, the bride')).toBe(3)
  expect(countColumns('slot;name')).toBe(2)
  expect(countColumns('')).toBe(1)
})
