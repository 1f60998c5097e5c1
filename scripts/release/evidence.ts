/**
 * `tsx scripts/release/evidence.ts <folder>`: writes docs/evidence/<version>.md from the results in the folder:
 * tests.json and long.json (`TEST_RESULTS=<file>`), reliability.json and soak.json (`bench:reliability -- --json`). Checks
 * that ran again are in reliability-2.json and so on.
 * Fails if a test named in a table does not exist, did not run or failed.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Finding, format } from '../../bench/reliability/check.ts'
import { type ChecklistRow, readChecklist } from '../../test/support/checklist.ts'
import { readSource } from '../source.ts'
import type { FileResult, TestResults } from '../summary-reporter.ts'

export interface Evidence {
  readonly version: string
  readonly commit: string
  /** Results by the name of the run. */
  readonly tests: Readonly<Record<string, TestResults>>
  /** In the order in which they were measured. A check that ran again replaces its earlier result. */
  readonly figures: readonly [Figures, ...Figures[]]
  readonly soak: Figures | null
}

interface Figures {
  readonly commit: string | null
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string; readonly platform: string }
  readonly results: readonly {
    readonly id: string
    readonly description: string
    readonly findings: readonly Finding[]
    readonly failure: string | null
  }[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** After an event, at most this is lost. The id is that of the promise, in docs/reliability.md or docs/conformance.md. */
const losses: readonly (readonly [event: string, atMost: string, id: string])[] = [
  ['The process is killed, or the power fails', 'no acknowledged change', 'S5'],
  ['The process is killed while it records', '10 s of recorded levels', 'C-12.25'],
  ['The process is killed after a device has reported a value', '1 s of reports', 'S13'],
  ['The process is killed between an alert and its message', 'no message', 'C-14.11'],
  ['The process is killed during an update of the database', 'nothing', 'S11'],
  ['The service is stopped', 'no request that has begun', 'P1'],
  ['The polling process fails while another stands by', '20 s of polls', 'P5'],
  ['The process that sends remote write ends', 'no interval', 'C-12.106'],
  ['The disk is full', 'changes that were refused', 'S2'],
  ['The SQLite database is damaged', 'changes since the last snapshot, at most an hour old', 'S3'],
  ['PostgreSQL restarts', 'changes that were refused', 'S7'],
  ['Redis fails', 'no stored data', 'D2'],
  ['Update from an earlier release', 'nothing', 'C-9.30'],
  ['Return to the release before, with the backup from before the update', 'changes since the backup', 'C-26.29'],
]

/** Returns the document, and what prevents its publication. */
export function describeEvidence(evidence: Evidence): { readonly text: string; readonly problems: readonly string[] } {
  const { version, commit, tests, figures, soak } = evidence
  const { page, rows } = readChecklist('docs/reliability.md', /^([A-Z]\d+|\d\.\d+(\.\d+)?)$/)
  const promises = new Map([...rows, ...readChecklist('docs/conformance.md', /^C-/).rows].map((row) => [row.id, row]))
  const results = new Map(Object.values(tests).flatMap(({ files }) => Object.entries(files)))
  const problems = [
    ...Object.entries(tests).flatMap(([name, run]) => [
      ...(run.commit === commit ? [] : [`${name} ran with commit ${run.commit}, not ${commit}.`]),
      ...(sumOf(run, 'failed') === 0 ? [] : [`${name} has failed tests.`]),
    ]),
    ...losses.flatMap(([event, , id]) => findProblems(event, promises.get(id), results)),
  ]
  const [, hardware = ''] = /^\*\*(.+?)\*\*/m.exec(readFileSync(join(root, 'docs/hardware.md'), 'utf8')) ?? []
  const { cpu, cores, node, platform } = figures[0].machine
  const text = [
    `# Evidence for ${version}`,
    `Tests of commit ${commit}, on ${cores} cores of ${cpu}, ${platform}, Node.js ${node.slice(1)}. Written by \`scripts/release/evidence.ts\`: [Releasing](../releasing.md#evidence).`,
    '## Tests',
    toTable(
      ['Run', 'Files', 'Passed', 'Failed', 'Skipped'],
      Object.entries(tests).map(([name, run]) => [
        name,
        Object.keys(run.files).length,
        ...(['passed', 'failed', 'skipped'] as const).map((key) => sumOf(run, key)),
      ]),
    ),
    '## What is lost',
    toTable(
      ['After this event', 'At most this is lost', 'Promise', 'Tests'],
      losses.map(([event, atMost, id]) => [event, atMost, id, listFiles(promises.get(id))]),
    ),
    '## Attacks and faults tried',
    'The sections of [Reliability](../reliability.md), and how many of their promises all tests confirm.',
    toTable(
      ['Section', 'Promises', 'Confirmed'],
      readSections(page, rows).map(([title, section]) => {
        const isConfirmed = (row: ChecklistRow) => findProblems(row.id, row, results).length === 0
        return [title, section.length, section.filter(isConfirmed).length]
      }),
    ),
    '## Figures',
    listFindings(...figures),
    '## Soak',
    soak === null ? 'Not run for this version.' : listFindings(soak),
    '## Hardware',
    `${hardware} [Supported equipment](../hardware.md)`,
  ].join('\n\n')
  return { text: `${text}\n`, problems }
}

const sumOf = ({ files }: TestResults, key: keyof FileResult) =>
  Object.values(files).reduce((total, file) => total + file[key], 0)

/** Returns why the tests of a promise do not confirm it. */
function findProblems(
  subject: string,
  row: ChecklistRow | undefined,
  results: ReadonlyMap<string, FileResult>,
): readonly string[] {
  if (row === undefined) return [`${subject}: the promise does not exist.`]
  const files = listTests(row)
  if (files.length === 0) return [`${subject}: no test is named.`]
  return files.flatMap((file) => {
    const result = results.get(file)
    if (result === undefined) return [`${subject}: ${file} did not run.`]
    return result.failed + result.skipped === 0 ? [] : [`${subject}: ${file} failed or was skipped.`]
  })
}

/** Returns the third-level sections that have promises. */
function readSections(page: string, rows: readonly ChecklistRow[]): [title: string, rows: readonly ChecklistRow[]][] {
  return page
    .split(/^### /m)
    .slice(1)
    .map((section): [string, readonly ChecklistRow[]] => [
      section.split('\n')[0] ?? '',
      rows.filter(({ id }) => section.includes(`\n| ${id} |`)),
    ])
    .filter(([, section]) => section.length > 0)
}

function listFindings(...figures: readonly Figures[]): string {
  const results = new Map(
    figures.flatMap(({ commit, results }) =>
      results.map((result) => [result.id, { ...result, commit: commit?.slice(0, 10) ?? 'unknown' }]),
    ),
  )
  const rows = [...results.values()].flatMap(({ id, findings, failure, commit }) =>
    failure !== null
      ? [[id, 'could not run', '', '', 'no', commit]]
      : findings.map(({ name, value, unit, target, isMet }) => [
          id,
          name,
          `${format(value)} ${unit}`.trim(),
          `${target} ${unit}`.trim(),
          isMet ? 'yes' : 'no',
          commit,
        ]),
  )
  return [
    toTable(
      ['Id', 'Check'],
      [...results.values()].map(({ id, description }) => [id, description]),
    ),
    toTable(['Id', 'Figure', 'Measured', 'Target', 'Met', 'Commit'], rows),
  ].join('\n\n')
}

/** Without the kits, which the tests of manufacturers run. */
const listTests = ({ files }: ChecklistRow) => files.filter((file) => /\.test\.tsx?$/.test(file))
const listFiles = (row: ChecklistRow | undefined) => (row?.files ?? []).map((file) => `\`${file}\``).join(', ')

function toTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}

function readEvidence(folder: string): Evidence {
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const repeated = readdirSync(folder).filter((name) => /^reliability-\d+\.json$/.test(name))
  return {
    version: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    commit: readSource(root).commit ?? 'unknown',
    tests: { 'npm test': read('tests.json'), 'npm run test:long': read('long.json') },
    figures: [read('reliability.json'), ...repeated.sort().map(read)],
    soak: existsSync(join(folder, 'soak.json')) ? read('soak.json') : null,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('usage: evidence.ts <folder>')
  const evidence = readEvidence(folder)
  const { text, problems } = describeEvidence(evidence)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exit(1)
  mkdirSync(join(root, 'docs/evidence'), { recursive: true })
  writeFileSync(join(root, 'docs/evidence', `${evidence.version}.md`), text)
}
