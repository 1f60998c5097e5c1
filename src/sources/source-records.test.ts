/** Source statuses on both engines: in memory, in the database, and as read by another process. */

import { describe, expect, test } from 'vitest'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import type { MonitoredManufacturer } from '../domain/equipment/health.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import { now } from '../platform/clock.ts'
import { type Database, openDatabase } from '../storage/database.ts'
import { saveSourceRecords } from '../storage/sources.ts'
import { OrphanedSources } from './orphaned-sources.ts'
import { type CycleOutcome, SourceRecords } from './source-records.ts'
import type { SourceRegistry } from './source-registry.ts'

const dayMs = 24 * 3600_000
const sources = ['shure:a', 'shure:b']
const shure: MonitoredManufacturer = {
  code: 'shure',
  name: 'Shure',
  base_url: 'a',
  isEnabled: true,
  sources,
  unverified: [],
}

function open(db: Database) {
  const published: string[] = []
  const recorded: number[] = []
  const registry = { manufacturers: () => [shure], configurationErrors: () => new Map() } as unknown as SourceRegistry
  const receiverStore = new ReceiverStore()
  const orphaned = new OrphanedSources(db, receiverStore, registry, null as never)
  const sourceRecords = new SourceRecords(db, registry, orphaned)
  sourceRecords.recorded.subscribe(({ source, unsuccessful_cycles }) => {
    if (source === 'shure:a') recorded.push(unsuccessful_cycles)
  })
  sourceRecords.changed.subscribe((updates) => published.push(...updates.map(({ status }) => status)))
  return { reports: sourceRecords, published, recorded }
}

/** Opens the records as another process does, over its own connection to the database. */
async function openElsewhere({ url }: { url: string }) {
  const db = await openDatabase({ url })
  onTestEnd(() => db.close())
  return open(db).reports
}

const succeeded: CycleOutcome = { ok: true, problems: [] }
const failed: CycleOutcome = { ok: false, error: 'connection refused', holdMs: null }
/** `holdMs` may have fractions of a millisecond, as in reports from subscriptions. */
const rateLimited = (holdMs: number): CycleOutcome => ({ ok: false, error: 'it is rate limited', holdMs })
const withProblems: CycleOutcome = {
  ok: true,
  problems: [{ subject: 'device d3', problem: 'ip cannot be read', device: 'd3' }],
}

const [first] = sources as [string]
const statusOf = (sourceRecords: SourceRecords) => sourceRecords.health()[0]?.sources[0]?.status

describe.each(engines)('sources on %s', (engine) => {
  test('change from any state to any other, visible to another process', async () => {
    const db = await openStore(engine)
    const { reports: sourceRecords, published } = open(db)
    const other = await openElsewhere(db)
    const steps = [
      [null, 'unknown'],
      [rateLimited(7000.37), 'unknown'],
      [failed, 'degraded'],
      [rateLimited(0.25), 'degraded'],
      [failed, 'degraded'],
      [failed, 'unhealthy'],
      [rateLimited(6999.999), 'unhealthy'],
      [succeeded, 'healthy'],
      [rateLimited(7000.37), 'healthy'],
      [withProblems, 'healthy'],
      [failed, 'degraded'],
      [succeeded, 'healthy'],
    ] as const
    await sourceRecords.record('shure', 'shure:b', succeeded)
    for (const [outcome, status] of steps) {
      if (outcome !== null) await sourceRecords.record('shure', first, outcome)
      expect([outcome, statusOf(sourceRecords)]).toEqual([outcome, status])
      await other.load()
      // The time of a success is not stored after every cycle, but both processes derive the same state.
      expect(other.health()).toEqual(sourceRecords.health())
    }
    expect(published).toEqual(['degraded', 'healthy', 'degraded', 'healthy'])
  })

  // Reliability: U30.
  test('are stored even if the database rejects the status of one source', async () => {
    const db = await openStore(engine)
    const { reports: sourceRecords } = open(db)
    await sourceRecords.record('shure', first, failed)
    // PostgreSQL rejects text with U+0000.
    const rejected: CycleOutcome = { ok: false, error: 'it says \u0000', holdMs: null }
    const recording = sourceRecords.record('shure', first, rejected)
    const outcomes = await Promise.allSettled([recording, sourceRecords.record('shure', 'shure:b', failed)])
    expect(outcomes.map(({ status }) => status)).toEqual([
      engine === 'postgres' ? 'rejected' : 'fulfilled',
      'fulfilled',
    ])
    const other = await openElsewhere(db)
    await other.load()
    expect(other.get('shure:b')).toMatchObject({ consecutive_failures: 1, error: 'connection refused' })
    await sourceRecords.record('shure', first, succeeded)
    await other.load()
    expect(other.get(first)).toMatchObject({ consecutive_failures: 0, error: null })
  })

  test('are healthy for a day after a success, even after a restart', async () => {
    const db = await openStore(engine)
    const { reports: sourceRecords } = open(db)
    for (const source of sources) await sourceRecords.record('shure', source, succeeded)
    const records = sources.flatMap((source) => sourceRecords.get(source) ?? [])
    for (const [ageMs, status] of [
      [dayMs - 60_000, 'healthy'],
      [dayMs, 'unknown'],
    ] as const) {
      const earlier = records.map((record) => ({ ...record, last_success_at: now() - ageMs }))
      await db.transaction((tx) => saveSourceRecords(tx, earlier))
      const { reports: restarted } = open(db)
      await restarted.load()
      expect([ageMs, statusOf(restarted)]).toEqual([ageMs, status])
    }
  })
})

test('source records count cycles without success, and a pause once, however often the system sends Retry-After meanwhile', async () => {
  const db = await openStore('sqlite')
  const { reports: sourceRecords, recorded } = open(db)
  // A pause of 0 ms is over when the next cycle begins, so each counts. The three cycles with 60 s are in one pause.
  for (const outcome of [
    rateLimited(0),
    rateLimited(0),
    failed,
    rateLimited(60_000),
    rateLimited(60_000),
    rateLimited(60_000),
    failed,
    succeeded,
    rateLimited(0),
  ]) {
    await sourceRecords.record('shure', first, outcome)
  }
  expect(recorded).toEqual([1, 2, 3, 4, 4, 4, 5, 0, 1])
})

test('a source is unknown again after it was removed and added', async () => {
  const db = await openStore('sqlite')
  const { reports: sourceRecords, published } = open(db)
  for (const source of sources) await sourceRecords.record('shure', source, succeeded)
  for (const source of sources) sourceRecords.forget(source)
  expect(statusOf(sourceRecords)).toBe('unknown')
  await db.transaction((tx) => tx.query.deleteFrom('sources').execute())
  await sourceRecords.load()
  expect([statusOf(sourceRecords), published]).toEqual(['unknown', ['healthy', 'unknown']])
})
