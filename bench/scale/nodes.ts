/**
 * Starts Micwatch processes that share one database, and waits until each shows all receivers and the systems are
 * evenly assigned.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { type AtEnd, createTempFolder, startChild, waitFor } from '../harness.ts'
import { unlimited } from '../reliability/service.ts'
import { programPath } from '../servers.ts'
import { systems, type Upstream } from './upstreams.ts'

const startTimeoutMs = 60_000

export interface Topology {
  readonly pollingNodes: number
  readonly displayNodes: number
}

export interface Deployment {
  readonly database: string
  readonly redis: string
  readonly upstreams: readonly Upstream[]
}

export interface Node {
  readonly pid: number
  /** Without a trailing slash. */
  readonly address: string
  /** Manufacturer codes of the systems that the node polls and subscribes to. */
  readonly codes: readonly string[]
}

export async function openNodes(
  atEnd: AtEnd,
  { pollingNodes, displayNodes }: Topology,
  deployment: Deployment,
): Promise<readonly Node[]> {
  const open = (extraArgs: readonly string[]) => openNode(atEnd, deployment, extraArgs)
  // The first process creates the tables.
  const first = await open([])
  const others = [...Array(pollingNodes - 1).fill([]), ...Array(displayNodes).fill(['--no-poll'])]
  const nodes = [first, ...(await Promise.all(others.map(open)))]
  const total = deployment.upstreams.reduce((sum, { simulator }) => sum + simulator.deviceCount, 0)
  for (const { address } of nodes)
    await waitFor(
      `${address} shows all receivers`,
      async () => (await readReceivers(address)).length === total,
      startTimeoutMs,
    )
  const client = new pg.Client({ connectionString: deployment.database })
  await client.connect()
  try {
    await waitFor(
      'the systems are evenly assigned to the polling nodes',
      async () => isBalanced(await listLeases(client), pollingNodes),
      startTimeoutMs,
    )
    await waitFor(
      'every system has a subscription',
      () => deployment.upstreams.every(({ simulator }) => simulator.push.connections > 0),
      startTimeoutMs,
    )
    // In production, autovacuum would do this within a minute, but this PostgreSQL server runs without it.
    await client.query('vacuum analyze')
    const leases = await listLeases(client)
    return nodes.map(({ pid, address }) => ({
      pid,
      address,
      codes: leases.filter((lease) => lease.pid === pid).map(({ code }) => code),
    }))
  } finally {
    await client.end()
  }
}

export async function readReceivers(address: string): Promise<readonly ReceiverInData[]> {
  const response = await fetch(`${address}/api/data.json`)
  return ((await response.json()) as { receivers: ReceiverInData[] }).receivers
}

async function openNode(atEnd: AtEnd, { database, redis, upstreams }: Deployment, extraArgs: readonly string[]) {
  const folder = await createTempFolder(atEnd)
  const file = join(folder, 'micwatch.yaml')
  const config = {
    database_url: database,
    redis_url: redis,
    secret_key: '5c'.repeat(32),
    data_dir: join(folder, 'data'),
    rate_limit: unlimited,
    manufacturers: upstreams.map(({ entry }) => entry),
  }
  await writeFile(file, JSON.stringify(config))
  const listenArgs = ['--config', file, '--host', '127.0.0.1', '--port', '0']
  const { pid, output } = await startChild(atEnd, [programPath, 'serve', '--json', ...listenArgs, ...extraArgs])
  return { pid, address: String(output.address).replace(/\/$/, '') }
}

interface LeaseRow {
  readonly code: string
  readonly pid: number
  readonly isSubscription: boolean
}

/** Returns the current leases for polling and for subscriptions; an owner has the form host:pid:random. */
async function listLeases(client: pg.Client): Promise<readonly LeaseRow[]> {
  const { rows } = await client.query(
    `select source, owner from leases where owner is not null and expires_at > epoch_ms() and source ~ '^(link:)?hall-'`,
  )
  return rows.map(({ source, owner }) => ({
    code: String(source).replace('link:', '').split(':')[0] ?? '',
    pid: Number(String(owner).split(':').at(-2)),
    isSubscription: String(source).startsWith('link:'),
  }))
}

/**
 * True if the systems are evenly assigned and each node subscribes to the systems it polls. Otherwise a subscription
 * would move to another node during the measurement.
 */
function isBalanced(leases: readonly LeaseRow[], polling: number): boolean {
  const polls = leases.filter(({ isSubscription }) => !isSubscription)
  const subscriptions = leases.filter(({ isSubscription }) => isSubscription)
  const isPolledBySameNode = ({ code, pid }: LeaseRow) =>
    polls.some((lease) => lease.code === code && lease.pid === pid)
  const counts = [...new Set(polls.map(({ pid }) => pid))].map(
    (pid) => polls.filter((lease) => lease.pid === pid).length,
  )
  const isEven = counts.length === polling && Math.max(...counts) - Math.min(...counts) <= 1
  return isEven && subscriptions.length === systems && subscriptions.every(isPolledBySameNode)
}
