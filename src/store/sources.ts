/** How each source fares, told by whoever polls it. */

import type { SourceReport } from '../model/health.ts'
import type { Reader, Tx } from './database.ts'

/** By source. */
export async function listSourceReports(reader: Reader): Promise<SourceReport[]> {
  return reader.selectFrom('sources').selectAll().orderBy('source').execute()
}

export async function saveSourceReport(tx: Tx, report: SourceReport): Promise<void> {
  const { source, ...fields } = report
  await tx.query
    .insertInto('sources')
    .values({ source, ...fields })
    .onConflict((conflict) => conflict.column('source').doUpdateSet(fields))
    .execute()
}
