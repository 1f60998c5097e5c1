/** Micwatch processes on one house, ready when each shows everything and each that polls has its share. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { ReceiverInData } from '../../src/model/api.ts'
import { type AtEnd, makeFolder, startChild, until } from '../harness.ts'
import { unlimited } from '../reliability/service.ts'
import { systems, type Upstream } from './upstreams.ts'

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const startMs = 60_000

export interface Staffing {
  readonly polling: number
  readonly screens: number
}

export interface House {
  readonly database: string
  readonly redis: string
  readonly upstreams: readonly Upstream[]
}

export interface Node {
  readonly pid: number
  /** Without a final slash. */
  readonly address: string
  /** Of the systems it polls and listens to. */
  readonly codes: readonly string[]
}

export async function openNodes(
  atEnd: AtEnd,
  { polling, screens }: Staffing,
  runtime: House,
): Promise<readonly Node[]> {
  const open = (words: readonly string[]) => openNode(atEnd, runtime, words)
  // The first makes the tables.
  const first = await open([])
  const others = [...Array(polling - 1).fill([]), ...Array(screens).fill(['--no-poll'])]
  const nodes = [first, ...(await Promise.all(others.map(open)))]
  const total = runtime.upstreams.reduce((sum, { simulator }) => sum + simulator.deviceCount, 0)
  for (const { address } of nodes)
    await until(`${address} shows all`, async () => (await shownBy(address)).length === total, startMs)
  const client = new pg.Client({ connectionString: runtime.database })
  await client.connect()
  try {
    await until('everybody who polls has a share', async () => isShared(await listTaken(client), polling), startMs)
    await until(
      'every system is listened to',
      () => runtime.upstreams.every(({ simulator }) => simulator.push.connections > 0),
      startMs,
    )
    // As its own housekeeping would within a minute; this server has none.
    await client.query('vacuum analyze')
    const taken = await listTaken(client)
    return nodes.map(({ pid, address }) => ({
      pid,
      address,
      codes: taken.filter((one) => one.pid === pid).map(({ code }) => code),
    }))
  } finally {
    await client.end()
  }
}

export async function shownBy(address: string): Promise<readonly ReceiverInData[]> {
  const answer = await fetch(`${address}/api/data.json`)
  return ((await answer.json()) as { receivers: ReceiverInData[] }).receivers
}

async function openNode(atEnd: AtEnd, { database, redis, upstreams }: House, words: readonly string[]) {
  const folder = await makeFolder(atEnd)
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
  const place = ['--config', file, '--host', '127.0.0.1', '--port', '0']
  const { pid, said } = await startChild(atEnd, [built, 'serve', '--json', ...place, ...words])
  return { pid, address: String(said.address).replace(/\/$/, '') }
}

interface Taken {
  readonly code: string
  readonly pid: number
  readonly isLink: boolean
}

/** Who polls and who listens to what; an owner is named host:pid:random. */
async function listTaken(client: pg.Client): Promise<readonly Taken[]> {
  const { rows } = await client.query(
    `select source, owner from leases where owner is not null and expires_at > epoch_ms() and source ~ '^(link:)?hall-'`,
  )
  return rows.map(({ source, owner }) => ({
    code: String(source).replace('link:', '').split(':')[0] ?? '',
    pid: Number(String(owner).split(':').at(-2)),
    isLink: String(source).startsWith('link:'),
  }))
}

/** Evenly, and whoever polls a system listens to it: later a link would move while it is measured. */
function isShared(taken: readonly Taken[], polling: number): boolean {
  const polls = taken.filter(({ isLink }) => !isLink)
  const links = taken.filter(({ isLink }) => isLink)
  const isAtHome = ({ code, pid }: Taken) => polls.some((one) => one.code === code && one.pid === pid)
  const counts = [...new Set(polls.map(({ pid }) => pid))].map((pid) => polls.filter((one) => one.pid === pid).length)
  const isEven = counts.length === polling && Math.max(...counts) - Math.min(...counts) <= 1
  return isEven && links.length === systems && links.every(isAtHome)
}
