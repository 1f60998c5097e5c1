import { expect, it } from 'vitest'
import type { ShowBody } from '../../src/contract/shows.ts'
import { findDueShow, keyOf } from './start-offer.tsx'

const show = (id: number, starts_at: string | null, fields: Partial<ShowBody> = {}): ShowBody => ({
  ...{ id, title: `Show ${id}`, state: 'planned', group_ids: [], notes: '', version: 1 },
  ...{ starts_at, ends_at: null, started_at: null, ended_at: null },
  ...fields,
})
const [half, two, nine] = ['2026-11-23T14:30:00Z', '2026-11-23T14:00:00Z', '2026-11-23T09:00:00Z']
const now = Date.parse(half)

it.each([
  ['no show', [], null],
  ['a show from its planned start on', [show(1, half)], 1],
  ['no show before its planned start', [show(1, '2026-11-23T14:30:01Z')], null],
  ['no show without a planned start', [show(1, null)], null],
  ['no show that has been started', [show(1, two, { state: 'running' }), show(2, two, { state: 'ended' })], null],
  ['no show after its planned end', [show(1, two, { ends_at: half })], null],
  ['a show until its planned end', [show(1, nine, { ends_at: '2026-11-23T15:00:00Z' })], 1],
  ['a show without a planned end for six hours', [show(1, '2026-11-23T08:30:00Z'), show(2, nine)], 2],
  ['the latest of several', [show(1, nine), show(2, two)], 2],
] as const)('offers %s', (_name, shows, id) => {
  expect(findDueShow(shows, now, '')?.id ?? null).toBe(id)
})

it('does not offer a show again that was dismissed, unless its planned start changes', () => {
  const dismissed = keyOf(show(1, two))
  expect(findDueShow([show(1, two)], now, dismissed)).toBeNull()
  expect(findDueShow([show(1, half)], now, dismissed)?.id).toBe(1)
})
