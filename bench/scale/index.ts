/** `npm run bench:scale`: capacity and cost of one to four processes that share one PostgreSQL and one Redis server. */

import { parseArgs } from 'node:util'
import { createPostgresDatabase, startPostgres } from '../../test/postgres.ts'
import { prepareRedis } from '../../test/redis-server.ts'
import { type AtEnd, describeMachine, withCleanup } from '../harness.ts'
import { prepareBuild } from '../servers.ts'
import { type Load, measure } from './measure.ts'
import { openNodes, type Topology } from './nodes.ts'
import { formatTable, formatTopology } from './table.ts'
import { openUpstreams, type Size, systems } from './upstreams.ts'

/** Display nodes serve clients and do not poll. */
const topologies: readonly Topology[] = [
  { pollingNodes: 1, displayNodes: 0 },
  { pollingNodes: 2, displayNodes: 0 },
  { pollingNodes: 4, displayNodes: 0 },
  { pollingNodes: 2, displayNodes: 2 },
]

const help = `npm run bench:scale -- [options]

  --receivers <n>  receivers of each of the ${systems} systems, with four channels each (250)
  --clients <n>    WebSocket clients of each node (20)
  --changes <n>    changed levels per second, over all systems (100)
  --seconds <n>    duration of each measurement (10)
  --json           print one JSON document on standard output
  --help

Starts PostgreSQL, Redis, ${systems} simulated systems and up to four Micwatch processes on this machine. Takes about
two minutes on an idle machine. PostgreSQL runs with fsync=off. The exit code is 1 if the benchmark could not run. It
does not depend on the figures.`

process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') {
    console.error(options)
    return 1
  }
  if (options.help) {
    console.log(help)
    return 0
  }
  const log = (text: string) => (options.json ? console.error(text) : console.log(text))
  const machine = describeMachine()
  log(`${machine.cores} cores of ${machine.cpu}, ${machine.platform}, Node ${machine.node}`)
  const closers: (() => unknown)[] = []
  const atEnd: AtEnd = (close) => closers.push(close)
  try {
    await prepareBuild(log)
    const postgres = await startPostgres()
    atEnd(() => postgres.stop())
    const redis = await prepareRedis()
    atEnd(() => redis.stop())
    await redis.start()
    const results = []
    for (const topology of topologies) {
      log(`Measuring ${formatTopology(topology)} …`)
      results.push(
        await withCleanup((atRunEnd) => run(atRunEnd, topology, options, { postgres: postgres.url, redis: redis.url })),
      )
    }
    if (options.json) console.log(JSON.stringify({ machine, load: options.load, size: options.size, results }, null, 2))
    else console.log(`\n${formatTable(results)}`)
    return 0
  } catch (error) {
    console.error(`The benchmark cannot run: ${error instanceof Error ? error.stack : String(error)}`)
    return 1
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** Measures one topology on an empty database. */
async function run(
  atEnd: AtEnd,
  topology: Topology,
  { size, load }: { size: Size; load: Load },
  servers: { postgres: string; redis: string },
) {
  const upstreams = await openUpstreams(atEnd, size)
  const database = await createPostgresDatabase(servers.postgres)
  atEnd(() => database.drop())
  const deployment = { database: database.url, redis: servers.redis, upstreams }
  const nodes = await openNodes(atEnd, topology, deployment)
  return { topology, ...(await measure(atEnd, nodes, deployment, load)) }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        receivers: { type: 'string', default: '250' },
        clients: { type: 'string', default: '20' },
        changes: { type: 'string', default: '100' },
        seconds: { type: 'string', default: '10' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const number = (name: 'receivers' | 'clients' | 'changes' | 'seconds') => {
      const value = Number(values[name])
      if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name}: expected an integer of at least 1`)
      return value
    }
    const load: Load = { clients: number('clients'), changes: number('changes'), seconds: number('seconds') }
    return { size: { receivers: number('receivers') }, load, json: values.json, help: values.help }
  } catch (error) {
    return `${(error as Error).message}\n\n${help}`
  }
}
