/**
 * The cost of levels: CPU time per sample of nodes that poll, show or do not show them, and the traffic through Redis.
 * A sample is one report of the levels of one channel.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type AtEnd, atRate, cpuTimeMs, residentBytes } from '../harness.ts'
import { openClient } from '../push.ts'
import type { Deployment, Node } from './nodes.ts'
import { openServerCounts } from './server-counts.ts'

/** For each node, the systems that its client shows. */
interface Audience {
  readonly name: string
  readonly systems: readonly (readonly string[])[]
}

export interface LevelFigures {
  readonly name: string
  readonly samples_per_second: number
  /** For each node, the CPU time of all its threads per sample of the installation, in µs. */
  readonly cpu_us_per_sample: readonly number[]
  readonly resident_mb: readonly number[]
  /** Received and sent by Redis, per sample. */
  readonly redis_in_bytes: number
  readonly redis_out_bytes: number
}

export interface LevelLoad {
  readonly samplesPerSecond: number
  readonly seconds: number
}

const settleMs = 3_000
/**
 * Before the first measurement, a node receives levels for 30 s after a request that returned them, for instance during
 * the start of the nodes. The first levels also change conditions.
 */
const warmUpSeconds = 35

/** Measures one node: a client shows the levels of all systems. */
export function measureOneNode(atEnd: AtEnd, nodes: readonly Node[], deployment: Deployment, load: LevelLoad) {
  const audiences = [{ name: 'a client shows all systems', systems: [codesOf(deployment)] }]
  return measureAudiences(atEnd, nodes, deployment, load, audiences)
}

/** Measures nodes of which the last two do not poll, with an increasing number of clients there. */
export function measureLevels(atEnd: AtEnd, nodes: readonly Node[], deployment: Deployment, load: LevelLoad) {
  const all = codesOf(deployment)
  const unshown = Array.from({ length: nodes.length - 2 }, () => [])
  return measureAudiences(atEnd, nodes, deployment, load, [
    { name: 'no client', systems: [] },
    { name: 'one node shows one system', systems: [...unshown, all.slice(0, 1)] },
    { name: 'one node shows all systems', systems: [...unshown, all] },
    { name: 'two nodes show all systems', systems: [...unshown, all, all] },
  ])
}

const codesOf = ({ upstreams }: Deployment) => upstreams.map(({ code }) => code)

async function measureAudiences(
  atEnd: AtEnd,
  nodes: readonly Node[],
  deployment: Deployment,
  load: LevelLoad,
  audiences: readonly Audience[],
): Promise<readonly LevelFigures[]> {
  await sendSamples(deployment, { ...load, seconds: warmUpSeconds })
  const counts = await openServerCounts(atEnd, deployment)
  const read = async () => ({
    at: performance.now(),
    counts: await counts.read(),
    cpuMs: await Promise.all(nodes.map(async ({ pid }) => (await cpuTimeMs(pid)) ?? Number.NaN)),
  })
  /** Measures an interval in which `samplesPerSecond` samples are sent. */
  const measure = async (samplesPerSecond: number) => {
    const before = await read()
    const sent = await sendSamples(deployment, { ...load, samplesPerSecond })
    const after = await read()
    const seconds = (after.at - before.at) / 1000
    const cpuMsPerSecond = after.cpuMs.map((value, index) => (value - (before.cpuMs[index] ?? Number.NaN)) / seconds)
    return { rate: sent / seconds, cpuMsPerSecond, servers: counts.since(before.counts, after.counts, seconds) }
  }
  const results: LevelFigures[] = []
  for (const { name, systems } of audiences) {
    const closers: (() => unknown)[] = []
    for (const [index, codes] of systems.entries()) {
      const address = nodes[index]?.address.replace('http', 'ws')
      for (const code of codes)
        await openClient((close) => closers.push(close), `${address}/ws?protocol=2&manufacturer=${code}`)
    }
    await sleep(settleMs)
    // The base load of the nodes with the same clients.
    const idle = await measure(0)
    await sendSamples(deployment, { ...load, seconds: 1 })
    const busy = await measure(load.samplesPerSecond)
    const perSample = (key: string) => (((busy.servers[key] ?? 0) - (idle.servers[key] ?? 0)) * 1000) / busy.rate
    results.push({
      name,
      samples_per_second: busy.rate,
      cpu_us_per_sample: nodes.map(
        (_, index) => (((busy.cpuMsPerSecond[index] ?? 0) - (idle.cpuMsPerSecond[index] ?? 0)) * 1000) / busy.rate,
      ),
      resident_mb: await Promise.all(nodes.map(async ({ pid }) => ((await residentBytes(pid)) ?? Number.NaN) / 1e6)),
      redis_in_bytes: perSample('redis_in_kb_per_second'),
      redis_out_bytes: perSample('redis_out_kb_per_second'),
    })
    for (const close of closers) await close()
    await sleep(settleMs)
  }
  return results
}

let round = 0

/**
 * Sends the levels of all channels of one receiver after another, without changing a condition. Returns the number of
 * samples.
 */
async function sendSamples({ upstreams }: Deployment, { samplesPerSecond, seconds }: LevelLoad): Promise<number> {
  const lists = upstreams.map(({ simulator }) => ({ simulator, devices: simulator.show.devicesAt(0) }))
  const channelCount = lists[0]?.devices[0]?.channels.length ?? 1
  if (samplesPerSecond === 0) {
    await sleep(seconds * 1000)
    return 0
  }
  let sent = 0
  await atRate(samplesPerSecond / channelCount, seconds, (index) => {
    const { simulator, devices } = lists[index % lists.length] ?? { devices: [] }
    const turn = Math.floor(index / lists.length)
    const device = devices[turn % devices.length]
    if (simulator === undefined || device === undefined) return
    if (index % (lists.length * devices.length) === 0) round += 1
    const levels = device.channels.map((_, channel) => {
      const level = -60 + ((round + channel * 7) % 20)
      return { channel: channel + 1, audio_level: level, rf_level: level }
    })
    const message = { type: 'device_update', device_id: device.device.id, channels: levels, transmitters: levels }
    simulator.push.send(JSON.stringify(message))
    sent += levels.length
  })
  return sent
}
