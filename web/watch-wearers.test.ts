import { expect, it } from 'vitest'
import { joinWearers } from './watch-wearers.ts'

const units = [
  { id: 1, base_chassis: 7, channel: 2 },
  { id: 2, base_chassis: null, channel: null },
]
const anna = { id: 3, name: 'Anna', picture: null }

it('finds the channel by the transmitter', () => {
  const wearers = joinWearers([{ performer: 3, wireless_unit: 1 }], units, [anna])
  expect([...wearers]).toEqual([['7.2', { performer: 3, name: 'Anna', picture: null }]])
})

it('leaves out what is heard nowhere, or has gone', () => {
  const assignments = [
    { performer: 3, wireless_unit: 2 },
    { performer: 3, wireless_unit: 9 },
    { performer: 9, wireless_unit: 1 },
  ]
  expect(joinWearers(assignments, units, [anna]).size).toBe(0)
})

it.each([
  ['data:image/png;base64,AAAA', true],
  ['/pictures/anna.png', true],
  ['//elsewhere.example/anna.png', false],
  ['https://elsewhere.example/anna.png', false],
  ['data:text/html,<script>', false],
])('shows a picture from %s: %s', (picture, isShown) => {
  const wearers = joinWearers([{ performer: 3, wireless_unit: 1 }], units, [{ ...anna, picture }])
  expect(wearers.get('7.2')?.picture).toBe(isShown ? picture : null)
})
