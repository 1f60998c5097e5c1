/** The checklist of the whole interface, docs/conformance.md: every statement has a test that is there, or says why not. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8')

/** Statements may join the list; one that leaves it takes this number down in plain sight. */
const statementsReached = 340
const laterAtMost = 10

const rows = page.split('\n').flatMap((line) => {
  if (!/^\| [SC]-\d+\.\d+ \|/.test(line)) return []
  const [, id = '', statement = '', proof = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
  const proofs = proof.split('<br>').map((one) => one.replaceAll('\\|', '|'))
  return [{ id, statement, proofs }]
})
const isLater = (proof: string) => /^later: \S/.test(proof)
const sections = [...page.matchAll(/^### ([SC]-\d+) (.+)$/gm)].map(([, id = '', title = '']) => ({ id, title }))

const sources = new Map<string, string>()
function sourceOf(file: string): string {
  const source = sources.get(file) ?? (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '')
  sources.set(file, source)
  return source
}

/** A title as it stands in the source, in whichever quotes. */
function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => source.includes(`(${quote}${title}${quote}`) || stands(source, title, quote))
}

/** The formatter has put it on a line of its own. */
function stands(source: string, title: string, quote: string): boolean {
  return source.split('\n').some((line) => line.trim() === `${quote}${title}${quote},`)
}

describe('the checklist of the whole interface', () => {
  it('names tests that are there, under the titles they have', () => {
    const missing = rows.flatMap(({ id, proofs }) =>
      proofs.flatMap((proof) => {
        if (isLater(proof)) return []
        const [file = '', ...titles] = proof.replace(/^`(.*)`$/, '$1').split(' › ')
        const source = sourceOf(file)
        if (titles.length === 0 || source === '') return [`${id}: no such file: ${proof}`]
        return titles.filter((title) => !hasTitle(source, title)).map((title) => `${id}: not in ${file}: ${title}`)
      }),
    )
    expect(missing).toEqual([])
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
