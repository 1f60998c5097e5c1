/** The checklist of the whole interface, docs/conformance.md: every statement has a test that is there, or says why not. */

import { describe, expect, it } from 'vitest'
import { isLater, missingProofs, readChecklist } from './checklist.ts'

const { page, rows } = readChecklist('docs/conformance.md', /^[SC]-\d+\.\d+$/)

/** Statements may join the list; one that leaves it takes this number down in plain sight. */
const statementsReached = 340
const laterAtMost = 0

const sections = [...page.matchAll(/^### ([SC]-\d+) (.+)$/gm)].map(([, id = '', title = '']) => ({ id, title }))

describe('the checklist of the whole interface', () => {
  it('names tests that are there, under the titles they have', () => {
    expect(missingProofs(rows)).toEqual([])
  })

  it('says of every statement how it is proved, or what it waits for', () => {
    for (const { id, statement, proofs } of rows) {
      expect([id, statement]).toEqual([id, expect.stringMatching(/\S/)])
      expect([id, proofs]).toEqual([id, expect.arrayContaining([expect.stringMatching(/^(`.+ › .+`|later: .+)$/)])])
    }
    expect(rows.filter(({ proofs }) => proofs.some(isLater)).length).toBeLessThanOrEqual(laterAtMost)
  })

  it('gives every statement an id of its own and loses none', () => {
    const ids = rows.map(({ id }) => id)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    expect(ids.length).toBeGreaterThanOrEqual(statementsReached)
  })

  it('counts right', () => {
    for (const { id, title } of sections) {
      const own = rows.filter((row) => row.id.startsWith(`${id}.`))
      const later = own.filter(({ proofs }) => proofs.some(isLater)).length
      expect(page).toContain(`| ${id} ${title} | ${own.length} | ${own.length - later} | ${later} |`)
    }
    const later = rows.filter(({ proofs }) => proofs.some(isLater)).length
    expect(page).toContain(`| All | ${rows.length} | ${rows.length - later} | ${later} |`)
  })
})
