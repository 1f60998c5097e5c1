import { expect, it } from 'vitest'
import { joinAssignments } from './assigned-performers.ts'

const units = [
  { id: 1, base_chassis: 7, channel: 2 },
  { id: 2, base_chassis: null, channel: null },
]
const anna = { id: 3, name: 'Anna', picture: null }

it('finds the channel of a transmitter', () => {
  const performers = joinAssignments([{ performer: 3, wireless_unit: 1 }], units, [anna])
  expect([...performers]).toEqual([['7.2', { performer: 3, name: 'Anna', picture: null }]])
})

it('leaves out deleted transmitters and those without a channel', () => {
  const assignments = [
    { performer: 3, wireless_unit: 2 },
    { performer: 3, wireless_unit: 9 },
    { performer: 9, wireless_unit: 1 },
  ]
  expect(joinAssignments(assignments, units, [anna]).size).toBe(0)
})

it.each([
  ['data:image/png;base64,AAAA', true],
  ['/pictures/anna.png', true],
  ['//elsewhere.example/anna.png', false],
  ['https://elsewhere.example/anna.png', false],
  ['data:text/html,<script>', false],
])('accepts a picture from %s: %s', (picture, isShown) => {
  const performers = joinAssignments([{ performer: 3, wireless_unit: 1 }], units, [{ ...anna, picture }])
  expect(performers.get('7.2')?.picture).toBe(isShown ? picture : null)
})
