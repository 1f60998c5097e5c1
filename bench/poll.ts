/**
 * What one polling cycle costs from the upstream's bytes to the database: parse, transform, reconcile, store. Reference:
 * JSON.parse of the same bytes, and SQLite's own upsert of the rows that changed.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import pino from 'pino'
import { readConfig } from '../src/config.ts'
import { createPoller, type Poller } from '../src/monitor/poller.ts'
import { openRuntime, type Runtime } from '../src/runtime.ts'
import { toChannels, toDetail, toTransmitters } from '../src/simulation/device-api.ts'
import { createShow } from '../src/simulation/show.ts'
import { type AtEnd, type Bench, type Figure, makeFolder } from './harness.ts'

const small = 1_000
const large = 10_000
const channelsPerReceiver = 4

export const poll: Bench = {
  name: 'poll',
  runs: 5,
  async open(atEnd) {
    const folder = await makeFolder(atEnd)
    let houses = 0
    const open = (end: AtEnd) => openPolled(end, join(folder, String(houses++)))

    const [quiet, moved] = listBytes(small)
    const [largeQuiet, largeMoved] = listBytes(large, 10)
    const big = await open(atEnd)
    // Code that is not compiled yet is the business of the lines with 1,000.
    for (const bytes of [largeQuiet, largeMoved, largeMoved, largeQuiet]) await big.poll(bytes)
    big.storeBare()
    let isMoved = false

    return {
      async measure() {
        const closers: (() => unknown)[] = []
        const polled = await open((close) => closers.push(close))
        const size = `${small.toLocaleString('en')} × ${channelsPerReceiver}`
        const figures: Figure[] = [
          await compare(polled, `${size}, everything new`, quiet),
          await compare(polled, `${size}, every level changed`, moved),
          await compare(polled, `${size}, nothing changed`, moved, 5),
        ]
        for (const close of closers.reverse()) await close()
        isMoved = !isMoved
        const largeSize = `${large.toLocaleString('en')} × ${channelsPerReceiver}`
        const bytes = isMoved ? largeMoved : largeQuiet
        return [
          ...figures,
          ...(await compareHolds(big, `${largeSize}, 10 % changed`, bytes)),
          ...(await compareHolds(big, `${largeSize}, nothing changed`, bytes)),
        ]
      },
    }
  },
}

/** One cycle, or the mean of several: of what takes a few milliseconds, collecting what others left is else the most. */
async function compare(polled: Polled, name: string, bytes: Buffer, cycles = 1): Promise<Figure> {
  let [ours, reference] = [0, 0]
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    ours += (await cpuMs(() => polled.poll(bytes))) / cycles
    const rows = polled.changedRows()
    const bare = await cpuMs(() => {
      JSON.parse(bytes.toString())
      polled.storeBare(rows)
    })
    reference += bare / cycles
  }
  return { name: `${name}, CPU`, unit: 'ms', ours, reference }
}

async function compareHolds(polled: Polled, name: string, bytes: Buffer): Promise<readonly Figure[]> {
  const ours = await hold(() => polled.poll(bytes))
  const rows = polled.changedRows()
  const reference = await hold(() => {
    JSON.parse(bytes.toString())
    polled.storeBare(rows)
  })
  return [
    { name: `${name}, CPU`, unit: 'ms', ours: ours.cpuMs, reference: reference.cpuMs },
    { name: `${name}, longest hold of the event loop`, unit: 'ms', ours: ours.holdMs, reference: reference.holdMs },
  ]
}

/** CPU time of this whole process meanwhile. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** What it uses, and for how long at a time it lets nothing else run. */
async function hold(work: () => unknown): Promise<{ cpuMs: number; holdMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await sleep(20)
  const usedMs = await cpuMs(work)
  await sleep(20)
  delay.disable()
  return { cpuMs: usedMs, holdMs: delay.max / 1e6 }
}

/** A list as the upstream answers it, and the same with other levels for one receiver in `every`. */
export function listBytes(receivers: number, every = 1): readonly [Buffer, Buffer] {
  const show = createShow({ manufacturers: { shure: receivers }, channelsPerReceiver, story: false })
  const devices = show.devicesAt(0, 'shure').map((state) => ({
    ...toDetail(state),
    channels: toChannels(state),
    transmitters: toTransmitters(state),
  }))
  const louder = <T extends { audio_level: number | null; rf_level: number | null }>(one: T) => ({
    ...one,
    audio_level: (one.audio_level ?? -60) + 1,
    rf_level: (one.rf_level ?? -60) - 1,
  })
  const changed = devices.map((device, at) => {
    if (at % every !== 0) return device
    return { ...device, channels: device.channels.map(louder), transmitters: device.transmitters.map(louder) }
  })
  return [Buffer.from(JSON.stringify({ devices })), Buffer.from(JSON.stringify({ devices: changed }))]
}

const copies = new WeakMap<Buffer, Buffer>()

function copyOf(bytes: Buffer): Buffer {
  const copy = copies.get(bytes) ?? Buffer.from(bytes)
  copies.set(bytes, copy)
  return copy
}

type ChangedRows = Readonly<Record<(typeof tables)[number], readonly Record<string, unknown>[]>>
const tables = ['receivers', 'channels'] as const

interface Polled {
  /** One cycle of the real poller on these bytes, into a real database. */
  poll(bytes: Buffer): Promise<void>
  /** What the last cycle wrote. */
  changedRows(): ChangedRows
  /** The same rows by SQLite alone, into a database of the same form; all there are, unless told. */
  storeBare(rows?: ChangedRows): void
}

export async function openPolled(atEnd: AtEnd, folder: string): Promise<Polled> {
  const runtime = await openEmptyHouse(atEnd, join(folder, 'ours'))
  const bareHouse = await openEmptyHouse(() => {}, join(folder, 'bare'))
  await bareHouse.close()
  const bare = new DatabaseSync(join(folder, 'bare', 'micwatch.db'))
  bare.exec('pragma journal_mode = wal; pragma synchronous = full')
  const reader = new DatabaseSync(join(folder, 'ours', 'micwatch.db'), { readOnly: true })
  atEnd(() => {
    bare.close()
    reader.close()
  })

  let answer: Buffer = Buffer.from('{}')
  const poller = createPollerOf(runtime, () => answer)
  let channelsSeen = 0
  let revisionSeen = 0

  const changedRows = (): ChangedRows => {
    const receivers = reader
      .prepare('select * from receivers where revision > ?')
      .all(revisionSeen) as ChangedRows['receivers']
    const channels = reader.prepare('select * from channels where id > ?').all(channelsSeen) as ChangedRows['channels']
    for (const { revision } of receivers) revisionSeen = Math.max(revisionSeen, Number(revision))
    for (const { id } of channels) channelsSeen = Math.max(channelsSeen, Number(id))
    return { receivers, channels }
  }
  return {
    async poll(bytes) {
      // Other bytes than those of the last answer, as they are when they come from the network.
      answer = answer === bytes ? copyOf(bytes) : bytes
      const { error, errors } = await poller.poll({ signal: new AbortController().signal, intervalMs: 10_000 })
      if (error !== null || errors > 0) throw new Error(`the cycle failed: ${error ?? `${errors} devices`}`)
    },
    changedRows,
    storeBare(rows = changedRows()) {
      bare.exec('begin immediate')
      for (const table of tables) upsert(bare, table, rows[table])
      bare.exec('commit')
    },
  }
}

function upsert(
  database: InstanceType<typeof DatabaseSync>,
  table: string,
  rows: ChangedRows[(typeof tables)[number]],
): void {
  const names = Object.keys(rows[0] ?? {})
  if (names.length === 0) return
  const changes = names.map((name) => `${name} = excluded.${name}`)
  const statement = database.prepare(
    `insert into ${table} (${names}) values (${names.map(() => '?')}) on conflict (id) do update set ${changes}`,
  )
  for (const row of rows) statement.run(...names.map((name) => row[name]))
}

async function openEmptyHouse(atEnd: AtEnd, folder: string): Promise<Runtime> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'micwatch.yaml')
  await writeFile(file, '{}')
  const config = readConfig({ config: file, data_dir: folder }, {})
  const shure = { code: 'shure', config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'none' } }
  const runtime = await openRuntime(config, {
    log: pino({ level: 'silent' }),
    pid: process.pid,
    manufacturers: [shure],
  })
  atEnd(() => runtime.close())
  return runtime
}

/** The product's own poller; only the bytes come from here instead of from the network. */
function createPollerOf({ sources: [heard], ...house }: Runtime, answer: () => Buffer): Poller {
  if (heard === undefined) throw new Error('the house has no source')
  const client: typeof heard.client = {
    ...heard.client,
    request: async (_method, _path, { read } = {}) => {
      const bytes = answer()
      return { status: 200, headers: {}, body: (await read?.(bytes)) ?? JSON.parse(bytes.toString()) }
    },
  }
  const listDevices: typeof heard.listDevices = (signal, before) => heard.adapter.listDevices(client, signal, before)
  const log = pino({ level: 'silent' })
  return createPoller({ ...house, log, now: Date.now }, { ...heard, client, listDevices })
}
