/** scripts/release/evidence.ts describes the results of a release, and refuses results that prove nothing. */

import { describe, expect, it } from 'vitest'
import { describeEvidence, type Evidence } from '../scripts/release/evidence.ts'
import { readChecklist } from './support/checklist.ts'

const passed = { passed: 2, failed: 0, skipped: 0 }
const rows = ['docs/reliability.md', 'docs/conformance.md'].flatMap((page) => readChecklist(page, /^[A-Z\d]/).rows)
const files = Object.fromEntries(rows.flatMap((row) => row.files.map((file) => [file, passed])))
const machine = { cpu: 'Test', cores: 2, node: 'v20.0.0', platform: 'linux x64' }
const finding = { name: 'lost', value: 4.94, unit: 's', target: '≤ 10', isMet: true }
const evidence: Evidence = {
  version: '9.9.9',
  commit: 'c0ffee',
  tests: { 'npm test': { errors: 0, commit: 'c0ffee', files } },
  figures: [
    {
      commit: 'facade',
      machine,
      results: [
        { id: 'H1', description: 'recording', findings: [finding], failure: null },
        { id: 'Z1', description: 'fuzzing', findings: [{ ...finding, isMet: false }], failure: null },
      ],
    },
    { commit: 'decade', machine, results: [{ id: 'Z1', description: 'fuzzing', findings: [finding], failure: null }] },
  ],
  soak: null,
}

// Conformance: C-26.30.
describe('the evidence of a release', () => {
  it('lists tests, losses with their tests, faults, figures, soak and hardware', () => {
    const { text, problems } = describeEvidence(evidence)
    expect(problems).toEqual([])
    const count = Object.keys(files).length
    expect(text).toContain(`| npm test | ${count} | ${2 * count} | 0 | 0 |`)
    expect(text).toContain(
      '| The process is killed while it records | 10 s of recorded levels | C-12.25 | `test/history-crash.long.test.ts` |',
    )
    expect(text).toMatch(/^\| 2\.4 The database \| (\d+) \| \1 \|$/m)
    expect(text).toContain('Tests of commit c0ffee, on 2 cores of Test')
    expect(text).toContain('| H1 | recording |')
    expect(text).toContain('| H1 | lost | 4.94 s | ≤ 10 s | yes | facade |')
    expect(text.match(/^\| Z1 .*$/gm)).toEqual(['| Z1 | fuzzing |', '| Z1 | lost | 4.94 s | ≤ 10 s | yes | decade |'])
    expect(text).toContain('Not run for this version.')
    expect(text).toContain('We have tested none of this on real hardware.')
  })

  it('is refused if a named test failed, was skipped or did not run, or if the results are of another commit', () => {
    const name = 'test/history-crash.long.test.ts'
    const describeWithout = (file: string, result: object = {}) => {
      const others = Object.entries(files).filter(([each]) => each !== file)
      const results = { ...Object.fromEntries(others), ...result }
      return describeEvidence({ ...evidence, tests: { 'npm test': { errors: 0, commit: 'c0ffee', files: results } } })
    }
    const event = 'The process is killed while it records'
    expect(describeWithout(name, { [name]: { ...passed, failed: 1 } }).problems).toEqual([
      'npm test has failed tests.',
      `${event}: ${name} failed or was skipped.`,
    ])
    expect(describeWithout(name, { [name]: { ...passed, skipped: 1 } }).problems).toEqual([
      `${event}: ${name} failed or was skipped.`,
    ])
    expect(describeWithout(name).problems).toEqual([`${event}: ${name} did not run.`])
    expect(describeWithout('test/faults/store.long.test.ts').text).not.toMatch(
      /^\| 2\.4 The database \| (\d+) \| \1 \|$/m,
    )
    expect(describeEvidence({ ...evidence, commit: 'decaf' }).problems).toEqual([
      'npm test ran with commit c0ffee, not decaf.',
    ])
  })
})
