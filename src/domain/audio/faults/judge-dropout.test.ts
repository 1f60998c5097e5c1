import { expect, test } from 'vitest'
import { type DropoutEvidence, judgeDropout } from './judge-dropout.ts'

const at = 1_700_000_000_000

function judge(until: number | null, evidence: Partial<DropoutEvidence> & { readonly after: number }) {
  const candidate = { from: at, until: until === null ? null : at + until }
  const { after, ...more } = evidence
  return judgeDropout(candidate, { now: at + after, weakRf: [], mutes: [], ...more })
}

const weak = [{ from: at - 300, until: at + 400 }]

test('sound that returns within 2 s was a dropout, also without RF readings', () => {
  expect(judge(500, { after: 1600 })).toEqual({ is: 'dropout', confirmedBy: 'return' })
  expect(judge(500, { after: 1600, weakRf: null })).toEqual({ is: 'dropout', confirmedBy: 'return' })
})

test('sound that breaks off with weak RF is a dropout, even if it stays away', () => {
  expect(judge(null, { after: 3100, weakRf: weak })).toEqual({ is: 'dropout', confirmedBy: 'rf' })
  expect(judge(5000, { after: 6100, weakRf: weak })).toEqual({ is: 'dropout', confirmedBy: 'rf' })
})

// Conformance: C-27.71.
test('sound that stays away with good RF is silence', () => {
  expect(judge(null, { after: 3100 })).toEqual({ is: 'silence' })
  expect(judge(5000, { after: 6100 })).toEqual({ is: 'silence' })
})

test('nothing is decided before a report of a mute could have arrived', () => {
  expect(judge(500, { after: 1400 })).toEqual({ is: 'undecided' })
  expect(judge(null, { after: 2900, weakRf: weak })).toEqual({ is: 'undecided' })
})

test('nothing within 1 s of a mute is a dropout', () => {
  expect(judge(500, { after: 1600, mutes: [{ from: at + 900, until: null }] })).toEqual({ is: 'muted' })
  expect(judge(500, { after: 1600, mutes: [{ from: at - 5000, until: at - 900 }] })).toEqual({ is: 'muted' })
  expect(judge(500, { after: 1600, mutes: [{ from: at - 5000, until: at - 1100 }] })).toMatchObject({ is: 'dropout' })
  expect(judge(500, { after: 1600, weakRf: weak, mutes: [{ from: at, until: null }] })).toEqual({ is: 'muted' })
})

test('RF that was weak at another time does not count', () => {
  expect(judge(null, { after: 3100, weakRf: [{ from: at - 9000, until: at - 600 }] })).toEqual({ is: 'silence' })
})
