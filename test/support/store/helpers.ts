/** Shared helpers of the store tests. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { QueueEntry } from '../../../src/domain/equipment/discovery.ts'
import type { Receiver } from '../../../src/domain/equipment/receiver.ts'
import { type Database, openDatabase } from '../../../src/storage/database.ts'
import { insertReceivers } from '../../../src/storage/receivers.ts'
import { nextRevision } from '../../../src/storage/revision.ts'
import { onTestEnd } from '../cleanup.ts'
import { createTestDatabase, type Engine } from './databases.ts'

/** Opens a database with a schema and the manufacturers shure and sennheiser; it is dropped after the test. */
export async function openStore(engine: Engine, now?: () => number): Promise<Database & { url: string }> {
  const { url, drop } = await createTestDatabase(engine)
  const db = await openDatabase({ url, now })
  onTestEnd(async () => {
    await db.close()
    await drop()
  })
  await addManufacturers(db)
  return { ...db, url }
}

export async function addManufacturers(db: Database): Promise<void> {
  const rows = ['shure', 'sennheiser'].map(
    (code) => ({ code, name: code, plugin: code, api_enabled: 1, config: '{}', version: 1 }) as const,
  )
  await db.transaction((tx) => tx.query.insertInto('manufacturers').values(rows).execute())
}

export function insertDrafts(db: Database, drafts: readonly Receiver[]) {
  return db.transaction(async (tx) => insertReceivers(tx, await nextRevision(tx), drafts))
}

export function conflictEntry(fields: Partial<QueueEntry> = {}): Omit<QueueEntry, 'id' | 'status'> {
  return {
    manufacturer: 'shure',
    identity_key: 'serial:sn9',
    api_device_id: 'device-9',
    serial_number: 'SN9',
    mac_address: null,
    ip: '10.0.0.9',
    device_type: 'receiver',
    conflict_type: 'ip_conflict',
    is_duplicate: false,
    is_ip_conflict: true,
    existing_device: null,
    discovered_at: 1_700_000_000_000,
    metadata: { device_id: 'device-9', channels: [{ channel: 1, name: 'Größe “A”' }] },
    ...fields,
  }
}

/** Runs a program of test/support/store in a separate process, which is killed after the test at the latest. */
export function startChild(name: string, args: readonly string[]): { process: ChildProcess; lines: string[] } {
  const path = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  onTestEnd(() => child.kill('SIGKILL'))
  return { process: child, lines }
}

export async function waitForExit(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
}
