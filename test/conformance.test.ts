/** docs/conformance.md lists every statement of the interface specification; each has at least one test. */

import { describe, expect, it } from 'vitest'
import { checklistErrors, provedStatements, readChecklist } from './support/checklist.ts'

const { page, rows } = readChecklist('docs/conformance.md', /^[SC]-\d+b?\.\d+$/)

/** The number of statements must not fall below this. */
const minimumStatements = 384

const sections = [...page.matchAll(/^### ([SC]-\d+b?) (.+)$/gm)].map(([, id = '', title = '']) => ({ id, title }))

describe('the conformance checklist', () => {
  it('lists the files whose tests name each statement', () => {
    expect(checklistErrors(rows, provedStatements('Conformance'))).toEqual([])
  })

  it('gives every statement a text and a unique id', () => {
    const ids = rows.map(({ id }) => id)
    expect(rows.filter(({ statement }) => statement === '')).toEqual([])
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.length).toBeGreaterThanOrEqual(minimumStatements)
  })

  it('counts the statements of each section', () => {
    for (const { id, title } of sections) {
      const count = rows.filter((row) => row.id.startsWith(`${id}.`)).length
      expect(page).toContain(`| ${id} ${title} | ${count} |`)
    }
    expect(page).toContain(`| All | ${rows.length} |`)
  })
})
