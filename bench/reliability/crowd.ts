/** L4, L5, L6, L8: many WebSocket clients, one that does not read, and more than can be sent. */

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import type { ReceiverInData } from '../../src/model/api.ts'
import { type AtEnd, atRate, makeFolder, percentile, until } from '../harness.ts'
import { watchHealth } from '../health-watch.ts'
import { type Change, clientFrame, openClient, openRelay, toChanges, upstreamFrame } from '../push.ts'
import { countFrames, openSocket } from '../wire-socket.ts'
import { atLeast, atMost, type Check, type Finding, none } from './check.ts'
import { residentBytes } from './fuzz/report.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

interface Stage {
  readonly service: Service
  readonly changes: readonly Change[]
  push(change: Change, level: number): void
}

/** A service whose upstream says only what the bench has it say. */
async function setStage(atEnd: AtEnd, receivers: number): Promise<Stage> {
  const simulator = await startShureSimulator({ ...plainShow, receivers, channelsPerReceiver: 4 })
  atEnd(() => simulator.close())
  const folder = await makeFolder(atEnd)
  const service = await startService(atEnd, folder, { manufacturers: [entryOf(simulator, { poll_interval: 3600 })] })
  const shown = async () => (await service.get('/api/data.json')).json.receivers as ReceiverInData[]
  await until('all are known', async () => (await shown()).length === receivers)
  await until('the link is up', async () => {
    if (simulator.push.connections > 0) return true
    // On a busy machine the first cycle may be cut short, and the next one is an hour away.
    await service.post('/api/refresh/')
    return false
  })
  const changes = toChanges(simulator.show.devicesAt(0, simulator.manufacturer), await shown())
  return { service, changes, push: (change, level) => simulator.push.send(upstreamFrame(change, level)) }
}

/** Open, a few at a time; each counts its frames. */
async function openMany(
  atEnd: AtEnd,
  address: string,
  total: number,
): Promise<{ sockets: Socket[]; counts: number[] }> {
  const sockets: Socket[] = []
  const counts = Array<number>(total).fill(0)
  atEnd(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (let from = 0; from < total; from += 100) {
    const some = await Promise.all(Array.from({ length: Math.min(100, total - from) }, () => openSocket(address)))
    for (const socket of some) {
      const nth = sockets.push(socket) - 1
      countFrames(socket, (count) => {
        counts[nth] = (counts[nth] ?? 0) + count
      })
    }
  }
  return { sockets, counts }
}

/** How long until so many percent, and all, have one more frame than before; in ms. */
async function spread(counts: readonly number[], send: () => void): Promise<{ most: number; all: number }> {
  const before = [...counts]
  const startedAt = performance.now()
  send()
  const have = () => counts.filter((count, nth) => count > (before[nth] ?? 0)).length
  let most = 0
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    const share = have() / counts.length
    if (most === 0 && share >= 0.99) most = performance.now() - startedAt
    if (share === 1) return { most, all: performance.now() - startedAt }
    if (performance.now() - startedAt > 20_000) throw new Error(`only ${have()} of ${counts.length} clients were told`)
  }
}

/** How long each waited for its pongs, in ms, asking once a second; whoever still waits asks no more, and counts with it. */
async function timePongs(sockets: readonly Socket[], seconds: number): Promise<number[]> {
  const times: number[] = []
  const askedAt = new Map<Socket, number>()
  const heard = (socket: Socket) => {
    const since = askedAt.get(socket)
    if (since !== undefined) times.push(performance.now() - since)
    askedAt.delete(socket)
  }
  for (const socket of sockets) socket.on('data', () => heard(socket))
  for (let second = 0; second < seconds; second++) {
    for (const socket of sockets) {
      if (askedAt.has(socket)) continue
      askedAt.set(socket, performance.now())
      socket.write(pingFrame('{"type":"ping"}'))
    }
    await sleep(1000)
  }
  for (const socket of askedAt.keys()) heard(socket)
  return times
}

const pingFrame = (text: string) =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])

export const crowd: Check = {
  id: 'L4',
  what: '5,000 clients: connected, kept, cheap, answered; one change reaches all of them (L5)',
  isQuick: true,
  async run(atEnd, { isQuick }) {
    const total = isQuick ? 500 : 5000
    const { service, changes, push } = await setStage(atEnd, 10)
    const before = (await residentBytes(service.pid)) ?? 0
    const startedAt = performance.now()
    const { sockets, counts } = await openMany(atEnd, `${service.address}/ws`, total)
    const connectedMs = performance.now() - startedAt
    const each = (((await residentBytes(service.pid)) ?? 0) - before) / total / 1024
    await until('all are greeted', () => counts.every((count) => count > 0))

    const sampled = Array.from({ length: 50 }, (_, nth) => sockets[Math.floor((nth * total) / 50)] as Socket)
    const pongs = await timePongs(sampled, isQuick ? 5 : 120)
    const lost = sockets.filter((socket) => socket.destroyed || socket.readableEnded).length

    const relay = await openRelay(atEnd)
    const spreads = { ours: [] as { most: number; all: number }[], bare: [] as { most: number; all: number }[] }
    for (let round = 0; round < 20; round++) {
      spreads.ours.push(await spread(counts, () => push(changes[0] as Change, -90 + round)))
      await sleep(200)
    }
    for (const socket of sockets.splice(0)) socket.destroy()
    const bare = await openMany(atEnd, relay.address, total)
    for (let round = 0; round < 20; round++) {
      spreads.bare.push(await spread(bare.counts, () => relay.send(clientFrame(changes[0] as Change, -90 + round))))
      await sleep(200)
    }
    const slowest = (kind: 'ours' | 'bare') => Math.max(...spreads[kind].map(({ all }) => all))
    const usual = (kind: 'ours' | 'bare') =>
      percentile(
        spreads[kind].map(({ all }) => all),
        50,
      )
    return [
      atMost(`${total} clients connected`, connectedMs / 1000, 15, 's'),
      none(
        'clients lost',
        Array.from({ length: lost }, () => 'a client was lost'),
        () => {},
      ),
      atMost('memory of each', each, 20, 'KiB'),
      atMost('99 % of pongs', percentile(pongs, 99), 250, 'ms'),
      atMost(
        'L5: one change, 99 % of the clients (slowest)',
        Math.max(...spreads.ours.map(({ most }) => most)),
        1000,
        'ms',
      ),
      atMost('L5: one change, all clients (slowest)', slowest('ours'), 2000, 'ms', slowest('bare')),
      atMost('L5: one change, all clients (median)', usual('ours'), 4 * usual('bare'), 'ms', usual('bare')),
    ]
  },
}

export const pausedClient: Check = {
  id: 'L6',
  what: 'a client that does not read does not hurt the others',
  async run(atEnd, { isQuick }) {
    const { service, changes, push } = await setStage(atEnd, 100)
    const { counts } = await openMany(atEnd, `${service.address}/ws`, 20)
    const seconds = isQuick ? 3 : 15
    const before = await delays(counts, changes, push, seconds)
    const sleeper = await openSocket(`${service.address}/ws`)
    atEnd(() => sleeper.destroy())
    sleeper.pause()
    const memoryBefore = (await residentBytes(service.pid)) ?? 0
    const after = await delays(counts, changes, push, seconds)
    const grown = (((await residentBytes(service.pid)) ?? 0) - memoryBefore) / 2 ** 20
    const [calm, hurt] = [percentile(before, 99), percentile(after, 99)]
    return [
      atMost('99 % of deliveries to the others', hurt, Math.max(1.5 * calm, calm + 20), 'ms', calm),
      atMost('memory it costs', grown, 64, 'MiB'),
    ]
  },
}

/** One change at a time, again and again, while much else changes; how long until all have it, in ms. */
async function delays(
  counts: readonly number[],
  changes: readonly Change[],
  push: Stage['push'],
  seconds: number,
): Promise<number[]> {
  const times: number[] = []
  let round = 0
  const endsAt = performance.now() + seconds * 1000
  while (performance.now() < endsAt) {
    round += 1
    const level = -90 + (round % 60)
    // Of all but the first, which is the one that is timed.
    for (const change of changes.slice(1)) push(change, level)
    times.push((await spread(counts, () => push(changes[0] as Change, level))).all)
    await sleep(110)
  }
  return times
}

export const saturation: Check = {
  id: 'L8',
  what: '300 clients, 50 then 100 receivers change every second: delivered, then coalesced, never queued without end',
  async run(atEnd, { isQuick }) {
    const { service, changes, push } = await setStage(atEnd, 100)
    const { sockets, counts } = await openMany(atEnd, `${service.address}/ws`, 300)
    const readers = await openReaders(atEnd, `${service.address.replace('http', 'ws')}/ws`, 5)
    const seconds = isQuick ? 3 : 15
    const before = (await residentBytes(service.pid)) ?? 0
    const ours: { receivers: number; rate: number; answerMs: number; oldest: number }[] = []
    for (const receivers of [50, 100]) {
      const asking = watchHealth(service.port, '/api/receivers/')
      atEnd(() => asking.close())
      const rate = await framesPerSecond(counts, receivers, seconds, (at) => {
        const change = changes[at] as Change
        push(change, readers.nextLevel(change.receiver.id))
      })
      ours.push({ receivers, rate, answerMs: percentile(await asking.end(), 99), oldest: readers.oldest() })
    }
    const grown = (((await residentBytes(service.pid)) ?? 0) - before) / 2 ** 20
    for (const socket of sockets) socket.destroy()

    const relay = await openRelay(atEnd)
    const bare = await openMany(atEnd, relay.address, 300)
    const findings: Finding[] = []
    for (const { receivers, rate, answerMs, oldest } of ours) {
      const send = (at: number) => relay.send(clientFrame(changes[at] as Change, lowestLevel))
      const reference = await framesPerSecond(bare.counts, receivers, seconds, send)
      // So many were asked for; what was not delivered was replaced by something newer.
      const least = Math.max(Math.min(15_000, receivers * 300 * 0.9), 0.3 * reference)
      findings.push(atLeast(`frames, ${receivers} receivers`, rate, least, '/s', reference))
      findings.push(atMost(`oldest value a client shows, ${receivers} receivers`, oldest, 2, 'cycles'))
      findings.push(atMost(`99 % of REST answers, ${receivers} receivers`, answerMs, 500, 'ms'))
    }
    return [...findings, atMost('memory it costs', grown, 100, 'MiB')]
  },
}

const lowestLevel = -90

/** Clients that read what they are told. A receiver's level rises by one each time, so a value tells its age in cycles. */
async function openReaders(atEnd: AtEnd, address: string, total: number) {
  const shown = await Promise.all(
    Array.from({ length: total }, async () => {
      const own = new Map<number, number>()
      const client = await openClient(atEnd, address)
      client.on('message', (message) => {
        const { type, receiver_id, data } = JSON.parse(String(message))
        if (type === 'device_update') own.set(receiver_id, data.channels[0].rf_level)
      })
      return own
    }),
  )
  const newest = new Map<number, number>()
  let oldest = 0
  const compare = (id: number, level: number) => {
    for (const own of shown) oldest = Math.max(oldest, level - (own.get(id) ?? lowestLevel - 1))
  }
  return {
    /** To be sent at once; whoever does not show the one before by now is counted as that far behind. */
    nextLevel(id: number): number {
      const before = newest.get(id)
      if (before !== undefined) compare(id, before)
      const level = before === undefined ? lowestLevel : before + 1
      newest.set(id, level)
      return level
    },
    /** How many cycles the oldest value was behind that any of them showed so far. */
    oldest(): number {
      for (const [id, level] of newest) compare(id, level)
      return oldest
    },
  }
}

/** Delivered to all clients together, while each of the receivers changes once a second. */
async function framesPerSecond(
  counts: readonly number[],
  receivers: number,
  seconds: number,
  send: (at: number) => void,
): Promise<number> {
  const sum = () => counts.reduce((total, count) => total + count, 0)
  const from = sum()
  await atRate(receivers, seconds, (nth) => send(nth % receivers))
  await sleep(500)
  return (sum() - from) / seconds
}
