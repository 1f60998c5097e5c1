/**
 * `npm run bench:scale`: capacity and cost of one to four processes that share one PostgreSQL and one Redis server, of
 * levels between them, and of an installation that follows many sites.
 */

import { parseArgs } from 'node:util'
import { createPostgresDatabase, startPostgres } from '../../test/support/store/postgres.ts'
import { prepareRedis } from '../../test/support/store/redis-server.ts'
import { type AtEnd, describeMachine, withCleanup } from '../harness.ts'
import { prepareBuild } from '../servers.ts'
import { type LevelLoad, measureLevels, measureOneNode } from './levels.ts'
import { type Load, measure } from './measure.ts'
import { type Deployment, type Node, openNodes, type Topology } from './nodes.ts'
import { measureSites, type SiteLoad } from './sites.ts'
import { formatLevels, formatSites, formatTable, formatTopology } from './table.ts'
import { openUpstreams, type Size, systems } from './upstreams.ts'

/** Display nodes serve clients and do not poll. */
const topologies: readonly Topology[] = [
  { pollingNodes: 1, displayNodes: 0 },
  { pollingNodes: 2, displayNodes: 0 },
  { pollingNodes: 4, displayNodes: 0 },
  { pollingNodes: 2, displayNodes: 2 },
]

/** Two nodes do not poll, because only such nodes can show nothing. */
const levelTopologies = [
  [{ pollingNodes: 1, displayNodes: 0 }, measureOneNode],
  [{ pollingNodes: 2, displayNodes: 2 }, measureLevels],
] as const

const parts = ['nodes', 'levels', 'sites'] as const
type Part = (typeof parts)[number]

const receiversOfSite = 50

const help = `npm run bench:scale -- [options]

  --part <name>    measure only this part: nodes, levels or sites
  --receivers <n>  receivers of each of the ${systems} systems, with four channels each (250)
  --clients <n>    WebSocket clients of each node (20)
  --changes <n>    changed levels per second, over all systems (100)
  --samples <n>    levels of a channel per second, over all systems, in the part levels (8000)
  --sites <n>      followed sites of 50 receivers each, in the part sites (500)
  --seconds <n>    duration of each measurement (10)
  --json           print one JSON document on standard output
  --help

Starts PostgreSQL, Redis, ${systems} simulated systems and up to four Micwatch processes on this machine. Takes about
eight minutes on an idle machine. PostgreSQL runs with fsync=off. The exit code is 1 if the benchmark could not run. It
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
    const results = await measureParts(atEnd, options, log)
    if (options.json) console.log(JSON.stringify({ machine, options, ...results }, null, 2))
    return 0
  } catch (error) {
    console.error(`The benchmark cannot run: ${error instanceof Error ? error.stack : String(error)}`)
    return 1
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

interface Options {
  /** Null stands for all parts. */
  readonly part: Part | null
  readonly size: Size
  readonly load: Load
  readonly levels: LevelLoad
  readonly sites: SiteLoad
}

/** Measures the parts, and logs the table of each when it is complete. */
async function measureParts(atEnd: AtEnd, options: Options, log: (text: string) => void) {
  const isWanted = (part: Part) => options.part === null || options.part === part
  const servers = isWanted('nodes') || isWanted('levels') ? await startServers(atEnd) : null
  const openDeployment = (topology: Topology, run: (open: Opened) => Promise<void>) =>
    withCleanup(async (atRunEnd) => {
      if (servers === null) return
      log(`Measuring ${formatTopology(topology)} …`)
      await run(await openTopology(atRunEnd, topology, options.size, servers))
    })
  const nodes: ({ topology: Topology } & Awaited<ReturnType<typeof measure>>)[] = []
  if (isWanted('nodes')) {
    for (const topology of topologies) {
      await openDeployment(topology, async (opened) => {
        nodes.push({ topology, ...(await measure(opened.atEnd, opened.nodes, opened.deployment, options.load)) })
      })
    }
    log(`\n${formatTable(nodes)}\n`)
  }
  const levels: Awaited<ReturnType<typeof measureLevels>>[number][] = []
  if (isWanted('levels')) {
    for (const [topology, measureTopology] of levelTopologies) {
      await openDeployment(topology, async (opened) => {
        levels.push(...(await measureTopology(opened.atEnd, opened.nodes, opened.deployment, options.levels)))
      })
    }
    log(`\n${formatLevels(levels)}\n`)
  }
  if (!isWanted('sites')) return { nodes, levels, sites: null }
  log(`Measuring ${options.sites.sites} followed sites …`)
  const sites = await withCleanup((atRunEnd) => measureSites(atRunEnd, options.sites))
  log(`\n${formatSites(sites)}\n`)
  return { nodes, levels, sites }
}

interface Servers {
  readonly postgres: string
  readonly redis: string
}

async function startServers(atEnd: AtEnd): Promise<Servers> {
  const postgres = await startPostgres()
  atEnd(() => postgres.stop())
  const redis = await prepareRedis()
  atEnd(() => redis.stop())
  await redis.start()
  return { postgres: postgres.url, redis: redis.url }
}

interface Opened {
  readonly atEnd: AtEnd
  readonly nodes: readonly Node[]
  readonly deployment: Deployment
}

/** Starts the processes of a topology on an empty database. */
async function openTopology(atEnd: AtEnd, topology: Topology, size: Size, servers: Servers): Promise<Opened> {
  const upstreams = await openUpstreams(atEnd, size)
  const database = await createPostgresDatabase(servers.postgres)
  atEnd(() => database.drop())
  const deployment = { database: database.url, redis: servers.redis, upstreams }
  return { atEnd, deployment, nodes: await openNodes(atEnd, topology, deployment) }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        receivers: { type: 'string', default: '250' },
        clients: { type: 'string', default: '20' },
        changes: { type: 'string', default: '100' },
        seconds: { type: 'string', default: '10' },
        samples: { type: 'string', default: '8000' },
        sites: { type: 'string', default: '500' },
        part: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const number = (name: 'receivers' | 'clients' | 'changes' | 'seconds' | 'samples' | 'sites') => {
      const value = Number(values[name])
      if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name}: expected an integer of at least 1`)
      return value
    }
    const part = parts.find((name) => name === values.part) ?? null
    if (part === null && values.part !== undefined) throw new Error(`--part: expected ${parts.join(', ')}`)
    const seconds = number('seconds')
    const options: Options = {
      part,
      size: { receivers: number('receivers') },
      load: { clients: number('clients'), changes: number('changes'), seconds },
      levels: { samplesPerSecond: number('samples'), seconds },
      sites: { sites: number('sites'), receivers: receiversOfSite, seconds },
    }
    return { ...options, json: values.json, help: values.help }
  } catch (error) {
    return `${(error as Error).message}\n\n${help}`
  }
}
