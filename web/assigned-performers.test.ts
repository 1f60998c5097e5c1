import { expect, it } from 'vitest'
import type { LivePerformerBody } from '../src/contract/live-messages.ts'
import { performerOf } from './assigned-performers.ts'

const anna: LivePerformerBody = { id: 3, name: 'Anna', notes: '', picture: null }
const assignments = [{ channel_id: 11, wireless_unit: 1, performer: { id: 3, name: 'Anna before' } }]
const pictures = new Map([['3 9:AAAA', 'data:image/png;base64,AAAA']])

it('finds the performer of a channel', () => {
  const state = { assignments, performers: [anna], pictures }
  expect(performerOf(state, 11)).toEqual({ performer: 3, name: 'Anna', picture: null })
  expect(performerOf(state, 12)).toBe(null)
})

it('uses the name in the assignment while the performers are unknown', () => {
  expect(performerOf({ assignments, performers: [], pictures }, 11)?.name).toBe('Anna before')
})

it('uses a long picture once it is loaded', () => {
  const withTag = (picture_tag: string) =>
    performerOf({ assignments, performers: [{ ...anna, picture_tag }], pictures }, 11)?.picture
  expect(withTag('9:AAAA')).toBe('data:image/png;base64,AAAA')
  expect(withTag('9:BBBB')).toBe(null)
})

it.each([
  ['data:image/png;base64,AAAA', true],
  ['/pictures/anna.png', true],
  ['//elsewhere.example/anna.png', false],
  ['https://elsewhere.example/anna.png', false],
  ['data:text/html,<script>', false],
])('accepts a picture from %s: %s', (picture, isShown) => {
  const performer = performerOf({ assignments, performers: [{ ...anna, picture }], pictures }, 11)
  expect(performer?.picture).toBe(isShown ? picture : null)
})
