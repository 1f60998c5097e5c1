import { expect, it } from 'vitest'
import type { Performer } from '../../src/contract/performers.ts'
import { performerOf } from './assigned-performers.ts'

const anna: Performer = { id: 3, name: 'Anna', notes: '', picture: null }
const assignments = [{ channel_id: 11, wireless_unit: 1, performer: { id: 3, name: 'Anna before' } }]

it('finds the performer of a channel', () => {
  const state = { assignments, performers: [anna] }
  expect(performerOf(state, 11)).toEqual({ performer: 3, name: 'Anna', picture: null })
  expect(performerOf(state, 12)).toBe(null)
})

it('uses the name in the assignment while the performers are unknown', () => {
  expect(performerOf({ assignments, performers: [] }, 11)?.name).toBe('Anna before')
})

it('does not take a performer of a site for one with the same id here', () => {
  const ofSite = assignments.map((assignment) => ({ ...assignment, site: { code: 'theatre', name: 'Royal Theatre' } }))
  const picture = '/api/pictures/0f343b09'
  const performer = performerOf({ assignments: ofSite, performers: [{ ...anna, picture }] }, 11)
  expect(performer).toMatchObject({ name: 'Anna before', picture: null })
})

it.each([
  ['data:image/png;base64,AAAA', true],
  ['/api/pictures/0f343b09', true],
  ['//elsewhere.example/anna.png', false],
  ['https://elsewhere.example/anna.png', false],
  ['data:text/html,<script>', false],
])('accepts a picture from %s: %s', (picture, isShown) => {
  const performer = performerOf({ assignments, performers: [{ ...anna, picture }] }, 11)
  expect(performer?.picture).toBe(isShown ? picture : null)
})
