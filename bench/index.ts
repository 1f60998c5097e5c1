/** `npm run bench`: measures the performance of Micwatch and of minimal reference implementations. */

import { parseArgs } from 'node:util'
import { audio } from './audio.ts'
import { change } from './change.ts'
import { crowd } from './crowd.ts'
import { dataJson } from './data-json.ts'
import { devices } from './devices.ts'
import { families } from './families.ts'
import { fanOut } from './fan-out.ts'
import { firstLoad } from './first-load.ts'
import { footprint } from './footprint.ts'
import { frequencies } from './frequencies.ts'
import { gaps } from './gaps.ts'
import { growth } from './growth.ts'
import { type Bench, describeMachine, formatLine, type Line, runBench, tableHead } from './harness.ts'
import { history } from './history.ts'
import { integrations } from './integrations.ts'
import { leaks } from './leaks.ts'
import { notifications } from './notifications.ts'
import { pages } from './pages.ts'
import { poll } from './poll.ts'
import { push } from './push.ts'
import { prepareBuild } from './servers.ts'
import { ulxd } from './ulxd.ts'

const names = [
  'poll',
  'data.json',
  'push',
  'fan-out',
  'gaps',
  'change',
  'devices',
  'families',
  'ulxd',
  'crowd',
  'first-load',
  'footprint',
  'frequencies',
  'growth',
  'history',
  'integrations',
  'leaks',
  'notifications',
  'pages',
  'audio',
]

const help = `npm run bench -- [options]

  --only <name>       ${names.join(', ')}; can be repeated
  --days <n>          days of recorded levels (history), 14 if omitted; fewer only to try it
  --json              print one JSON document with the figures of every run
  --profile <folder>  write a CPU profile of each measured Micwatch process to this folder
  --help

The exit code is 1 if a benchmark could not run. It does not depend on the figures.`

process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') {
    console.error(options)
    return 1
  }
  const { only, json, days, profile } = options
  if (options.help) {
    console.log(help)
    return 0
  }
  const log = (text: string) => (json ? console.error(text) : console.log(text))
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const benches: readonly Bench[] = [
    poll,
    dataJson(nodeOptions),
    push(nodeOptions),
    fanOut(nodeOptions),
    gaps(nodeOptions),
    change(nodeOptions),
    devices(nodeOptions),
    families(nodeOptions),
    ulxd(nodeOptions),
    crowd(nodeOptions),
    firstLoad,
    footprint(nodeOptions),
    frequencies,
    growth(nodeOptions),
    history(days),
    integrations(nodeOptions),
    leaks,
    notifications(nodeOptions),
    pages(nodeOptions),
    audio(nodeOptions),
  ]
  const selected = benches.filter(({ name }) => only.length === 0 || only.includes(name))

  const machine = describeMachine()
  const lines: Line[] = []
  const failed: string[] = []
  if (!json) {
    console.log(`${machine.cores} cores of ${machine.cpu}, ${machine.platform}, Node ${machine.node}`)
    console.log(`Medians of ${selected.map(({ name, runs }) => `${runs} runs (${name})`).join(', ')}`)
  }
  try {
    await prepareBuild(log)
  } catch (error) {
    console.error(`The benchmarks cannot run: ${(error as Error).message}`)
    return 1
  }
  if (!json) console.log(`\n${tableHead}`)
  for (const bench of selected) {
    try {
      const rows = await runBench(bench)
      lines.push(...rows)
      if (!json) for (const line of rows) console.log(formatLine(line))
    } catch (error) {
      failed.push(bench.name)
      console.error(`Benchmark ${bench.name} failed: ${error instanceof Error ? error.stack : String(error)}`)
    }
  }
  if (json) console.log(JSON.stringify({ machine, lines, failed }, null, 2))
  return failed.length === 0 ? 0 : 1
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        days: { type: 'string', default: '14' },
        json: { type: 'boolean', default: false },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    const { only = [], json = false, help: wantsHelp = false, profile } = values
    const days = Number(values.days)
    if (!Number.isInteger(days) || days < 1) return '--days: expected a whole number from 1.'
    const unknown = only.find((name) => !names.includes(name))
    if (unknown !== undefined) return `Unknown benchmark: ${unknown}. Available benchmarks: ${names.join(', ')}.`
    return { only, days, json, help: wantsHelp, profile }
  } catch (error) {
    return `${(error as Error).message}\n\n${help}`
  }
}
