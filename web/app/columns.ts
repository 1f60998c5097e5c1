/** `problems` sorts by state, `rf` by the better antenna. */
export const sortKeys = [
  'slot',
  'problems',
  'name',
  'performer',
  'battery',
  'time_left',
  'rf',
  'rf_a',
  'rf_b',
  'audio',
  'quality',
  'frequency',
  'receiver',
  'flags',
] as const

export type SortKey = (typeof sortKeys)[number]

/** em. Slightly wider than most letters and digits of the typeface. */
export const characterEm = 0.64

interface ColumnLayout {
  /** Minimum width in characters, with the space around the text. */
  readonly width: number
  /** In a narrow table, texts may wrap and symbols are hidden. */
  readonly narrow?: number
  readonly sort: SortKey
  /** Columns with a higher number go first when the table is too narrow. */
  readonly rank: number
}

const layouts = {
  slot: { width: 6, narrow: 5, sort: 'slot', rank: 1 },
  name: { width: 21, narrow: 18, sort: 'name', rank: 0 },
  performer: { width: 13, sort: 'performer', rank: 12 },
  state: { width: 18, narrow: 11, sort: 'problems', rank: 2 },
  battery: { width: 17, narrow: 8, sort: 'battery', rank: 3 },
  time_left: { width: 10, sort: 'time_left', rank: 4 },
  rf_a: { width: 11, sort: 'rf_a', rank: 5 },
  rf_b: { width: 11, sort: 'rf_b', rank: 8 },
  audio: { width: 11, sort: 'audio', rank: 6 },
  quality: { width: 9, sort: 'quality', rank: 11 },
  frequency: { width: 14, sort: 'frequency', rank: 9 },
  receiver: { width: 17, sort: 'receiver', rank: 10 },
  flags: { width: 10, sort: 'flags', rank: 7 },
} as const satisfies Record<string, ColumnLayout>

export type Column = keyof typeof layouts

export const allColumns = Object.keys(layouts) as readonly Column[]

export function isColumn(text: string): text is Column {
  return Object.hasOwn(layouts, text)
}

export function sortOf(column: Column): SortKey {
  return layouts[column].sort
}

export function isNarrow(width: number): boolean {
  return width < 60
}

export function widthOf(column: Column, tableWidth: number): number {
  const layout: ColumnLayout = layouts[column]
  return isNarrow(tableWidth) ? (layout.narrow ?? layout.width) : layout.width
}

/** The name always remains. Other columns are hidden by rank until the name has its minimum width. */
export function fitColumns(chosen: readonly Column[], width: number): readonly Column[] {
  const byRank = chosen.toSorted((a, b) => layouts[a].rank - layouts[b].rank)
  let used = widthOf('name', width)
  const fitting = new Set<Column>(['name'])
  for (const column of byRank) {
    if (column === 'name') continue
    used += widthOf(column, width)
    if (used > width) break
    fitting.add(column)
  }
  return chosen.filter((column) => fitting.has(column))
}

/** The usual columns if the choice is empty. The name is always displayed. */
export function chosenColumns(choice: readonly Column[]): readonly Column[] {
  if (choice.length === 0) return allColumns
  return choice.includes('name') ? choice : ['name', ...choice]
}
