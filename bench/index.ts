/** `npm run bench`: how fast it is, each figure beside the least that could do the same. */

import { parseArgs } from 'node:util'
import { dataJson } from './data-json.ts'
import { fanOut } from './fan-out.ts'
import { flat } from './flat.ts'
import { gaps } from './gaps.ts'
import { growth } from './growth.ts'
import { type Bench, describeMachine, formatLine, type Line, runBench, tableHead } from './harness.ts'
import { house } from './house.ts'
import { pages } from './pages.ts'
import { poll } from './poll.ts'
import { push } from './push.ts'
import { prepareBuild } from './servers.ts'

const names = ['poll', 'data.json', 'push', 'fan-out', 'gaps', 'house', 'growth', 'flat', 'pages']

const help = `npm run bench -- [options]

  --only <name>       ${names.join(', ')}; may be given more than once
  --json              one JSON document on standard output, with every run
  --profile <folder>  the served Micwatch writes a CPU profile there
  --help

Exit code 1 when a bench could not run, whatever the figures.`

process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') {
    console.error(options)
    return 1
  }
  const { only, json, profile } = options
  if (options.help) {
    console.log(help)
    return 0
  }
  const say = (text: string) => (json ? console.error(text) : console.log(text))
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const benches: readonly Bench[] = [
    poll,
    dataJson(nodeOptions),
    push(nodeOptions),
    fanOut(nodeOptions),
    gaps(nodeOptions),
    house(nodeOptions),
    growth(nodeOptions),
    flat,
    pages(nodeOptions),
  ]
  const chosen = benches.filter(({ name }) => only.length === 0 || only.includes(name))

  const machine = describeMachine()
  const lines: Line[] = []
  const failed: string[] = []
  if (!json) {
    console.log(`${machine.cores} cores of ${machine.cpu}, ${machine.platform}, Node ${machine.node}`)
    console.log(`medians of ${chosen.map(({ name, runs }) => `${runs} runs (${name})`).join(', ')}`)
  }
  try {
    await prepareBuild(say)
  } catch (error) {
    console.error(`THE BENCHES CANNOT RUN: ${(error as Error).message}`)
    return 1
  }
  if (!json) console.log(`\n${tableHead}`)
  for (const bench of chosen) {
    try {
      const measured = await runBench(bench)
      lines.push(...measured)
      if (!json) for (const line of measured) console.log(formatLine(line))
    } catch (error) {
      failed.push(bench.name)
      console.error(`BENCH ${bench.name} CANNOT RUN: ${error instanceof Error ? error.stack : String(error)}`)
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
        json: { type: 'boolean', default: false },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    const { only = [], json = false, help: wantsHelp = false, profile } = values
    const unknown = only.find((name) => !names.includes(name))
    if (unknown !== undefined) return `No bench is called ${unknown}; there are ${names.join(', ')}.`
    return { only, json, help: wantsHelp, profile }
  } catch (error) {
    return `${(error as Error).message}\n\n${help}`
  }
}
