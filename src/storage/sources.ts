/** The status of each source, written by the node that polls it, and on-demand polls. */

import { sql } from 'kysely'
import { type DeviceErrors, noDeviceErrors, type SourceRecord } from '../domain/equipment/health.ts'
import type { Reader, Tx } from './database.ts'
import type { SourceRow } from './schema/monitoring.ts'

export async function listSourceRecords(reader: Reader): Promise<SourceRecord[]> {
  const rows = await reader.selectFrom('sources').selectAll().orderBy('source').execute()
  return rows.map(toRecord)
}

export async function saveSourceRecords(tx: Tx, records: readonly SourceRecord[]): Promise<void> {
  for (const record of records) {
    const { source, ...fields } = toRow(record)
    await tx.query
      .insertInto('sources')
      .values({ source, ...fields })
      .onConflict((conflict) => conflict.column('source').doUpdateSet(fields))
      .execute()
  }
}

function toRow({ device_errors, ...fields }: SourceRecord): SourceRow {
  const isEmpty = device_errors.listed.length === 0
  return { ...fields, device_errors: isEmpty ? null : JSON.stringify(device_errors) }
}

function toRecord({ device_errors, ...fields }: SourceRow): SourceRecord {
  const read = device_errors === null ? noDeviceErrors : (JSON.parse(device_errors) as DeviceErrors)
  return { ...fields, device_errors: read }
}

// On-demand polls, which one node requests from the node that polls the source. Each source has one row: the number
// of the last request, the number of the last completed request, and its outcome.

export async function requestPoll(tx: Tx, source: string): Promise<number> {
  const { request_number } = await tx.query
    .insertInto('polls')
    .values({ source, asked: 1, answered: 0, outcome: null })
    .onConflict((conflict) => conflict.column('source').doUpdateSet({ asked: sql<number>`polls.asked + 1` }))
    .returning('asked as request_number')
    .executeTakeFirstOrThrow()
  return request_number
}

/** Returns the sources with a request that is not completed, and the number of their last request. */
export async function listRequestedPolls(reader: Reader): Promise<{ source: string; requestNumber: number }[]> {
  return reader
    .selectFrom('polls')
    .select(['source', 'asked as requestNumber'])
    .where((eb) => eb('asked', '>', eb.ref('answered')))
    .orderBy('source')
    .execute()
}

export async function completePolls(tx: Tx, source: string, requestNumber: number, outcome: unknown): Promise<void> {
  await tx.query
    .updateTable('polls')
    .set({ answered: requestNumber, outcome: JSON.stringify(outcome) })
    .where('source', '=', source)
    .where('answered', '<', requestNumber)
    .execute()
}

export async function findPollOutcome(reader: Reader, source: string, requestNumber: number): Promise<unknown> {
  const row = await reader
    .selectFrom('polls')
    .select('outcome')
    .where('source', '=', source)
    .where('answered', '>=', requestNumber)
    .executeTakeFirst()
  return row === undefined ? undefined : JSON.parse(row.outcome ?? 'null')
}
