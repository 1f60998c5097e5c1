/** One number of nodes under load: what each uses, how long a change takes to whose client, what the servers carry. */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type AtEnd, atRate, cpuOf, percentile } from '../harness.ts'
import { type Change, toChanges, upstreamFrame } from '../push.ts'
import { residentBytes } from '../reliability/fuzz/report.ts'
import { countFrames, openSocket } from '../wire-socket.ts'
import { type House, type Node, shownBy } from './nodes.ts'
import { openServerCounts } from './server-counts.ts'

export interface Load {
  /** Of each node. */
  readonly clients: number
  /** Levels a second, over all systems. */
  readonly changes: number
  readonly seconds: number
}

interface NodeFigures {
  /** Of the systems it polls. */
  readonly devices: number
  readonly channels: number
  readonly clients: number
  readonly frames_per_second: number
  /** Of one core. */
  readonly cpu_percent: number | null
  readonly resident_mb: number | null
  /** Of one system, on average; null where it polls none. */
  readonly poll_ms: number | null
}

interface Taken {
  readonly p50_ms: number
  readonly p99_ms: number
}

export interface Measured {
  readonly nodes: readonly NodeFigures[]
  /** From before the upstream's write to the client's message: of the node that listens, and of others. */
  readonly own: Taken
  readonly other: Taken | null
  /** Changes that a client was not told of within ten seconds of the last. */
  readonly missed: number
  readonly servers: Readonly<Record<string, number>>
}

export async function measure(atEnd: AtEnd, nodes: readonly Node[], runtime: House, load: Load): Promise<Measured> {
  const changes = await listChanges(nodes, runtime)
  const watches = await Promise.all(nodes.map((node) => watchNode(atEnd, node, load.clients)))
  // Every receiver once, so that what a first change brings with it (a transmitter that is new) is over.
  await send(changes, { perSecond: 500, seconds: changes.length / 500 })
  await sleep(2000)

  const counts = await openServerCounts(atEnd, runtime)
  const readings = await Promise.all(watches.map((watch) => watch.read()))
  const before = await counts.read()
  const startedAt = performance.now()
  const sent = await send(changes, { perSecond: load.changes, seconds: load.seconds })
  const elapsed = (performance.now() - startedAt) / 1000
  const after = await Promise.all(watches.map((watch) => watch.read()))
  await sleep(1500)
  const servers = counts.since(before, await counts.read(), elapsed + 1.5)
  const deadline = performance.now() + 10_000
  const missed = () => sent.size * nodes.length - watches.reduce((sum, { told }) => sum + countTold(told, sent), 0)
  while (missed() > 0 && performance.now() < deadline) await sleep(100)

  const times = { own: [] as number[], other: [] as number[] }
  for (const [at, node] of nodes.entries()) collect(times, sent, watches[at]?.told, node)
  return {
    nodes: nodes.map((node, at) => toFigures(node, runtime, load, { before: readings[at], after: after[at], elapsed })),
    own: toTaken(times.own),
    other: times.other.length === 0 ? null : toTaken(times.other),
    missed: missed(),
    servers,
  }
}

type Marked = Change & { readonly code: string; send(text: string): void }

/** One of every receiver, the systems in turn. */
async function listChanges([first]: readonly Node[], { upstreams }: House): Promise<readonly Marked[]> {
  if (first === undefined) throw new Error('there is no node')
  const shown = await shownBy(first.address)
  const lists = upstreams.map(({ code, simulator }) =>
    toChanges(simulator.show.devicesAt(0), shown).map((change) => ({ ...change, code, send: simulator.push.send })),
  )
  return (lists[0] ?? []).flatMap((_, at) => lists.flatMap((list) => list[at] ?? []))
}

interface Sent {
  readonly at: number
  readonly code: string
}

let round = 0

/** Levels go round, so that each sending of a receiver can be told from the last. By receiver and level. */
async function send(
  changes: readonly Marked[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<ReadonlyMap<string, Sent>> {
  const sent = new Map<string, Sent>()
  await atRate(perSecond, seconds, (nth) => {
    const change = changes[nth % changes.length] as Marked
    if (nth % changes.length === 0) round += 1
    const level = -90 + (round % 60)
    sent.set(`${change.receiver.id}:${level}`, { at: performance.now(), code: change.code })
    change.send(upstreamFrame(change, level))
  })
  return sent
}

/** One client that reads what it is told, the rest count frames. */
async function watchNode(atEnd: AtEnd, { pid, address }: Node, clients: number) {
  const url = `${address.replace('http', 'ws')}/ws`
  let frames = 0
  for (let nth = 1; nth < clients; nth += 1) {
    const socket = await openSocket(url)
    atEnd(() => socket.destroy())
    countFrames(socket, (count) => {
      frames += count
    })
  }
  const client = new WebSocket(url, { perMessageDeflate: false })
  atEnd(() => client.terminate())
  await once(client, 'open')
  const told = new Map<string, number>()
  client.on('message', (data) => {
    frames += 1
    const { type, receiver_id, data: change } = JSON.parse(String(data))
    const key = `${receiver_id}:${change?.channels?.[0]?.rf_level}`
    if (type === 'device_update' && !told.has(key)) told.set(key, performance.now())
  })
  const read = async () => ({
    frames,
    cpuMs: await cpuOf(pid),
    bytes: await residentBytes(pid),
    ...(await polls(address)),
  })
  return { told, read }
}

/** How many cycles, and how long they took together. */
async function polls(address: string): Promise<{ cycles: number; cycleSeconds: number }> {
  const text = await (await fetch(`${address}/metrics`)).text()
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^micwatch_poll_duration_seconds_${name}\\{.*\\} (\\S+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    )
  return { cycles: sum('count'), cycleSeconds: sum('sum') }
}

type Reading = Awaited<ReturnType<Awaited<ReturnType<typeof watchNode>>['read']>>

function toFigures(
  { codes }: Node,
  { upstreams }: House,
  { clients }: Load,
  { before, after, elapsed }: { before: Reading | undefined; after: Reading | undefined; elapsed: number },
): NodeFigures {
  if (before === undefined || after === undefined) throw new Error('a node was not read')
  const own = upstreams.filter(({ code }) => codes.includes(code))
  const states = own.flatMap(({ simulator }) => simulator.show.devicesAt(0))
  const cycles = after.cycles - before.cycles
  const hasCpu = before.cpuMs !== null && after.cpuMs !== null
  return {
    devices: states.length,
    channels: states.reduce((sum, { channels }) => sum + channels.length, 0),
    clients,
    frames_per_second: (after.frames - before.frames) / elapsed,
    cpu_percent: hasCpu ? (Number(after.cpuMs) - Number(before.cpuMs)) / elapsed / 10 : null,
    resident_mb: after.bytes === null ? null : after.bytes / 1e6,
    poll_ms: cycles === 0 ? null : ((after.cycleSeconds - before.cycleSeconds) / cycles) * 1000,
  }
}

function countTold(told: ReadonlyMap<string, number>, sent: ReadonlyMap<string, Sent>): number {
  let count = 0
  for (const [key, { at }] of sent) if ((told.get(key) ?? 0) >= at) count += 1
  return count
}

function collect(
  times: { own: number[]; other: number[] },
  sent: ReadonlyMap<string, Sent>,
  told: ReadonlyMap<string, number> | undefined,
  { codes }: Node,
): void {
  for (const [key, { at, code }] of sent) {
    const arrived = told?.get(key)
    if (arrived !== undefined && arrived >= at) times[codes.includes(code) ? 'own' : 'other'].push(arrived - at)
  }
}

function toTaken(times: readonly number[]): Taken {
  return { p50_ms: percentile(times, 50), p99_ms: percentile(times, 99) }
}
