/** `npm run bench:scale`: what several processes on one PostgreSQL and one Redis hold and cost, from one node to four. */

import { parseArgs } from 'node:util'
import { createPostgresDatabase, startPostgres } from '../../test/postgres.ts'
import { prepareRedis } from '../../test/redis-server.ts'
import { type AtEnd, describeMachine, using } from '../harness.ts'
import { prepareBuild } from '../servers.ts'
import { type Load, measure } from './measure.ts'
import { openNodes, type Staffing } from './nodes.ts'
import { formatTable, nameOf } from './table.ts'
import { openUpstreams, type Size, systems } from './upstreams.ts'

/** `screens` show and do not poll. */
const staffings: readonly Staffing[] = [
  { polling: 1, screens: 0 },
  { polling: 2, screens: 0 },
  { polling: 4, screens: 0 },
  { polling: 2, screens: 2 },
]

const help = `npm run bench:scale -- [options]

  --receivers <n>  of each of the ${systems} systems, with four channels each (250)
  --clients <n>    WebSocket clients of each node (20)
  --changes <n>    levels that change a second, over all systems (100)
  --seconds <n>    how long each number of nodes is measured (10)
  --json           one JSON document on standard output
  --help

Starts PostgreSQL, Redis, ${systems} simulated systems and up to four Micwatch processes on this machine, in about two
minutes where nothing else runs. PostgreSQL does not wait for the disk (fsync=off). Exit code 1 when it could not run, whatever the figures.`

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
  const say = (text: string) => (options.json ? console.error(text) : console.log(text))
  const machine = describeMachine()
  say(`${machine.cores} cores of ${machine.cpu}, ${machine.platform}, Node ${machine.node}`)
  const closers: (() => unknown)[] = []
  const atEnd: AtEnd = (close) => closers.push(close)
  try {
    await prepareBuild(say)
    const postgres = await startPostgres()
    atEnd(() => postgres.stop())
    const redis = await prepareRedis()
    atEnd(() => redis.stop())
    await redis.start()
    const results = []
    for (const staffing of staffings) {
      say(`measuring ${nameOf(staffing)} …`)
      results.push(await using((end) => run(end, staffing, options, { postgres: postgres.url, redis: redis.url })))
    }
    if (options.json) console.log(JSON.stringify({ machine, load: options.load, size: options.size, results }, null, 2))
    else console.log(`\n${formatTable(results)}`)
    return 0
  } catch (error) {
    console.error(`THE BENCH CANNOT RUN: ${error instanceof Error ? error.stack : String(error)}`)
    return 1
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** One number of nodes, on an empty database. */
async function run(
  atEnd: AtEnd,
  staffing: Staffing,
  { size, load }: { size: Size; load: Load },
  servers: { postgres: string; redis: string },
) {
  const upstreams = await openUpstreams(atEnd, size)
  const database = await createPostgresDatabase(servers.postgres)
  atEnd(() => database.drop())
  const house = { database: database.url, redis: servers.redis, upstreams }
  const nodes = await openNodes(atEnd, staffing, house)
  return { staffing, ...(await measure(atEnd, nodes, house, load)) }
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
      if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name}: expected a whole number from 1`)
      return value
    }
    const load: Load = { clients: number('clients'), changes: number('changes'), seconds: number('seconds') }
    return { size: { receivers: number('receivers') }, load, json: values.json, help: values.help }
  } catch (error) {
    return `${(error as Error).message}\n\n${help}`
  }
}
