import { expect, it } from 'vitest'
import type { ShowBody } from '../../src/contract/shows.ts'
import { planText, timeText } from './show-text.ts'

const [starts_at, ends_at] = ['2026-11-23T19:30:00Z', '2026-11-23T22:00:00Z']

it('returns only the planned end of a show without a planned start', () => {
  expect(planText({ starts_at: null, ends_at })).toMatch(/^Until Nov 23, 2026/)
  expect(planText({ starts_at: null, ends_at: null })).toBeNull()
})

it('says that the end of a running show is planned', () => {
  const running = { state: 'running', starts_at: null, ends_at, started_at: starts_at, ended_at: null } as ShowBody
  expect(timeText(running)).toMatch(/^Started .* · planned until Nov 23, 2026/)
})
