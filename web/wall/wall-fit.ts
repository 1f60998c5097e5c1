/**
 * The grid of the wall depends only on the number of tiles, the screen and the view, so that no tile moves while the
 * wall is open. Sizes follow from the viewing distance. A capital letter is comfortable to read at 1/200 of the
 * distance and legible at 1/350: at five metres from a 55-inch screen with 1080 lines, 40 and 23 pixels. All names of a
 * wall have the same size, and other texts half of it.
 */

import type { Density, Detail } from '../app/view.ts'

export interface Space {
  /** CSS pixels. */
  readonly width: number
  readonly height: number
}

/** The parts below the name, the state, the battery and the bars. The first ones are hidden first. */
export const parts = ['receiver', 'frequency', 'numbers', 'chart'] as const
export type Part = (typeof parts)[number]

export interface FitOptions {
  readonly count: number
  /** em. Nine names in ten are at most this wide. */
  readonly nameWidth: number
  readonly room: Space
  /** Shorter side of the screen in CSS pixels. */
  readonly screen: number
  /** The page scrolls, as on a phone. */
  readonly scrolls: boolean
  readonly density: Density
  readonly detail: Detail
  readonly hasCharts: boolean
}

export interface Fit {
  readonly columns: number
  readonly rows: number
  readonly gap: number
  readonly cell: Space
  /** Font size of the names in CSS pixels. */
  readonly name: number
  readonly unit: number
  /** Tiles with a name of one line, and with a longer one. */
  readonly shapes: readonly [Shape, Shape]
  readonly isLegible: boolean
}

export interface Shape {
  readonly lines: 1 | 2
  readonly parts: readonly Part[]
  /** There is room for a picture beside the state and the levels. */
  readonly hasPicture: boolean
  /** Largest font size of the state and the battery while the tile needs attention. */
  readonly alarm: number
  /** Space above the name in CSS pixels. */
  readonly space: number
}

/** Height of a capital letter in em, in Inter. */
const capHeight = 0.7275
/** Height of a capital letter at density M. Screens with more than 1080 lines show more, not larger. */
const comfortableCap = 40
const legibleCap = 23
const usualLines = 1080
/** CSS pixels, for small screens, which are viewed from nearby. */
const minCap = 10
const scrollingCap = 14.5
/** More than fit on any screen. */
const maxColumns = 96
const densities: Readonly<Record<Density, number>> = { s: 0.75, m: 1, l: 2 }
/** Larger names would only take the room of the levels. */
const maxPerComfortable = 1.45

/** em. A wider name takes two lines, because it would make all names smaller. */
export const maxNameWidth = 12
const nameWidths = [5.5, 6.5, 7.5, 8.5, 10]
/** em */
const nameLine = 0.97
/** Other texts in names. On a phone, half of a name would be too small. */
const unitPerName = { fixed: 0.5, scrolling: 0.65 }
/** In units: the padding, and the least width of a tile with a picture. */
const unitsWide = { padding: 1, picture: 16 }
/** CSS pixels: two bars of 3 px. */
const minBars = 7
const unitsHigh = { status: 1, padding: 0.1, bars: 0.45, numbers: 2.2, chart: 1.9, frequency: 1.3, receiver: 0 }
/** In units: above the name. */
const maxSpace = 0.4
/** Minimum widths in units of parts beside each other. */
const partWidth: Record<Part, number> = { chart: 0, numbers: 12, frequency: 8, receiver: 15 }

/** Rounded up to whole pixels. */
export function legibleName({ screen, density }: Pick<FitOptions, 'screen' | 'density'>): number {
  return nameOfCap(legibleCap * Math.max(1, densities[density]), screen)
}

function comfortableName({ screen, density, scrolls }: FitOptions): number {
  return scrolls
    ? Math.ceil((scrollingCap * densities[density]) / capHeight)
    : nameOfCap(comfortableCap * densities[density], screen)
}

function nameOfCap(cap: number, screen: number): number {
  return Math.ceil(Math.max(minCap, cap * Math.min(1, screen / usualLines)) / capHeight)
}

export function fitWall(options: FitOptions): Fit {
  if (options.scrolls) return fitScrolling(options)
  const largest = largestName(options)
  const narrowed = { ...options, nameWidth: Math.min(maxNameWidth, options.nameWidth) }
  // A wall that is opened after a change of a name rarely has another grid.
  const steady = { ...options, nameWidth: nameWidths.find((step) => step >= options.nameWidth) ?? maxNameWidth }
  const grids = Array.from({ length: Math.max(1, Math.min(options.count, maxColumns)) }, (_, index) =>
    rate(steady, index + 1, largest),
  )
  const { columns } = grids.reduce((best, grid) => (isBetter(grid.scores, best.scores) ? grid : best))
  const best = rate(narrowed, columns, largest)
  return complete(narrowed, best, Math.max(1, Math.floor(Math.max(...best.sizes) + 0.01)))
}

/** On a screen with more than 1080 lines, as large as on one with 1080. */
function largestName(options: FitOptions): number {
  const { room, screen } = options
  const comfortable = comfortableName(options)
  if (screen <= usualLines) return comfortable * maxPerComfortable
  const scale = usualLines / screen
  const usual = { width: room.width * scale, height: room.height * scale }
  return Math.max(comfortable, fitWall({ ...options, room: usual, screen: usualLines }).name)
}

/** As many columns as the names allow. All tiles have room for a name of two lines. */
function fitScrolling(options: FitOptions): Fit {
  const { room, count } = options
  const name = comfortableName(options)
  const gap = 4
  const least = widthInNames(options) * name
  const columns = Math.max(1, Math.floor((room.width + gap) / (least + gap)))
  const cell = {
    width: (room.width - gap * (columns - 1)) / columns,
    height: Math.ceil(heightOf(options, name, 2, [])),
  }
  return complete(options, { columns, rows: Math.ceil(count / columns), gap, cell }, name)
}

type Grid = Pick<Fit, 'columns' | 'rows' | 'gap' | 'cell'>

interface RatedGrid extends Grid {
  /** Font sizes of the names without and with all parts. */
  readonly sizes: readonly number[]
  /** The most important first: legible, comfortable, with two lines for long names, with all parts. */
  readonly scores: readonly number[]
}

function rate(options: FitOptions, columns: number, largest: number): RatedGrid {
  const { count, room, screen } = options
  const rows = Math.max(1, Math.ceil(count / columns))
  // Many small tiles need the space of the gaps.
  const gap = rows > 16 ? 1 : rows > 8 ? 2 : Math.max(2, Math.round(Math.min(screen, usualLines) / 216))
  const cell = {
    width: (room.width - gap * (columns - 1)) / columns,
    height: (room.height - gap * (rows - 1)) / rows,
  }
  const sizeFor = (lines: 1 | 2, shown: readonly Part[]) =>
    Math.min(cell.width / widthInNames(options), largestIn(options, cell.height, lines, shown))
  const comfortable = comfortableName(options)
  const sizes = [Math.min(comfortable, sizeFor(1, [])), Math.min(largest, sizeFor(1, possibleParts(options)))]
  const hasTwoLines = sizeFor(2, []) >= Math.max(...sizes) - 0.01
  return {
    ...{ columns, rows, gap, cell, sizes },
    scores: [Math.min(legibleName(options), sizeFor(1, [])), sizes[0] ?? 0, hasTwoLines ? 1 : 0, sizes[1] ?? 0],
  }
}

function isBetter(scores: readonly number[], than: readonly number[]): boolean {
  const index = scores.findIndex((score, index) => Math.abs(score - (than[index] ?? 0)) > 0.01)
  return index !== -1 && (scores[index] ?? 0) > (than[index] ?? 0)
}

function complete(options: FitOptions, { columns, rows, gap, cell }: Grid, name: number): Fit {
  const one = shapeOf(options, cell, name, 1)
  const hasTwoLines = heightOf(options, name, 2, []) <= cell.height + 0.5
  return {
    ...{ columns, rows, gap, cell, name, unit: name * unitShare(options) },
    shapes: [one, hasTwoLines ? shapeOf(options, cell, name, 2) : one],
    isLegible: name >= legibleName(options),
  }
}

function shapeOf(options: FitOptions, cell: Space, name: number, lines: 1 | 2): Shape {
  const unit = name * unitShare(options)
  const parts = partsOf(options, cell, name, lines)
  const free = (shown: readonly Part[]) => cell.height - heightOf(options, name, lines, shown)
  // A tile that needs attention leaves out the frequency and the receiver.
  const kept = parts.filter((part) => part === 'numbers' || part === 'chart')
  const space = Math.max(0, Math.min(unit * maxSpace, free(parts) / 2))
  return {
    ...{ lines, parts, space },
    hasPicture: parts.includes('numbers') && cell.width >= unitsWide.picture * unit,
    alarm: Math.max(unit, Math.floor(Math.min(name * 0.9, unit + free(kept) - space))),
  }
}

function unitShare({ scrolls }: FitOptions): number {
  return scrolls ? unitPerName.scrolling : unitPerName.fixed
}

/** Without the bars. */
function heightInNames(options: FitOptions, lines: 1 | 2, shown: readonly Part[]): number {
  const units = unitsHigh.status + unitsHigh.padding + shown.reduce((sum, part) => sum + unitsHigh[part], 0)
  return lines * nameLine + units * unitShare(options)
}

function heightOf(options: FitOptions, name: number, lines: 1 | 2, shown: readonly Part[]): number {
  const bars = shown.includes('numbers') ? 0 : Math.max(minBars, unitsHigh.bars * unitShare(options) * name)
  return heightInNames(options, lines, shown) * name + bars
}

/** The inverse of `heightOf`. */
function largestIn(options: FitOptions, height: number, lines: 1 | 2, shown: readonly Part[]): number {
  const names = heightInNames(options, lines, shown)
  if (shown.includes('numbers')) return height / names
  return Math.min((height - minBars) / names, height / (names + unitsHigh.bars * unitShare(options)))
}

function widthInNames(options: FitOptions): number {
  return options.nameWidth + unitsWide.padding * unitShare(options)
}

function possibleParts({ detail, hasCharts }: FitOptions): readonly Part[] {
  if (detail === 'status') return []
  return parts.filter((part) => part !== 'chart' || (hasCharts && detail !== 'usual'))
}

/** The receiver is beside the frequency. */
function partsOf(options: FitOptions, cell: Space, name: number, lines: 1 | 2): readonly Part[] {
  const unit = name * unitShare(options)
  const possible = possibleParts(options)
  for (let from = 0; from < possible.length; from++) {
    const shown = possible.slice(from).filter((part) => cell.width >= partWidth[part] * unit)
    if (heightOf(options, name, lines, shown) <= cell.height + 0.5) return shown
  }
  return []
}

export interface WallPages {
  readonly count: number
  readonly perPage: number
  /** The same for all pages, so that the names have one size. */
  readonly fit: Fit
}

/** As few pages as possible with legible names; one if not even a single tile is legible. */
export function paginate(options: FitOptions): WallPages {
  const one = fitWall(options)
  if (one.isLegible || options.scrolls || !fitWall({ ...options, count: 1 }).isLegible) {
    return { count: 1, perPage: options.count, fit: one }
  }
  for (let pages = 2; ; pages++) {
    const perPage = Math.ceil(options.count / pages)
    const fit = fitWall({ ...options, count: perPage })
    if (fit.isLegible) return { count: Math.ceil(options.count / perPage), perPage, fit }
  }
}
