/**
 * `npm run lint:deployment`: checks the files with which Micwatch is built, installed and monitored. Programs that are
 * missing are installed on Debian as root, and from the npm registry. A check without its program fails in CI; elsewhere
 * it is only named.
 */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findPrometheus } from '../../test/support/prometheus.ts'
import { lintChart } from './chart.ts'
import { lintDockerfile } from './dockerfile.ts'
import { lintResources, parseResources } from './kubernetes.ts'
import { findShellScripts, lintShell } from './shell.ts'
import { lintUnit } from './unit.ts'
import { lintWorkflow } from './workflows.ts'

process.chdir(fileURLToPath(new URL('../..', import.meta.url)))

/** Checks by the files that they read. They return the problems, one a line, and throw if they cannot run. */
const checks: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  '.github/workflows': async () => {
    const workflows = readdirSync('.github/workflows').map((name) => lintWorkflow(`.github/workflows/${name}`))
    return (await Promise.all(workflows)).flat()
  },
  'shell scripts': async () => {
    const scripts = findShellScripts(['.ci', 'deploy', 'scripts'])
    return (await Promise.all(scripts.map((name) => lintShell(name, readFileSync(name, 'utf8'))))).flat()
  },
  'deploy/Dockerfile': () => lintDockerfile('deploy/Dockerfile'),
  'deploy/micwatch.service': () => lintUnit('deploy/micwatch.service'),
  'deploy/prometheus': async () => {
    const args = ['check', 'rules', '--lint=all', '--lint-fatal', 'deploy/prometheus/rules.yaml']
    const { status, stdout, stderr } = spawnSync(await findPrometheus('promtool'), args, { encoding: 'utf8' })
    return status === 0 ? [] : [stdout + stderr]
  },
  'deploy/kubernetes.yaml': async () =>
    lintResources('deploy/kubernetes.yaml', parseResources(readFileSync('deploy/kubernetes.yaml', 'utf8'))),
  'deploy/helm': lintChart,
}

for (const [name, check] of Object.entries(checks)) {
  const [result, isFailed] = await check().then(
    (problems) => [problems.length === 0 ? 'ok' : `\n${problems.join('\n')}`, problems.length > 0],
    (error: Error) => [`not checked: ${error.message}`, process.env.CI === 'true'],
  )
  console.log(`${name}: ${result}`)
  if (isFailed) process.exitCode = 1
}
