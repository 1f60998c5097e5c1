/** The status of each source, written by the node that polls it. */

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
