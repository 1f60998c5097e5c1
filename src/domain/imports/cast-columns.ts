/** Finds the columns of a cast list: from its headings, otherwise from the contents. */

import type { CastImport } from '../../contract/imports.ts'

type Cells = readonly string[]

const castColumns = ['slot', 'name', 'role', 'note', 'photo', 'pack'] as const
type CastColumn = (typeof castColumns)[number]

/** The index of each column; null if the list has no such column. */
export type CastColumns = CastImport['columns']

/** The columns that a request names, by index or heading. */
export type RequestedColumns = { readonly [Column in CastColumn]?: number | string | null }

/** A row of a cast list. An empty cell and a missing column are both ''. */
export type CastRow = Readonly<Record<CastColumn, string>> & {
  /** Number of the row in the text, from 1. */
  readonly row: number
}

interface CastTable {
  readonly columns: CastColumns
  readonly rows: readonly CastRow[]
}

type Result = { readonly ok: true; readonly table: CastTable } | { readonly ok: false; readonly problem: string }

/** Returns the rows below the headings, or a problem in the form `field: what was expected`. */
export function readCast(cells: readonly Cells[], requested: RequestedColumns | undefined): Result {
  const first = cells.findIndex((row) => row.some((cell) => cell.trim() !== ''))
  const heading = cells[first] ?? []
  const headings = heading.map(toHeading)
  const usesHeadings = Object.values(requested ?? {}).some((column) => typeof column === 'string')
  const hasHeadings = usesHeadings || isHeading(heading)
  const contents = cells.slice(hasHeadings ? first + 1 : 0)
  const columns = noColumns()
  if (requested === undefined) guess(columns, hasHeadings ? headings : null, contents)
  for (const column of castColumns) {
    const value = requested?.[column]
    const index = typeof value === 'string' ? headings.indexOf(toHeading(value)) : value
    if (index === -1) return { ok: false, problem: `columns.${column}: there is no column with the heading ${value}` }
    if (index !== undefined) columns[column] = index
  }
  if (columns.name === null) return { ok: false, problem: 'columns.name: the text has no column of names' }
  if (columns.slot === null && columns.pack === null) {
    return { ok: false, problem: 'columns.slot: the text has no column of slots or packs' }
  }
  const rows = contents.map((row, index) => toRow(row, columns, cells.length - contents.length + index + 1))
  return { ok: true, table: { columns, rows } }
}

type MutableColumns = { -readonly [Column in CastColumn]: number | null }

function noColumns(): MutableColumns {
  return { slot: null, name: null, role: null, note: null, photo: null, pack: null }
}

/** In the languages of the pages: English, then German, French, Spanish and Japanese. */
const knownHeadings: Readonly<Record<CastColumn, readonly string[]>> = {
  slot: [
    'slot',
    'channel',
    'ch',
    'number',
    'no',
    'nr',
    'position',
    'mic',
    'mic number',
    'rf',
    'rf channel',
    '#',
    'kanal',
    'nummer',
    'mikrofon',
    'canal',
    'numéro',
    'micro',
    'número',
    'スロット',
    'チャンネル',
    '番号',
    'マイク',
  ],
  name: [
    'name',
    'performer',
    'actor',
    'actress',
    'artist',
    'cast',
    'cast member',
    'singer',
    'talent',
    'player',
    'darsteller',
    'darstellerin',
    'nom',
    'artiste',
    'nombre',
    'artista',
    'actriz',
    '名前',
    '氏名',
    '出演者',
  ],
  role: [
    'role',
    'character',
    'part',
    'plays',
    'rolle',
    'figur',
    'rôle',
    'personnage',
    'papel',
    'personaje',
    '役',
    '役名',
  ],
  note: [
    'note',
    'notes',
    'comment',
    'comments',
    'remark',
    'remarks',
    'notiz',
    'bemerkung',
    'remarque',
    'nota',
    'notas',
    'observaciones',
    '備考',
    'メモ',
  ],
  photo: [
    'photo',
    'photograph',
    'picture',
    'image',
    'headshot',
    'photo url',
    'picture url',
    'image url',
    'foto',
    'bild',
    '写真',
  ],
  pack: [
    'pack',
    'bodypack',
    'beltpack',
    'transmitter',
    'tx',
    'unit',
    'mic pack',
    'sender',
    'taschensender',
    'émetteur',
    'transmisor',
    'petaca',
    '送信機',
  ],
}

function toHeading(cell: string): string {
  return cell
    .trim()
    .toLowerCase()
    .replace(/[\s_.:-]+/g, ' ')
    .trim()
}

const isKnownHeading = (cell: string) => castColumns.some((column) => knownHeadings[column].includes(toHeading(cell)))

/** A row of headings contains a known one, and no slot or address. */
function isHeading(row: Cells): boolean {
  return row.some(isKnownHeading) && !row.some((cell) => isSlot(cell) || isAddress(cell))
}

export function isSlot(cell: string): boolean {
  return /^0*[1-9]\d{0,4}$/.test(cell.trim()) && Number(cell) <= 65_535
}

/** True for an address that can be the picture of a performer. */
export function isAddress(cell: string): boolean {
  return /^(https?:\/\/|data:image\/|\/(?!\/))\S+$/i.test(cell.trim())
}

export function isWebAddress(cell: string): boolean {
  return /^https?:\/\//i.test(cell.trim())
}

/** Headings determine all columns that they name; the contents determine those of slots and names otherwise. */
function guess(columns: MutableColumns, headings: readonly string[] | null, contents: readonly Cells[]): void {
  if (headings !== null) {
    for (const column of castColumns) {
      const index = headings.findIndex((heading) => knownHeadings[column].includes(heading))
      if (index !== -1) columns[column] = index
    }
  }
  const width = contents.reduce((widest, { length }) => Math.max(widest, length), 0)
  const isFree = (index: number) => !Object.values(columns).includes(index) && filledCells(contents, index).length > 0
  const takeFirst = (matches: (cells: Cells) => boolean): number | null => {
    for (let index = 0; index < width; index += 1) {
      if (isFree(index) && matches(filledCells(contents, index))) return index
    }
    return null
  }
  const areSlots = (cells: Cells) => cells.every(isSlot) && new Set(cells.map(Number)).size === cells.length
  // A single row must not hide a column.
  const areMostly = (matches: (cell: string) => boolean) => (cells: Cells) =>
    cells.filter(matches).length * 2 >= cells.length
  const areTexts = (cells: Cells) => cells.some((cell) => /\p{L}/u.test(cell))
  if (columns.slot === null && columns.pack === null) columns.slot = takeFirst(areSlots) ?? takeFirst(areMostly(isSlot))
  if (headings === null) columns.photo = takeFirst(areMostly(isAddress))
  columns.name ??= takeFirst(areTexts)
  if (headings !== null) return
  columns.role = takeFirst(areTexts)
  columns.note = takeFirst(areTexts)
}

function filledCells(rows: readonly Cells[], index: number): Cells {
  return rows.map((row) => (row[index] ?? '').trim()).filter((cell) => cell !== '')
}

function toRow(cells: Cells, columns: CastColumns, row: number): CastRow {
  const cellOf = (column: CastColumn) => (columns[column] === null ? '' : (cells[columns[column]] ?? '').trim())
  return {
    row,
    slot: cellOf('slot'),
    name: cellOf('name').replace(/\s+/g, ' '),
    role: cellOf('role').replace(/\s+/g, ' '),
    note: cellOf('note'),
    photo: cellOf('photo'),
    pack: cellOf('pack'),
  }
}
