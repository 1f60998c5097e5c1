/** Imports a cast list that was pasted as text. */

import Papa from 'papaparse'
import type { CastImport } from '../../contract/imports.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Picture } from '../../domain/equipment/picture.ts'
import { RequestError } from '../../domain/errors.ts'
import { type CastRow, isWebAddress, type RequestedColumns, readCast } from '../../domain/imports/cast-columns.ts'
import { type CastOptions, planCast } from '../../domain/imports/cast-plan.ts'
import type { Service } from '../../service.ts'
import { applyCast, readCastState } from '../shows/apply-cast.ts'

interface CastRequest {
  readonly text: string
  readonly columns?: RequestedColumns
  readonly create_slots?: boolean
  readonly fetch_photos?: boolean
  readonly preview?: boolean
}

const maxRows = 10_000

export async function importCast(
  service: Service,
  actor: Actor,
  { text, columns, create_slots = false, fetch_photos = false, preview = false }: CastRequest,
): Promise<CastImport> {
  const { cells, misquoted } = parseCells(text)
  const read = readCast(cells, columns)
  if (!read.ok) throw new RequestError('bad_request', { details: read.problem })
  const { table } = read
  if (table.rows.length > maxRows) {
    throw new RequestError('bad_request', { details: `text: expected at most ${maxRows} rows` })
  }
  const rows = table.rows.filter(({ row }) => !misquoted.has(row))
  const options = { createSlots: create_slots, fetchPhotos: fetch_photos }
  const photos = fetch_photos && !preview ? await fetchPhotos(service, rows, options) : new Map()
  const source = { ...options, rows, photos, preview, action: 'cast.import', target: 'cast list' } as const
  const { skipped, ...applied } = await applyCast(service, actor, source)
  const faulty = table.rows.flatMap(({ row, name }) =>
    misquoted.has(row)
      ? [{ row, slot: null, name: name || null, reason: 'A quotation mark is missing or misplaced.' }]
      : [],
  )
  return { ...applied, skipped: [...faulty, ...skipped].sort((a, b) => a.row - b.row), columns: table.columns }
}

interface Cells {
  readonly cells: readonly (readonly string[])[]
  /** Numbers of the rows with a missing quotation mark, starting at 1. */
  readonly misquoted: ReadonlySet<number>
}

function parseCells(pasted: string): Cells {
  // Empty lines would distort the detection of the separator.
  const text = pasted.trimEnd()
  // A copy from a spreadsheet is separated by tabs; any other separator is determined from the text.
  const isCopy = (/[^\r\n]+/.exec(text)?.[0] ?? '').includes('\t')
  const delimiter = isCopy ? '\t' : ''
  const { data, errors } = Papa.parse<string[]>(text, { delimiter })
  if (!errors.some(({ type }) => type === 'Quotes')) return { cells: data, misquoted: new Set() }
  // A missing quotation mark would merge the rows after it. NUL does not occur in the text.
  const literal = Papa.parse<string[]>(text, { delimiter, quoteChar: '\0' }).data
  const isMisquoted = (row: readonly string[]) => row.some((cell) => cell.split('"').length % 2 === 0)
  return {
    cells: literal.map((row) => row.map((cell) => (/^"(.*)"$/.exec(cell)?.[1] ?? cell).replaceAll('""', '"'))),
    misquoted: new Set(literal.flatMap((row, index) => (isMisquoted(row) ? [index + 1] : []))),
  }
}

/** Fetches the photos of the rows that will be imported. */
async function fetchPhotos(
  service: Service,
  rows: readonly CastRow[],
  options: CastOptions,
): Promise<ReadonlyMap<string, Picture | string>> {
  const { performers } = planCast(rows, await readCastState(service, service.db.read), options)
  const addresses = [...performers.values()].flatMap(({ photo }) => (isWebAddress(photo) ? [photo] : []))
  return service.loadPictures([...new Set(addresses)])
}
