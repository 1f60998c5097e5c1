/** docs/reliability.md: every fault, threat, default and limit has a test that is there, or says what it waits for. */

import { describe, expect, it } from 'vitest'
import { isLater, missingProofs, readChecklist } from './checklist.ts'

const { rows } = readChecklist('docs/reliability.md', /^([A-Z]\d+|\d\.\d+(\.\d+)?)$/)
const ids = rows.map(({ id }) => id)

/** Promises may join the page; one that leaves it takes a number down in plain sight. */
const threats = 26
const faults = { U: 28, R: 10, S: 11, D: 6, C: 8, P: 10, T: 4 } as const
const defaultsReached = 45
const laterAtMost = 0

describe('the page of faults and threats', () => {
  it('names tests that are there, under the titles they have', () => {
    expect(missingProofs(rows)).toEqual([])
  })

  it('says of every promise how it is proved, or what it waits for', () => {
    for (const { id, statement, proofs } of rows) {
      expect([id, statement]).toEqual([id, expect.stringMatching(/\S/)])
      for (const proof of proofs) expect([id, proof]).toEqual([id, expect.stringMatching(/^(`.+ › .+`|later: .+)$/)])
    }
    expect(rows.filter(({ proofs }) => proofs.some(isLater)).length).toBeLessThanOrEqual(laterAtMost)
  })

  it('has every row, once', () => {
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    const expected = [
      ...Array.from({ length: threats }, (_, at) => `1.${at + 1}`),
      ...Object.entries(faults).flatMap(([kind, count]) =>
        Array.from({ length: count }, (_, at) => `${kind}${at + 1}`),
      ),
    ]
    expect(expected.filter((id) => !ids.includes(id))).toEqual([])
    expect(ids.filter((id) => id.startsWith('3.')).length).toBeGreaterThanOrEqual(defaultsReached)
  })
})
