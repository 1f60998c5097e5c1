/** The status of each source, written by the node that polls it. */

import { type DeviceErrors, noDeviceErrors, type SourceRecord } from '../model/health.ts'
import type { Reader, Tx } from './database.ts'
import type { SourceRow } from './schema.ts'

/** By source. */
export async function listSourceRecords(reader: Reader): Promise<SourceRecord[]> {
  const rows = await reader.selectFrom('sources').selectAll().orderBy('source').execute()
  return rows.map(toReport)
}

export async function saveSourceRecords(tx: Tx, reports: readonly SourceRecord[]): Promise<void> {
  for (const report of reports) {
    const { source, ...fields } = toRow(report)
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

function toReport({ device_errors, ...fields }: SourceRow): SourceRecord {
  const read = device_errors === null ? noDeviceErrors : (JSON.parse(device_errors) as DeviceErrors)
  return { ...fields, device_errors: read }
}
