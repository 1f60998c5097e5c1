import { expect, it } from 'vitest'
import { countColumns, toDifference } from './cast-difference.ts'

const assignment = (slot: number | null, unit: number, name: string, role: string | null = null) => ({
  ...{ slot, wireless_unit: unit, role },
  performer: { id: null, name },
})

it('combines the end of an assignment with the new one of the same unit, and sorts by slot', () => {
  const difference = toDifference([
    { what: 'performer', id: null, from: null, to: { name: 'Nora', notes: '' } },
    { what: 'performer', id: 3, from: { notes: '' }, to: { notes: 'Late' } },
    { what: 'assignment', id: 8, from: assignment(4, 40, 'Maria', 'Queen'), to: null },
    { what: 'assignment', id: null, from: null, to: assignment(null, 99, 'Otto') },
    { what: 'assignment', id: null, from: null, to: assignment(4, 40, 'Nora', 'Queen') },
    { what: 'assignment', id: 9, from: assignment(2, 20, 'Ida'), to: assignment(2, 20, 'Ida', 'Papagena') },
    { what: 'assignment', id: 7, from: assignment(1, 10, 'Nora'), to: null },
  ])
  expect(difference).toEqual({
    assignments: [
      { unit: 10, slot: 1, before: { name: 'Nora', role: null }, after: null },
      { unit: 20, slot: 2, before: { name: 'Ida', role: null }, after: { name: 'Ida', role: 'Papagena' } },
      { unit: 40, slot: 4, before: { name: 'Maria', role: 'Queen' }, after: { name: 'Nora', role: 'Queen' } },
      { unit: 99, slot: null, before: null, after: { name: 'Otto', role: null } },
    ],
    added: ['Nora'],
    updated: 1,
  })
})

it('counts the columns of a copy from a spreadsheet and of CSV', () => {
  expect(countColumns('\n1\tNora\tPapagena, the bride')).toBe(3)
  expect(countColumns('slot;name')).toBe(2)
  expect(countColumns('')).toBe(1)
})
