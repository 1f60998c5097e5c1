/** Databases, a backup and an export file of earlier versions: this version serves their content. */

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { describe, expect, inject, it, vi } from 'vitest'
import { parse } from 'yaml'
import { openDatabase } from '../src/storage/database.ts'
import { version010 } from '../src/storage/migrations/0.1.0.ts'
import { version100 } from '../src/storage/migrations/1.0.0.ts'
import { version110 } from '../src/storage/migrations/1.1.0.ts'
import { migrations, namesOf } from '../src/storage/migrations/index.ts'
import type { Migration } from '../src/storage/migrations/migration.ts'
import { keptTables } from '../src/storage/schema.ts'
import { createInstallation, startApp, type TestApp } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { type Engine, engines } from './support/store/databases.ts'
import { createPostgresDatabase, runSql } from './support/store/postgres.ts'
import { tokenHeaders } from './support/tokens.ts'
import { password, signIn } from './support/users.ts'

// When the earlier version was running; a day later, the service would no longer list what its scan had found. The clock
// of the service starts when its modules are loaded, and follows a jump only after 30 seconds.
vi.hoisted(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-22T16:03:28.462Z') }))

const folderOf = (version: '0.1.0' | '1.0.0' | '1.1.0') =>
  fileURLToPath(new URL(`fixtures/${version}/`, import.meta.url))
const folder = folderOf('0.1.0')
const readGzip = async (name: string, from = folder) => gunzipSync(await readFile(join(from, `${name}.gz`)))

type Responses = Readonly<Record<string, unknown>>

/** Responses of an earlier version to requests with `token`. */
interface ServedResponses {
  readonly token: string
  readonly answers: Responses
}

async function readServed(engine: Engine): Promise<ServedResponses> {
  return JSON.parse((await readGzip(`served-${engine}.json`)).toString())
}

/** Creates a working directory with the key of the stored secrets and an empty database on this engine. */
async function createEmptyInstallation(engine: Engine, key = join(folder, 'secret.key')) {
  const database = engine === 'postgres' ? await createPostgresDatabase(inject('postgresUrl')) : null
  if (database !== null) onTestEnd(database.drop)
  const installation = await createInstallation(database === null ? {} : { database_url: database.url })
  const dataDir = join(installation.path, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await writeFile(join(dataDir, 'secret.key'), await readFile(key), { mode: 0o600 })
  return { ...installation, databaseUrl: database?.url ?? installation.databaseUrl, dataDir }
}

type Installation = Awaited<ReturnType<typeof createEmptyInstallation>>

/** Starts a service that does not poll. */
function openInstallation(installation: Installation): Promise<TestApp> {
  return startApp({ databaseUrl: installation.databaseUrl, dataDir: installation.dataDir, servesOnly: true })
}

async function getAll(app: TestApp, paths: readonly string[], headers: Record<string, string>): Promise<Responses> {
  const responses: Record<string, unknown> = {}
  for (const path of paths) {
    const { status, json } = await app.get(path, headers)
    expect([path, status]).toEqual([path, 200])
    if (path === '/api/performers/') await embedPictures(app, json, headers)
    responses[path] = withoutComputed(path === '/api/admin/settings/' ? withoutGroupSettings(json) : json)
  }
  return responses
}

/** Removes values that are computed instead of stored, because each version may compute them differently. */
function withoutComputed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutComputed)
  if (typeof value !== 'object' || value === null) return value
  const computed = 'api_enabled' in value ? ['status', 'error'] : ['signal_quality']
  const entries = Object.entries(value).filter(([name, item]) => !computed.includes(name) && !(name === 'ip' && !item))
  return Object.fromEntries(entries.map(([name, item]) => [name, withoutComputed(item)]))
}

/** Removes the fields of data.json that later versions no longer serve. */
function withoutLastSeen(body: unknown): unknown {
  const { receivers, ...rest } = body as { readonly receivers: readonly { readonly last_seen?: string }[] }
  return { ...rest, receivers: receivers.map(({ last_seen: _, ...receiver }) => receiver) }
}

/** Expects every field that the earlier version served, with the same value; later versions may add fields. */
async function expectServed(app: TestApp, { token, answers: responses }: ServedResponses): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  const now = await getAll(app, Object.keys(responses), headers)
  for (const [path, response] of Object.entries(responses)) {
    // A restore adds an audit record of its own, so only as many records as before are compared.
    const served =
      path === '/api/admin/audit/' && Array.isArray(response) ? lastItems(now[path], response.length) : now[path]
    const expected = path.startsWith('/api/data') ? withoutLastSeen(response) : newestFirst(path, response)
    expect({ path, served }).toMatchObject({ path, served: withoutComputed(expected) })
  }
  await signIn(app, 'root', password)
}

/** Replaces the addresses of pictures with data URLs, which version 0.1.0 served. */
async function embedPictures(app: TestApp, performers: unknown, headers: Record<string, string>): Promise<void> {
  for (const performer of performers as { picture: string | null }[]) {
    if (performer.picture === null) continue
    const { bytes, headers: received } = await app.get(performer.picture, headers)
    performer.picture = `data:${received['content-type']};base64,${bytes.toString('base64')}`
  }
}

/** Earlier versions had no settings of groups. */
function withoutGroupSettings(scopes: readonly { readonly group: number | null }[]) {
  return scopes.filter(({ group }) => group === null)
}

/** Earlier versions listed the oldest alerts first. */
function newestFirst(path: string, response: unknown): unknown {
  return path === '/api/alerts/' && Array.isArray(response) ? response.toReversed() : response
}

function lastItems(list: unknown, count: number): unknown {
  return Array.isArray(list) ? list.slice(-count) : list
}

// Conformance: C-9.30, C-16.4.
it('opens the SQLite database of 0.1.0', async () => {
  const installation = await createEmptyInstallation('sqlite')
  await writeFile(join(installation.dataDir, 'micwatch.db'), await readGzip('micwatch.db'), { mode: 0o600 })
  const served = await readServed('sqlite')
  await expectServed(await openInstallation(installation), served)
})

// Conformance: C-9.30, C-16.4.
it('opens the PostgreSQL database of 0.1.0', async () => {
  const installation = await createEmptyInstallation('postgres')
  await runSql(installation.databaseUrl, (await readGzip('postgres.sql')).toString())
  const served = await readServed('postgres')
  await expectServed(await openInstallation(installation), served)
})

// Conformance: C-9.30.
it.each(engines)('restores the backup of 0.1.0 (%s) and imports its export file over it', async (engine) => {
  const installation = await createEmptyInstallation(engine)
  await writeFile(join(installation.path, 'old.backup'), await readGzip('micwatch.backup'))
  const restored = await installation.run(['restore', 'old.backup', '--json'])
  expect([restored.code, restored.err]).toEqual([0, ''])
  expect(restored.json()).toMatchObject({ credentials_unreadable: [], safety_copy: null })
  const served = await readServed('sqlite')
  const app = await openInstallation(installation)
  await expectServed(app, served)
  await app.close()

  await copyFile(join(folder, 'export.yaml'), join(installation.path, 'export.yaml'))
  const imported = await installation.run(['import', 'export.yaml', '--json'])
  expect([imported.code, imported.err]).toEqual([0, ''])
  const { counts, unknown } = imported.json()
  expect(unknown).toEqual([])
  for (const count of Object.values(counts)) expect(count).toMatchObject({ created: 0, updated: 0 })
  const exported = await installation.run(['export', '--with-secrets'])
  expect(parse(exported.out)).toMatchObject(parse(await readFile(join(folder, 'export.yaml'), 'utf8')))
})

// Conformance: C-9.30.
it('imports the export file of 0.1.0 into an empty database', async () => {
  const installation = await createEmptyInstallation('sqlite')
  await copyFile(join(folder, 'export.yaml'), join(installation.path, 'export.yaml'))
  const imported = await installation.run(['import', 'export.yaml', '--json'])
  expect([imported.code, imported.err]).toEqual([0, ''])
  const { report, answers: responses } = JSON.parse(await readFile(join(folder, 'served-import.json'), 'utf8'))
  expect(imported.json()).toMatchObject(report)
  const app = await startApp({ databaseUrl: installation.databaseUrl, dataDir: installation.dataDir, servesOnly: true })
  const served = await getAll(app, Object.keys(responses), await tokenHeaders(app, 'admin'))
  expect(served).toMatchObject(withoutComputed(responses) as object)
})

type Row = Readonly<Record<string, unknown>>
type Tables = Readonly<Record<string, readonly Row[]>>

/** SQLite returns bytes as `Uint8Array`, PostgreSQL as `Buffer`. */
function withBuffers(row: Row): Row {
  const entries = Object.entries(row)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value) : value]),
  )
}

async function readTables(url: string): Promise<Tables> {
  const db = await openDatabase({ url })
  try {
    const tables =
      db.dialect === 'sqlite'
        ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
        : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
    const rows: Record<string, readonly Row[]> = {}
    for (const { name } of (await tables.execute(db.read)).rows) {
      rows[name] = (await sql<Row>`select * from ${sql.table(name)}`.execute(db.read)).rows.map(withBuffers)
    }
    return rows
  } finally {
    await db.close()
  }
}

/** An earlier version, and what has changed since, apart from new tables and columns. */
interface EarlierVersion {
  readonly version: '1.0.0' | '1.1.0'
  /** Those that it applied. */
  readonly migrations: readonly Migration[]
  /** Columns whose values are now in another table. */
  readonly movedColumns: Readonly<Record<string, readonly string[]>>
  /** Sections that its export did not have. */
  readonly newSections: readonly string[]
  /** Its export as this version writes it. */
  readonly asExportedNow: (exported: string) => string
}

const earlierVersions: readonly EarlierVersion[] = [
  {
    version: '1.0.0',
    migrations: [...version010, version100],
    // They are now what was entered about the slot.
    movedColumns: { placeholders: ['name', 'frequency', 'note'] },
    newSections: ['slots', 'frequency_plans'],
    // Performers are exported with their slots, and rules for all kinds without the kinds that 1.0.0 did not know.
    asExportedNow: (exported) =>
      exported
        .replace(
          '    kinds: []\n',
          '    kinds: []\n    excluded_kinds:\n      - levels_lost\n      - audio_dropout\n      - audio_clipping\n      - muted\n      - off_plan\n      - unknown_carrier\n      - equipment_fault\n      - backup_failed\n',
        )
        .replace('\nshows:', '\nslots:\n  - slot: 1\n    performer: Ann\n    role: Nora\nshows:'),
  },
  {
    version: '1.1.0',
    migrations: [...version010, version100, ...version110],
    movedColumns: {},
    newSections: [],
    asExportedNow: (exported) => exported,
  },
]

const databases = earlierVersions.flatMap((earlier) =>
  engines.map((engine) => [earlier.version, engine, earlier] as const),
)

describe.each(databases)('data of %s (%s)', (version, engine, earlier) => {
  const from = folderOf(version)

  function expectRows(tables: Tables, expected: Tables): void {
    for (const [table, rows] of Object.entries(expected)) {
      const moved = earlier.movedColumns[table] ?? []
      const kept = rows.map((row) => Object.entries(row).filter(([name]) => !moved.includes(name)))
      const expectedRows: unknown[] = kept.map((row) => expect.objectContaining(Object.fromEntries(row)))
      expect({ table, rows: tables[table] }).toEqual({ table, rows: expect.arrayContaining(expectedRows) })
    }
  }

  // Conformance: C-21.93, C-26.60.
  it('is kept row by row, and exported as before', async () => {
    const installation = await createEmptyInstallation(engine, join(from, `secret-${engine}.key`))
    if (engine === 'postgres') {
      await runSql(installation.databaseUrl, (await readGzip('postgres.sql', from)).toString())
    } else {
      await writeFile(join(installation.dataDir, 'micwatch.db'), await readGzip('micwatch.db', from), { mode: 0o600 })
    }
    const before = await readTables(installation.databaseUrl)
    const migrated = await installation.run(['migrate', '--json'])
    const later = migrations.filter((migration) => !earlier.migrations.includes(migration))
    expect([migrated.code, migrated.json()]).toEqual([0, { applied: namesOf(later) }])
    expectRows(await readTables(installation.databaseUrl), before)
    const exported = await installation.run(['export', '--with-secrets'])
    expect(exported.out).toBe(earlier.asExportedNow(await readFile(join(from, `export-${engine}.yaml`), 'utf8')))
  })

  // Conformance: C-26.60.
  it('can be restored from a backup, and imported from an export file', async () => {
    const installation = await createEmptyInstallation(engine, join(from, 'secret-sqlite.key'))
    await copyFile(join(from, 'export-sqlite.yaml'), join(installation.path, 'export.yaml'))
    const imported = await installation.run(['import', 'export.yaml', '--dry-run', '--json'])
    const expected = JSON.parse(await readFile(join(from, 'imported.json'), 'utf8'))
    for (const section of earlier.newSections) expected.counts[section] = { created: 0, updated: 0, unchanged: 0 }
    expect([imported.code, imported.json()]).toEqual([0, expected])
    await writeFile(join(installation.path, 'old.backup'), await readGzip('micwatch.backup', from))
    const restored = await installation.run(['restore', 'old.backup', '--json'])
    expect([restored.code, restored.err]).toEqual([0, ''])
    await writeFile(join(installation.path, 'old.db'), await readGzip('micwatch.db', from))
    const old = Object.entries(await readTables(`sqlite:${join(installation.path, 'old.db')}`))
    // A restore increases the counters in `meta`, so that other processes load everything.
    const kept = old.filter(([table]) => table !== 'meta' && (keptTables as readonly string[]).includes(table))
    expectRows(await readTables(installation.databaseUrl), Object.fromEntries(kept))
    const again = await installation.run(['import', 'export.yaml', '--json'])
    for (const count of Object.values(again.json().counts)) expect(count).toMatchObject({ created: 0, updated: 0 })
    const exported = await installation.run(['export', '--with-secrets'])
    expect(exported.out).toBe(earlier.asExportedNow(await readFile(join(from, 'export-sqlite.yaml'), 'utf8')))
  })
})
