/** The checks of `npm run lint:deployment` find errors, and fail in CI if they cannot run. */

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { lintDockerfile } from '../scripts/lint/dockerfile.ts'
import { lintResources, parseResources } from '../scripts/lint/kubernetes.ts'
import { lintShell } from '../scripts/lint/shell.ts'
import { lintUnit } from '../scripts/lint/unit.ts'
import { lintWorkflow } from '../scripts/lint/workflows.ts'
import { createTestFolder } from './support/store/databases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Writes a changed copy of a file of the repository, and returns its path. */
async function change(path: string, from: string | RegExp, to: string): Promise<string> {
  const folder = await createTestFolder()
  onTestFinished(folder.drop)
  const text = await readFile(join(root, path), 'utf8')
  expect(text).toMatch(from)
  const copy = join(folder.path, path.replace(/^.*\//, ''))
  await writeFile(copy, text.replace(from, to))
  return copy
}

// Conformance: C-26.27.
it.each([
  ['an unknown key', 'timeout-minutes: 90', 'timeout-minute: 90', "Unexpected value 'timeout-minute'"],
  ['an action that is not pinned', / # v7.*/, '', 'pin the action to a commit'],
  ['a job that does not exist', 'needs: check', 'needs: chekc', "'chekc'"],
  ['an unknown expression', 'matrix.runner', 'matrx.runner', "Unrecognized named-value: 'matrx'"],
  ['an expression in a script', 'run: npm ci', `run: echo '$\{{ github.ref }}'`, 'build, step 4: pass the expression'],
  [
    'a script with an error',
    'mkdir digests && touch',
    'mkdir digests; touch $X; touch',
    'image, step 6:1: note: Double',
  ],
])('a workflow with %s is refused', async (_, from, to, problem) => {
  const problems = await lintWorkflow(await change('.github/workflows/release.yml', from, to))
  expect(problems.join('\n')).toContain(problem)
})

// Conformance: C-26.27.
it('a shell script, a Dockerfile, a unit and a Kubernetes resource with errors are refused', async () => {
  expect(await lintShell('copy', '#!/bin/sh\n[[ -f $1 ]] && rm $1\n')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^copy:2: .*SC(3010|2039)/)]),
  )
  expect(await lintDockerfile(await change('deploy/Dockerfile', '--interval', '--intervl'))).toEqual([
    expect.stringMatching(/Dockerfile:\d+: Unknown flag: intervl/),
  ])
  expect(await lintUnit(await change('deploy/micwatch.service', 'Restart=always', 'Restrat=always'))).toEqual([
    expect.stringContaining("'Restrat'"),
  ])
  const open = await change('deploy/micwatch.service', 'PrivateDevices=yes\n', '')
  const text = (await readFile(open, 'utf8')).replace(/^(Protect|Restrict|Private|SystemCall|Capability).*\n/gm, '')
  await writeFile(open, text)
  expect(await lintUnit(open)).toEqual([expect.stringContaining('exposure level')])
  for (const [to, problem] of [
    ['replica: 2', 'does not exist in type'],
    ["replicas: '2'", "Type 'string' is not assignable"],
  ] as const) {
    const text = await readFile(await change('deploy/kubernetes.yaml', 'replicas: 2', to), 'utf8')
    expect(lintResources('copy', parseResources(text))).toEqual([
      expect.stringMatching(new RegExp(`^copy: Deployment micwatch-screens: .*${problem}`)),
    ])
  }
})

// Conformance: C-26.27.
it('a check without its program fails in CI, and is named elsewhere', async () => {
  const lint = (CI: string) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/lint/index.ts'], {
      cwd: root,
      env: { PATH: '/nonexistent', CI },
    }).catch((error: { stdout: string; code: number }) => error)
  const printed = expect.stringMatching(/^shell scripts: not checked: .*shellcheck/m)
  const [inCi, elsewhere] = await Promise.all([lint('true'), lint('')])
  expect(inCi).toMatchObject({ code: 1, stdout: printed })
  expect(elsewhere).toMatchObject({ stdout: printed, stderr: '' })
})
