/** Pages that are tables of `| Id | statement | test |`: what they say, and which of the tests they name are not there. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export interface ChecklistRow {
  readonly id: string
  readonly statement: string
  /** `file › describe › it`, or `later: …`. */
  readonly proofs: readonly string[]
}

export interface Checklist {
  readonly page: string
  readonly rows: readonly ChecklistRow[]
}

/** `id`: what the first cell of a row that counts looks like. */
export function readChecklist(path: string, id: RegExp): Checklist {
  const page = readFileSync(join(root, path), 'utf8')
  const rows = page.split('\n').flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const [before, first = '', statement = '', proof = ''] = cells
    if (before !== '' || !id.test(first)) return []
    return [{ id: first, statement, proofs: proof.split('<br>').map((one) => one.replaceAll('\\|', '|')) }]
  })
  return { page, rows }
}

export const isLater = (proof: string) => /^later: \S/.test(proof)

/** A sentence for every named test that is not there under the title it has. */
export function missingProofs(rows: readonly ChecklistRow[]): string[] {
  return rows.flatMap(({ id, proofs }) =>
    proofs.flatMap((proof) => {
      if (isLater(proof)) return []
      const [file = '', ...titles] = proof.replace(/^`(.*)`$/, '$1').split(' › ')
      const source = sourceOf(file)
      if (titles.length === 0 || source === '') return [`${id}: no such file: ${proof}`]
      return titles.filter((title) => !hasTitle(source, title)).map((title) => `${id}: not in ${file}: ${title}`)
    }),
  )
}

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
