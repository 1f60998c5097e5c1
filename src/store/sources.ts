/** How each source fares, told by whoever polls it. */

import type { SourceReport } from '../model/health.ts'
import type { Reader, Tx } from './database.ts'

/** By source. */
export async function listSourceReports(reader: Reader): Promise<SourceReport[]> {
  return reader.selectFrom('sources').selectAll().orderBy('source').execute()
}

export async function saveSourceReports(tx: Tx, reports: readonly SourceReport[]): Promise<void> {
  for (const { source, ...fields } of reports) {
    await tx.query
      .insertInto('sources')
      .values({ source, ...fields })
      .onConflict((conflict) => conflict.column('source').doUpdateSet(fields))
      .execute()
  }
}
