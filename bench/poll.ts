/**
 * The cost of one polling cycle from the upstream's response to the database: parse, transform, reconcile, store.
 * Reference: JSON.parse of the same bytes and a plain SQLite upsert of the rows that changed.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import pino from 'pino'
import { toChannels, toDetail, toTransmitters } from '../simulators/show/device-api.ts'
import { createShow } from '../simulators/show/show.ts'
import { readConfig } from '../src/config.ts'
import { Service } from '../src/service.ts'
import { Poller } from '../src/sources/poller.ts'
import { type AtEnd, type Bench, createTempFolder, type Figure } from './harness.ts'

const smallSize = 1_000
const largeSize = 10_000
const channelsPerReceiver = 4
/** An even number, so that the last one leaves the changed levels. */
const laterCycles = 6

export const poll: Bench = {
  name: 'poll',
  runs: 5,
  async open(atEnd) {
    const folder = await createTempFolder(atEnd)
    let folderCount = 0
    const open = (atRunEnd: AtEnd) => openPollFixture(atRunEnd, join(folder, String(folderCount++)))

    const [original, changed] = listBytes(smallSize)
    const [largeOriginal, largeChanged] = listBytes(largeSize, 10)
    const largeFixture = await open(atEnd)
    // Warm-up: the figures for 10,000 receivers must not include compilation. (Those for 1,000 receivers include it.)
    for (const bytes of [largeOriginal, largeChanged, largeChanged, largeOriginal]) await largeFixture.poll(bytes)
    largeFixture.writeReference(largeFixture.changedRows(largeSize))
    let isChanged = false

    return {
      async measure() {
        const closers: (() => unknown)[] = []
        const fixture = await open((close) => closers.push(close))
        const size = `${smallSize.toLocaleString('en')} × ${channelsPerReceiver}`
        const figures: Figure[] = [
          await compareCpu(
            fixture,
            `${size}, everything new`,
            () => fixture.pollAndSettle(original),
            original,
            smallSize,
          ),
          await compareCpu(
            fixture,
            `${size}, every level changed`,
            () => fixture.pollAndSettle(changed),
            changed,
            smallSize,
          ),
          await compareCpu(
            fixture,
            `${size}, every level changed, later cycles`,
            (cycle) => fixture.pollAndSettle(cycle % 2 === 0 ? original : changed),
            changed,
            smallSize,
            laterCycles,
          ),
          await compareCpu(fixture, `${size}, nothing changed`, () => fixture.poll(changed), changed, 0, 5),
        ]
        for (const close of closers.reverse()) await close()
        isChanged = !isChanged
        const largeTitle = `${largeSize.toLocaleString('en')} × ${channelsPerReceiver}`
        const bytes = isChanged ? largeChanged : largeOriginal
        return [
          ...figures,
          ...(await compareWithDelay(largeFixture, `${largeTitle}, 10 % changed`, bytes, largeSize / 10)),
          ...(await compareWithDelay(largeFixture, `${largeTitle}, nothing changed`, bytes, 0)),
        ]
      },
    }
  },
}

/**
 * Measures one cycle, or the mean of several, because garbage collection would dominate a single cycle of a few
 * milliseconds.
 */
async function compareCpu(
  fixture: PollFixture,
  name: string,
  poll: (cycle: number) => Promise<void>,
  bytes: Buffer,
  changedReceivers: number,
  cycles = 1,
): Promise<Figure> {
  let [ours, reference] = [0, 0]
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    ours += (await measureCpuMs(() => poll(cycle))) / cycles
    const rows = fixture.changedRows(changedReceivers)
    const bare = await measureCpuMs(() => {
      JSON.parse(bytes.toString())
      fixture.writeReference(rows)
    })
    reference += bare / cycles
  }
  return { name: `${name}, CPU`, unit: 'ms', ours, reference }
}

async function compareWithDelay(
  fixture: PollFixture,
  name: string,
  bytes: Buffer,
  changedReceivers: number,
): Promise<readonly Figure[]> {
  const ours = await measureBlocking(() => fixture.pollAndSettle(bytes))
  const rows = fixture.changedRows(changedReceivers)
  const reference = await measureBlocking(() => {
    JSON.parse(bytes.toString())
    fixture.writeReference(rows)
  })
  return [
    { name: `${name}, CPU`, unit: 'ms', ours: ours.cpuMs, reference: reference.cpuMs },
    { name: `${name}, longest event loop delay`, unit: 'ms', ours: ours.blockedMs, reference: reference.blockedMs },
  ]
}

/** Includes all threads of this process. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Also measures the longest time for which the event loop was blocked. */
async function measureBlocking(work: () => unknown): Promise<{ cpuMs: number; blockedMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await sleep(20)
  const usedMs = await measureCpuMs(work)
  await sleep(20)
  delay.disable()
  return { cpuMs: usedMs, blockedMs: delay.max / 1e6 }
}

/** Returns the upstream's device list, and the same list with other levels for every nth receiver (`every`). */
export function listBytes(receivers: number, every = 1): readonly [Buffer, Buffer] {
  const show = createShow({ manufacturers: { shure: receivers }, channelsPerReceiver, story: false })
  const devices = show.devicesAt(0, 'shure').map((state) => ({
    ...toDetail(state),
    channels: toChannels(state),
    transmitters: toTransmitters(state),
  }))
  const changeLevels = <T extends { audio_level: number | null; rf_level: number | null }>(levels: T) => ({
    ...levels,
    audio_level: (levels.audio_level ?? -60) + 1,
    rf_level: (levels.rf_level ?? -60) - 1,
  })
  const changed = devices.map((device, index) => {
    if (index % every !== 0) return device
    return {
      ...device,
      channels: device.channels.map(changeLevels),
      transmitters: device.transmitters.map(changeLevels),
    }
  })
  return [Buffer.from(JSON.stringify({ devices })), Buffer.from(JSON.stringify({ devices: changed }))]
}

const copies = new WeakMap<Buffer, Buffer>()

function copyOf(bytes: Buffer): Buffer {
  const copy = copies.get(bytes) ?? Buffer.from(bytes)
  copies.set(bytes, copy)
  return copy
}

type ChangedRows = Readonly<Record<keyof typeof primaryKeys, readonly Record<string, unknown>[]>>
/** The tables that a cycle writes. */
const primaryKeys = { receivers: 'id', channels: 'id', channel_conditions: 'channel_id' } as const

/** A cycle may wait for the database for half of this time, which is enough for 10,000 new receivers. */
const intervalMs = 60_000
/** Conditions are evaluated in the frame after a report, and are stored 0.3 s later. */
const settleMs = 500

interface PollFixture {
  /** Runs one cycle of the real poller on these bytes, into a real database. */
  poll(bytes: Buffer): Promise<void>
  /** Runs one cycle, and waits until the conditions that it changes are stored. */
  pollAndSettle(bytes: Buffer): Promise<void>
  /**
   * Returns the rows that were written since the last call, and at least the rows of as many receivers as the upstream
   * has changed. The service stores levels only once a minute; the reference stores them after each cycle.
   */
  changedRows(changedReceivers: number): ChangedRows
  /** Writes rows with plain SQLite into a database with the same schema. */
  writeReference(rows: ChangedRows): void
}

export async function openPollFixture(atEnd: AtEnd, folder: string): Promise<PollFixture> {
  const service = await openEmptyRuntime(atEnd, join(folder, 'ours'))
  const bareRuntime = await openEmptyRuntime(() => {}, join(folder, 'bare'))
  await bareRuntime.close()
  const bare = new DatabaseSync(join(folder, 'bare', 'micwatch.db'))
  bare.exec('pragma journal_mode = wal; pragma synchronous = full')
  const reader = new DatabaseSync(join(folder, 'ours', 'micwatch.db'), { readOnly: true })
  atEnd(() => {
    bare.close()
    reader.close()
  })

  let nextResponse: Buffer = Buffer.from('{}')
  const poller = createOfflinePoller(service, () => nextResponse)
  let lastChannelId = 0
  let lastRevision = 0

  const rowsAfter = (table: keyof ChangedRows, column: string, value: number) =>
    reader.prepare(`select * from ${table} where ${column} > ?`).all(value) as ChangedRows[keyof ChangedRows]
  const changedRows: PollFixture['changedRows'] = (changedReceivers) => {
    const written = rowsAfter('receivers', 'revision', lastRevision)
    const first = reader.prepare('select * from receivers order by id limit ?').all(changedReceivers)
    const receivers = written.length >= changedReceivers ? written : (first as typeof written)
    const channels = rowsAfter('channels', 'id', lastChannelId)
    const channel_conditions = rowsAfter('channel_conditions', 'revision', lastRevision)
    for (const { revision } of [...written, ...channel_conditions])
      lastRevision = Math.max(lastRevision, Number(revision))
    for (const { id } of channels) lastChannelId = Math.max(lastChannelId, Number(id))
    return { receivers, channels, channel_conditions }
  }
  const poll: PollFixture['poll'] = async (bytes) => {
    // The same buffer is never used twice in a row, because data from the network would be in a new one.
    nextResponse = nextResponse === bytes ? copyOf(bytes) : bytes
    const { error, errors } = await poller.poll({ signal: new AbortController().signal, intervalMs })
    if (error !== null || errors > 0) throw new Error(`The polling cycle failed: ${error ?? `${errors} devices`}`)
  }
  return {
    poll,
    async pollAndSettle(bytes) {
      await poll(bytes)
      await sleep(settleMs)
    },
    changedRows,
    writeReference(rows) {
      bare.exec('begin immediate')
      for (const table of ['receivers', 'channels', 'channel_conditions'] as const) upsert(bare, table, rows[table])
      bare.exec('commit')
    },
  }
}

function upsert(
  database: InstanceType<typeof DatabaseSync>,
  table: keyof ChangedRows,
  rows: ChangedRows[keyof ChangedRows],
): void {
  const names = Object.keys(rows[0] ?? {})
  if (names.length === 0) return
  const changes = names.map((name) => `${name} = excluded.${name}`)
  const statement = database.prepare(
    `insert into ${table} (${names}) values (${names.map(() => '?')}) on conflict (${primaryKeys[table]}) do update set ${changes}`,
  )
  for (const row of rows) statement.run(...names.map((name) => row[name]))
}

async function openEmptyRuntime(atEnd: AtEnd, folder: string): Promise<Service> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'micwatch.yaml')
  await writeFile(file, '{}')
  const config = readConfig({ config: file, data_dir: folder }, {})
  const shure = { code: 'shure', config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'none' } }
  const service = await Service.open(config, {
    log: pino({ level: 'silent' }),
    pid: process.pid,
    manufacturers: [shure],
  })
  atEnd(() => service.close())
  return service
}

/** Creates the real poller, but with `nextResponse` in place of the network. */
function createOfflinePoller(service: Service, nextResponse: () => Buffer): Poller {
  const [source] = service.sourceRegistry.sources()
  if (source === undefined) throw new Error('The service has no source.')
  const client: typeof source.client = {
    ...source.client,
    request: async (_method, _path, { read } = {}) => {
      const bytes = nextResponse()
      return { status: 200, headers: {}, body: (await read?.(bytes)) ?? JSON.parse(bytes.toString()) }
    },
  }
  const listDevices: typeof source.listDevices = (signal, before) => source.adapter.listDevices(client, signal, before)
  const log = pino({ level: 'silent' })
  return new Poller({ ...service, log }, { ...source, client, listDevices })
}
