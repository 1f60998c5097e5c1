/** Imports a cast list that was pasted as text. */

import Papa from 'papaparse'
import type { CastImport } from '../../contract/imports.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { type RequestedColumns, readCast } from '../../domain/imports/cast-columns.ts'
import type { Service } from '../../service.ts'
import { applyCast } from '../shows/apply-cast.ts'

interface CastRequest {
  readonly text: string
  readonly columns?: RequestedColumns
  readonly preview?: boolean
}

export async function importCast(
  service: Service,
  actor: Actor,
  { text, columns, preview = false }: CastRequest,
): Promise<CastImport> {
  const read = readCast(parseCells(text), columns)
  if (!read.ok) throw new RequestError('bad_request', { details: read.problem })
  const { table } = read
  const applied = await applyCast(service, actor, {
    rows: table.rows,
    preview,
    action: 'cast.import',
    target: 'cast list',
    describeRow: (row) => `text: row ${row}`,
  })
  return { ...applied, columns: table.columns }
}

function parseCells(text: string): string[][] {
  // A copy from a spreadsheet is separated by tabs; any other separator is determined from the text.
  const isCopy = (/[^\r\n]+/.exec(text)?.[0] ?? '').includes('\t')
  const { data, errors } = Papa.parse<string[]>(text, { delimiter: isCopy ? '\t' : '' })
  const fault = errors.find(({ type }) => type === 'Quotes')
  if (fault === undefined) return data
  const details = `text: row ${(fault.row ?? 0) + 1}: a quotation mark is missing or misplaced`
  throw new RequestError('bad_request', { details })
}
