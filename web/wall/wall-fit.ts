/**
 * Sizes follow from the viewing distance. A capital letter is comfortable to read at 1/200 of the distance and
 * legible at 1/350. At five metres from a 55-inch screen with 1080 lines, this is 40 and 23 pixels. All names of a
 * wall have the same size, and other texts half of it.
 */

import type { Detail, Layout } from '../app/view.ts'
import type { NameFit } from '../parts/card/name-fit.ts'

export interface Space {
  /** CSS pixels. */
  readonly width: number
  readonly height: number
}

/** The parts below the name, the state and the battery. The first ones are hidden first. */
export const parts = ['receiver', 'frequency', 'numbers', 'meters', 'chart'] as const
export type Part = (typeof parts)[number]

export interface FitOptions {
  /** The tiles that cover two cells. */
  readonly wide: readonly boolean[]
  readonly widest: NameFit
  readonly room: Space
  /** Shorter side of the screen in CSS pixels. */
  readonly screen: number
  readonly layout: Layout
  readonly detail: Detail
  readonly hasCharts: boolean
}

export interface Fit {
  readonly columns: number
  readonly rows: number
  readonly gap: number
  /** Font size of the names in CSS pixels. */
  readonly name: number
  readonly unit: number
  readonly lines: 1 | 2
  readonly parts: readonly Part[]
  readonly leftOut: readonly Part[]
  readonly isLegible: boolean
}

/** Height of a capital letter in em, in Inter. */
const capHeight = 0.7275
/** Height of a capital letter, as a part of the shorter side of the screen. */
const comfortableCap = 40 / 1080
const legibleCap = 23 / 1080
/** CSS pixels, for small screens, which are viewed from nearby. */
const minCap = 10
/** Fraction of the shorter side of the screen. */
const maxName = 120 / 1080
/** Fraction of the font size of the names. */
const unitPerName = 0.5

/** em. A wider name is truncated, because it would make all names smaller. */
const nameWidths = { full: 12, usual: 6.2, least: 4.9 }
/** em */
const nameLine = 0.97
/** Widths in units: padding, and the row with slot, state and battery. */
const unitsWide = { padding: 1, status: 7.5, list: 11 }
/** Heights in units. */
const unitsHigh: Record<Part | 'status' | 'padding', number> = {
  ...{ status: 1, padding: 0.08 },
  ...{ chart: 1.9, meters: 2.2, numbers: 0, frequency: 1.3, receiver: 0 },
}
/** Minimum widths in units of parts beside each other. */
const partWidth: Record<Part, number> = { chart: 0, meters: 0, numbers: 12, frequency: 8, receiver: 15 }

/** Rounded up to whole pixels. */
export function legibleName(screen: number): number {
  return Math.ceil(Math.max(minCap, screen * legibleCap) / capHeight)
}

function comfortableName(screen: number): number {
  return Math.ceil(Math.max(minCap, screen * comfortableCap) / capHeight)
}

export function fitWall(options: FitOptions): Fit {
  const { wide, screen } = options
  let best: Candidate | null = null
  for (let columns = 1; columns <= Math.max(1, wide.length); columns++) {
    const grid = gridOf(options, columns)
    for (const lines of options.layout === 'list' ? ([1] as const) : ([1, 2] as const)) {
      const candidate = rate(options, grid, lines)
      if (best === null || isBetter(candidate, best)) best = candidate
    }
  }
  const { columns, rows, gap, cell, scores, ...rated } = best ?? rate(options, gridOf(options, 1), 1)
  const name = Math.max(1, Math.floor(Math.max(...scores) + 0.01))
  const lines = rated.lines === 1 && wraps(options, cell, name) ? 2 : rated.lines
  const shown = partsOf(options, cell, name, lines)
  return {
    ...{ columns, rows, gap, name, unit: name * unitPerName, lines },
    parts: shown,
    leftOut: possibleParts(options).filter((part) => !shown.includes(part)),
    isLegible: name >= legibleName(screen),
  }
}

interface Grid {
  readonly columns: number
  readonly rows: number
  readonly gap: number
  readonly cell: Space
}

interface Candidate extends Grid {
  readonly lines: 1 | 2
  /** The most important first: legible, comfortable, with all parts of the tiles. */
  readonly scores: readonly number[]
}

function gridOf({ wide, room, screen }: FitOptions, columns: number): Grid {
  const rows = countRows(wide, columns)
  // Many small tiles need the space of the gaps.
  const gap = rows > 16 ? 1 : rows > 8 ? 2 : Math.max(2, Math.round(screen / 216))
  const cell = {
    width: (room.width - gap * (columns - 1)) / columns,
    height: (room.height - gap * (rows - 1)) / rows,
  }
  return { columns, rows, gap, cell }
}

/** Later tiles fill holes, as with `grid-auto-flow: dense`. */
function countRows(wide: readonly boolean[], columns: number): number {
  const used: boolean[] = []
  let free = 0
  let freePair = 0
  for (const isWide of wide) {
    if (isWide && columns > 1) {
      while (used[freePair] || used[freePair + 1] || freePair % columns === columns - 1) freePair++
      used[freePair] = true
      used[freePair + 1] = true
    } else {
      while (used[free]) free++
      used[free] = true
    }
  }
  return Math.max(1, Math.ceil(used.length / columns))
}

function rate(options: FitOptions, grid: Grid, lines: 1 | 2): Candidate {
  const { widest, screen } = options
  const width = lines === 1 ? widest.whole : widest.broken
  const sizeFor = (most: number, all: readonly Part[]) => {
    const { cell } = grid
    const high = heightInNames(options, lines, all)
    return Math.min(cell.width / widthInNames(options, Math.min(width, most)), cell.height / high)
  }
  return {
    ...grid,
    lines,
    scores: [
      Math.min(legibleName(screen), sizeFor(nameWidths.least, [])),
      Math.min(comfortableName(screen), sizeFor(nameWidths.usual, [])),
      Math.min(screen * maxName, sizeFor(nameWidths.full, possibleParts(options))),
    ],
  }
}

function isBetter(a: Candidate, b: Candidate): boolean {
  const index = a.scores.findIndex((score, index) => Math.abs(score - (b.scores[index] ?? 0)) > 0.01)
  return index !== -1 && (a.scores[index] ?? 0) > (b.scores[index] ?? 0)
}

/** The widest name needs a second line, for which there is room. */
function wraps(options: FitOptions, { width, height }: Space, name: number): boolean {
  if (options.layout === 'list' || widthInNames(options, options.widest.whole) * name <= width) return false
  return heightInNames(options, 2, []) * name <= height
}

function heightInNames({ layout }: FitOptions, lines: 1 | 2, all: readonly Part[]): number {
  if (layout === 'list') return nameLine + unitsHigh.padding * unitPerName
  const units = unitsHigh.status + unitsHigh.padding + all.reduce((sum, part) => sum + unitsHigh[part], 0)
  return lines * nameLine + units * unitPerName
}

function widthInNames({ layout }: FitOptions, name: number): number {
  const { padding, status, list } = unitsWide
  if (layout === 'list') return name + (padding + list) * unitPerName
  return Math.max(name, status * unitPerName) + padding * unitPerName
}

function possibleParts({ detail, layout, hasCharts }: FitOptions): readonly Part[] {
  if (detail === 'status') return []
  const hasChart = hasCharts && detail !== 'usual' && layout === 'grid'
  return layout === 'list'
    ? parts.filter((part) => part === 'numbers' || part === 'meters')
    : parts.filter((part) => part !== 'chart' || hasChart)
}

/** Numbers belong to meters, and the receiver is beside the frequency. */
function partsOf(options: FitOptions, cell: Space, name: number, lines: 1 | 2): readonly Part[] {
  const unit = name * unitPerName
  const possible = possibleParts(options)
  if (options.layout === 'list') {
    const rest = cell.width - name * (nameWidths.usual + (unitsWide.padding + unitsWide.list) * unitPerName)
    return rest >= partWidth.numbers * unit ? possible : []
  }
  for (let from = 0; from < possible.length; from++) {
    const shown = possible.slice(from).filter((part) => cell.width >= partWidth[part] * unit)
    if (cell.height >= heightInNames(options, lines, shown) * name - 0.5) return shown
  }
  return []
}

export interface WallPages<Tile> {
  readonly pages: readonly (readonly Tile[])[]
  /** The same for all pages, so that the names have one size. */
  readonly fit: Fit
  readonly isGrown: boolean
}

interface PageOptions<Tile> extends Omit<FitOptions, 'wide'> {
  readonly tiles: readonly Tile[]
  readonly grows: boolean
}

export const maxOnScreen = 199

/**
 * One screen if possible. With too many tiles or illegible names, the tiles are divided among several pages, and each
 * begins with all tiles that need attention.
 */
export function paginate<Tile extends { readonly needsAttention: boolean }>({
  tiles,
  grows,
  ...options
}: PageOptions<Tile>): WallPages<Tile> {
  const fitPage = (page: readonly Tile[]) => {
    const hasAttention = grows && page.some(({ needsAttention }) => needsAttention)
    const grown = hasAttention ? fitWall({ ...options, wide: page.map((tile) => tile.needsAttention) }) : null
    if (grown?.isLegible) return { fit: grown, isGrown: true }
    return { fit: fitWall({ ...options, wide: page.map(() => false) }), isGrown: false }
  }
  const one = fitPage(tiles.slice(0, maxOnScreen))
  if (tiles.length <= maxOnScreen && one.fit.isLegible) return { pages: [tiles], ...one }
  const pinned = tiles.filter(({ needsAttention }) => needsAttention)
  return (
    divide(
      tiles.filter(({ needsAttention }) => !needsAttention),
      pinned,
      fitPage,
    ) ??
    // The tiles that need attention alone would fill a screen.
    divide(tiles, [], fitPage) ?? { pages: [tiles], ...one }
  )
}

/** As few pages as possible; null if not even one tile fits on a page. */
function divide<Tile>(
  tiles: readonly Tile[],
  pinned: readonly Tile[],
  fitPage: (page: readonly Tile[]) => Omit<WallPages<Tile>, 'pages'>,
): WallPages<Tile> | null {
  for (let count = 2; count <= tiles.length; count++) {
    const size = Math.ceil(tiles.length / count)
    if (pinned.length + size > maxOnScreen) continue
    const page = (index: number) => [...pinned, ...tiles.slice(index * size, (index + 1) * size)]
    const fitted = fitPage(page(0))
    if (!fitted.fit.isLegible) continue
    return { pages: Array.from({ length: Math.ceil(tiles.length / size) }, (_, index) => page(index)), ...fitted }
  }
  return null
}
