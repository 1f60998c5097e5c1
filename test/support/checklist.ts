/**
 * Reads the checklists in `docs/`, which are tables of `| Id | Statement | Tests |`. A comment directly above a test
 * lists the ids of the statements that it verifies, so titles can change freely:
 *
 *     // Conformance: S-1.1, C-7.4.
 *     it('publishes a changed level to WebSocket clients', …)
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const companionModule = 'integrations/companion-module-micwatch'
/** `.ci/run` runs the tests of the Companion module; they are not part of `npm test`. */
const testFolders = ['src', 'simulators', 'test', 'web', 'scripts', `${companionModule}/src`, `${companionModule}/test`]

export interface ChecklistRow {
  readonly id: string
  readonly statement: string
  /** Paths of the files whose tests verify the statement, sorted. */
  readonly files: readonly string[]
}

export interface Checklist {
  readonly page: string
  readonly rows: readonly ChecklistRow[]
}

/** Reads the rows whose first cell matches `id`. */
export function readChecklist(path: string, id: RegExp): Checklist {
  const page = readFileSync(join(root, path), 'utf8')
  const rows = page.split('\n').flatMap((line) => {
    const [before, first = '', statement = '', files = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (before !== '' || !id.test(first)) return []
    return [{ id: first, statement, files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file) }]
  })
  return { page, rows }
}

/** Maps each id in the `// <label>: id, id.` comments above tests to the files that name it, sorted. */
export function provedStatements(label: 'Conformance' | 'Reliability'): Map<string, string[]> {
  const proved = new Map<string, string[]>()
  for (const file of testFiles()) {
    for (const id of new Set(statementIds(readFileSync(join(root, file), 'utf8'), label))) {
      proved.set(id, [...(proved.get(id) ?? []), file])
    }
  }
  return proved
}

/** Compares the test files that each row lists with those that name its id. Returns one sentence per difference. */
export function checklistErrors(
  rows: readonly ChecklistRow[],
  proved: ReadonlyMap<string, readonly string[]>,
): string[] {
  const listed = new Set(rows.map(({ id }) => id))
  const unknown = [...proved].filter(([id]) => !listed.has(id))
  return [
    ...unknown.map(([id, files]) => `${files.join(', ')} names ${id}, which is not in the checklist.`),
    ...rows.flatMap(({ id, files }) => {
      const actual = proved.get(id) ?? []
      if (actual.length === 0) return [`No test names ${id}.`]
      return actual.join() === files.join()
        ? []
        : [`${id} lists ${files.join(', ')}; its tests are in ${actual.join(', ')}.`]
    }),
  ]
}

function testFiles(): string[] {
  const files = testFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  return files.filter((file) => /\.test\.tsx?$|^test\/.+\.ts$/.test(file)).sort()
}

/** Returns the ids in comments directly above a call of `it`, `test` or `describe`; ignores other comments. */
function statementIds(source: string, label: string): string[] {
  const comment = new RegExp(`^\\s*// ${label}: (.+)\\.$`)
  const lines = source.split('\n')
  return lines.flatMap((line, index) => {
    const ids = comment.exec(line)?.[1]
    const below = lines.slice(index + 1).find((next) => !/^\s*\/\//.test(next))
    return ids !== undefined && /^\s*(it|test|describe)\b/.test(below ?? '') ? ids.split(', ') : []
  })
}
