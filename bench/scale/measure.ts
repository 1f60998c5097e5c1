/** Measures one topology under load: resources of each node, latency of changes, load on PostgreSQL and Redis. */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type AtEnd, atRate, cpuTimeMs, percentile, residentBytes } from '../harness.ts'
import { type Change, toChanges, upstreamFrame } from '../push.ts'
import { countFrames, openRawWebSocket } from '../raw-websocket.ts'
import { type Deployment, type Node, readReceivers } from './nodes.ts'
import { openServerCounts } from './server-counts.ts'

export interface Load {
  /** Clients per node. */
  readonly clients: number
  /** Changed levels per second, over all systems. */
  readonly changes: number
  readonly seconds: number
}

interface NodeFigures {
  /** The number of devices of the systems that the node polls. */
  readonly devices: number
  readonly channels: number
  readonly clients: number
  readonly frames_per_second: number
  /** Percent of one core. */
  readonly cpu_percent: number | null
  readonly resident_mb: number | null
  /** Mean time of one polling cycle of one system; null if the node polls no system. */
  readonly poll_ms: number | null
}

interface Latency {
  readonly p50_ms: number
  readonly p99_ms: number
}

export interface Measured {
  readonly nodes: readonly NodeFigures[]
  /** Time from the upstream's write until the message has arrived at a client of the node that polls the upstream. */
  readonly sameNode: Latency
  /** The same latency for clients of the other nodes; null if there is only one node. */
  readonly otherNode: Latency | null
  /** Changes that a client had not received ten seconds after the last change. */
  readonly missed: number
  readonly servers: Readonly<Record<string, number>>
}

export async function measure(
  atEnd: AtEnd,
  nodes: readonly Node[],
  deployment: Deployment,
  load: Load,
): Promise<Measured> {
  const changes = await listChanges(nodes, deployment)
  const nodeClients = await Promise.all(nodes.map((node) => openNodeClients(atEnd, node, load.clients)))
  // Changes every receiver once before the measurement, because the first change also adds a transmitter.
  await send(changes, { perSecond: 500, seconds: changes.length / 500 })
  await sleep(2000)

  const counts = await openServerCounts(atEnd, deployment)
  const readings = await Promise.all(nodeClients.map((clients) => clients.read()))
  const before = await counts.read()
  const startedAt = performance.now()
  const sent = await send(changes, { perSecond: load.changes, seconds: load.seconds })
  const elapsed = (performance.now() - startedAt) / 1000
  const after = await Promise.all(nodeClients.map((clients) => clients.read()))
  await sleep(1500)
  const servers = counts.since(before, await counts.read(), elapsed + 1.5)
  const deadline = performance.now() + 10_000
  const countMissed = () =>
    sent.size * nodes.length - nodeClients.reduce((sum, { receivedAt }) => sum + countReceived(receivedAt, sent), 0)
  while (countMissed() > 0 && performance.now() < deadline) await sleep(100)

  const times = { sameNode: [] as number[], otherNode: [] as number[] }
  for (const [index, node] of nodes.entries()) collectLatencies(times, sent, nodeClients[index]?.receivedAt, node)
  return {
    nodes: nodes.map((node, index) =>
      toFigures(node, deployment, load, { before: readings[index], after: after[index], elapsed }),
    ),
    sameNode: toLatency(times.sameNode),
    otherNode: times.otherNode.length === 0 ? null : toLatency(times.otherNode),
    missed: countMissed(),
    servers,
  }
}

type SourcedChange = Change & { readonly code: string; send(text: string): void }

/** Returns one change for every receiver, alternating between the systems. */
async function listChanges([first]: readonly Node[], { upstreams }: Deployment): Promise<readonly SourcedChange[]> {
  if (first === undefined) throw new Error('The list of nodes is empty.')
  const shown = await readReceivers(first.address)
  const lists = upstreams.map(({ code, simulator }) =>
    toChanges(simulator.show.devicesAt(0), shown).map((change) => ({ ...change, code, send: simulator.push.send })),
  )
  return (lists[0] ?? []).flatMap((_, index) => lists.flatMap((list) => list[index] ?? []))
}

interface Sent {
  readonly sentAt: number
  readonly code: string
}

let round = 0

/**
 * Sends changes and returns them by receiver id and level. Levels repeat in a cycle, so that consecutive changes
 * differ.
 */
async function send(
  changes: readonly SourcedChange[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<ReadonlyMap<string, Sent>> {
  const sent = new Map<string, Sent>()
  await atRate(perSecond, seconds, (index) => {
    const change = changes[index % changes.length] as SourcedChange
    if (index % changes.length === 0) round += 1
    const level = -90 + (round % 60)
    sent.set(`${change.receiver.id}:${level}`, { sentAt: performance.now(), code: change.code })
    change.send(upstreamFrame(change, level))
  })
  return sent
}

/** Opens `clients` clients: one parses its messages, the others only count frames. */
async function openNodeClients(atEnd: AtEnd, { pid, address }: Node, clients: number) {
  const url = `${address.replace('http', 'ws')}/ws`
  let frames = 0
  for (let index = 1; index < clients; index += 1) {
    const socket = await openRawWebSocket(url)
    atEnd(() => socket.destroy())
    countFrames(socket, (count) => {
      frames += count
    })
  }
  const client = new WebSocket(url, { perMessageDeflate: false })
  atEnd(() => client.terminate())
  await once(client, 'open')
  const receivedAt = new Map<string, number>()
  client.on('message', (data) => {
    frames += 1
    const { type, receiver_id, data: change } = JSON.parse(String(data))
    const key = `${receiver_id}:${change?.channels?.[0]?.rf_level}`
    if (type === 'device_update' && !receivedAt.has(key)) receivedAt.set(key, performance.now())
  })
  const read = async () => ({
    frames,
    cpuMs: await cpuTimeMs(pid),
    bytes: await residentBytes(pid),
    ...(await readPollCounters(address)),
  })
  return { receivedAt, read }
}

/** Reads the number of polling cycles so far, and their total duration. */
async function readPollCounters(address: string): Promise<{ cycles: number; cycleSeconds: number }> {
  const text = await (await fetch(`${address}/metrics`)).text()
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^micwatch_poll_duration_seconds_${name}\\{.*\\} (\\S+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    )
  return { cycles: sum('count'), cycleSeconds: sum('sum') }
}

type Reading = Awaited<ReturnType<Awaited<ReturnType<typeof openNodeClients>>['read']>>

function toFigures(
  { codes }: Node,
  { upstreams }: Deployment,
  { clients }: Load,
  { before, after, elapsed }: { before: Reading | undefined; after: Reading | undefined; elapsed: number },
): NodeFigures {
  if (before === undefined || after === undefined) throw new Error('A reading of a node is missing.')
  const polledUpstreams = upstreams.filter(({ code }) => codes.includes(code))
  const states = polledUpstreams.flatMap(({ simulator }) => simulator.show.devicesAt(0))
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

function countReceived(receivedAt: ReadonlyMap<string, number>, sent: ReadonlyMap<string, Sent>): number {
  let count = 0
  for (const [key, { sentAt }] of sent) if ((receivedAt.get(key) ?? 0) >= sentAt) count += 1
  return count
}

function collectLatencies(
  times: { sameNode: number[]; otherNode: number[] },
  sent: ReadonlyMap<string, Sent>,
  receivedAt: ReadonlyMap<string, number> | undefined,
  { codes }: Node,
): void {
  for (const [key, { sentAt, code }] of sent) {
    const arrived = receivedAt?.get(key)
    if (arrived !== undefined && arrived >= sentAt)
      times[codes.includes(code) ? 'sameNode' : 'otherNode'].push(arrived - sentAt)
  }
}

function toLatency(times: readonly number[]): Latency {
  return { p50_ms: percentile(times, 50), p99_ms: percentile(times, 99) }
}
