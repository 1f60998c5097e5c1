import { expect, it } from 'vitest'
import type { Sees } from '../../src/contract/checks.ts'
import { listFindings, listProblems } from './findings.ts'

const sees: Sees = {
  transmitter_on: true,
  battery: 80,
  minutes_left: 200,
  lasts: true,
  rf_lowest: -72,
  dropouts: 0,
  audio_heard: true,
  encryption: 'on',
  frequency: '610.000',
  frequency_planned: '610.000',
  frequency_plan: { id: 1, title: 'Evening' },
}
const nothing = Object.fromEntries(Object.keys(sees).map((name) => [name, null])) as unknown as Sees
const began_at = '2026-11-23T18:00:00.000Z'
const endsAt = '2026-11-23T22:30:00.000Z'

it('finds no problem on a channel that is as expected', () => {
  expect(listFindings({ began_at, sees }, endsAt).map(({ judgement }) => judgement)).toEqual(Array(6).fill('good'))
})

it.each([
  [{ transmitter_on: false }, ['transmitter']],
  [{ lasts: false }, ['battery']],
  [{ frequency: '611.500' }, ['frequency']],
  [{ encryption: 'error' }, ['encryption']],
  [{ audio_heard: false }, ['audio']],
  [{ dropouts: 2 }, ['walk']],
  [{ dropouts: 2, rf_lowest: null }, ['walk']],
] satisfies [Partial<Sees>, string[]][])('%j is a problem', (change, problems) => {
  expect(listProblems({ began_at, sees: { ...sees, ...change } }, endsAt)).toEqual(problems)
})

// Conformance: C-23.51.
it('names the plan in force if the frequency differs from it', () => {
  const seenWith = (change: Partial<Sees>) => {
    const found = listFindings({ began_at, sees: { ...sees, ...change } }, null).find(
      ({ name }) => name === 'frequency',
    )
    return found?.seen.replaceAll('\u00a0', ' ')
  }
  expect(seenWith({})).toBe('610.000 MHz')
  expect(seenWith({ frequency: '611.500' })).toBe('611.500 MHz · differs from Evening')
  expect(seenWith({ frequency: '611.500', frequency_plan: null })).toBe('611.500 MHz')
})

it('judges nothing that is unknown', () => {
  const judgements = (check: Parameters<typeof listFindings>[0]) =>
    listFindings(check, null).map((each) => each.judgement)
  expect(new Set(judgements({ began_at, sees: nothing }))).toEqual(new Set(['unknown']))
  // Without recorded levels, no dropout does not mean that the walk was good.
  expect(judgements({ began_at, sees: { ...sees, rf_lowest: null } })[2]).toBe('unknown')
  expect(judgements({ began_at: null, sees })[2]).toBe('unknown')
  expect(judgements({ began_at, sees: { ...sees, encryption: 'off' } }).at(-1)).toBe('unknown')
})
