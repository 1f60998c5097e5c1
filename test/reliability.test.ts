/** docs/reliability.md lists threats, faults, defaults and limits; each has at least one test. */

import { describe, expect, it } from 'vitest'
import { checklistErrors, provedStatements, readChecklist } from './support/checklist.ts'

const { rows } = readChecklist('docs/reliability.md', /^([A-Z]\d+|\d\.\d+(\.\d+)?)$/)
const ids = rows.map(({ id }) => id)

/** The numbers of threats and of faults of each kind, and the minimum number of defaults. */
const threats = 27
const faults = { U: 31, R: 12, S: 12, D: 6, C: 8, P: 12, T: 4 } as const
const minimumDefaults = 51

describe('the reliability checklist', () => {
  it('lists the files whose tests name each row', () => {
    expect(checklistErrors(rows, provedStatements('Reliability'))).toEqual([])
  })

  it('gives every row a text and a unique id, and has every threat, fault and default', () => {
    expect(rows.filter(({ statement }) => statement === '')).toEqual([])
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    const expected = [
      ...Array.from({ length: threats }, (_, index) => `1.${index + 1}`),
      ...Object.entries(faults).flatMap(([kind, count]) =>
        Array.from({ length: count }, (_, index) => `${kind}${index + 1}`),
      ),
    ]
    expect(expected.filter((id) => !ids.includes(id))).toEqual([])
    expect(ids.filter((id) => id.startsWith('3.')).length).toBeGreaterThanOrEqual(minimumDefaults)
  })
})
