/**
 * An array of pixels is several times faster than rectangles on a canvas: 60 strips can be redrawn in every frame
 * without a graphics card.
 */

import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { audioShare, rfShare } from '../app/scale.ts'
import { type Columns, notLoaded } from './fold.ts'

export type StripColours = Readonly<
  Record<
    | 'page'
    | 'track'
    | 'faint'
    | 'rf'
    | 'weak'
    | 'audio'
    | 'audioOver'
    | 'battery'
    | 'batteryLow'
    | 'on'
    | 'muted'
    | 'off'
    | 'offline'
    | 'missing',
    number
  >
>

export interface Pixels {
  readonly data: Uint32Array
  readonly width: number
  readonly height: number
}

/** Canvas pixels. The strip may extend beyond the canvas. */
export interface StripBox {
  readonly top: number
  readonly height: number
  readonly isDetailed: boolean
  /** Canvas pixels per CSS pixel */
  readonly scale: number
}

const [missing = 0, offline = 1, off = 2, muted = 3, on = 4] = stateLetters.map((_, index) => index)

/** Percent */
const lowBattery = 20
/** dBFS */
const clipping = -1

export interface Drawing {
  readonly pixels: Pixels
  readonly columns: Columns
  readonly colours: StripColours
  readonly box: StripBox
  /** Number of the column at index 0, so that patterns move with the time. */
  readonly offset: number
  readonly first: number
  readonly last: number
}

/** From the top: a mark of weak RF, the levels, and a bar with the state. */
function layoutOf({ top, height, isDetailed, scale }: StripBox) {
  const gap = Math.max(1, Math.round(scale))
  const mark = Math.round((height / scale < 30 ? 3 : 5) * scale)
  const bar = Math.round((height / scale < 30 ? 4 : 6) * scale)
  const levelsTop = top + gap + mark
  const levelsBottom = top + height - gap - bar
  const middle = isDetailed ? levelsTop + Math.round((levelsBottom - levelsTop) * 0.6) : levelsBottom
  return {
    markTop: top + gap,
    levelsTop,
    rfBottom: middle,
    audioTop: isDetailed ? middle + gap : levelsTop,
    levelsBottom,
    barBottom: top + height - gap,
  }
}

export function drawStrip(drawing: Drawing): void {
  const { pixels, box, first, last, colours } = drawing
  const layout = layoutOf(box)
  const { levelsTop, levelsBottom } = layout
  for (let y = Math.max(0, box.top); y < Math.min(pixels.height, box.top + box.height); y++) {
    const colour = y >= levelsTop && y < levelsBottom ? colours.track : colours.page
    pixels.data.fill(colour, y * pixels.width + first, y * pixels.width + last)
  }
  drawLevels(drawing, layout)
  drawPatterns(drawing, layout)
  drawStates(drawing, layout)
  drawWeakMarks(drawing, layout)
}

type Layout = ReturnType<typeof layoutOf>

function fillColumn({ data, width, height }: Pixels, x: number, top: number, bottom: number, colour: number) {
  const end = Math.min(height, bottom) * width + x
  for (let at = Math.max(0, top) * width + x; at < end; at += width) data[at] = colour
}

/** A row where nothing is drawn. */
const nowhere = Number.NEGATIVE_INFINITY

const batteryShare = (percent: number) => percent / 100

/** Levels from -200 to 199 have a row in a table. */
const [rowOffset, rowCount] = [200, 400]
const knownRows = new Map<(level: number) => number, Map<number, Int16Array>>()

/** From the top of an area of this height; computed once. */
function rowsOf(shareOf: (level: number) => number, height: number): Int16Array {
  const byHeight = knownRows.get(shareOf) ?? new Map<number, Int16Array>()
  knownRows.set(shareOf, byHeight)
  let rows = byHeight.get(height)
  if (rows === undefined) {
    rows = Int16Array.from({ length: rowCount }, (_, index) => Math.round((1 - shareOf(index - rowOffset)) * height))
    byHeight.set(height, rows)
  }
  return rows
}

function drawLevels({ pixels, columns, colours, box, first, last }: Drawing, layout: Layout) {
  const { levelsTop, rfBottom, audioTop, levelsBottom } = layout
  const thickness = Math.max(1, Math.round(box.scale))
  const rfRows = rowsOf(rfShare, rfBottom - levelsTop - thickness)
  const audioRows = rowsOf(audioShare, levelsBottom - audioTop - thickness)
  const batteryRows = rowsOf(batteryShare, levelsBottom - levelsTop - thickness)
  const rfRow = (dbm = noValue) => (dbm === noValue ? nowhere : levelsTop + (rfRows[dbm + rowOffset] ?? 0))
  // The column to the left connects the band with the drawn part.
  let [bandTop, bandBottom] =
    first === 0 ? [nowhere, nowhere] : [rfRow(columns.rfMax[first - 1]), rfRow(columns.rfMin[first - 1])]
  for (let x = first; x < last; x++) {
    const audio = columns.audio[x] ?? noValue
    if (audio !== noValue) {
      const colour = audio >= clipping ? colours.audioOver : colours.audio
      fillColumn(pixels, x, audioTop + (audioRows[audio + rowOffset] ?? 0), levelsBottom, colour)
    }
    const [top, bottom] = [rfRow(columns.rfMax[x]), rfRow(columns.rfMin[x])]
    if (top !== nowhere) {
      const from = bandTop === nowhere ? top : Math.min(top, bandBottom)
      const to = bandTop === nowhere ? bottom : Math.max(bottom, bandTop)
      fillColumn(pixels, x, from, to + thickness, columns.weak[x] === 1 ? colours.weak : colours.rf)
    }
    const battery = columns.battery[x] ?? noValue
    if (battery !== noValue) {
      const row = levelsTop + (batteryRows[battery + rowOffset] ?? 0)
      fillColumn(pixels, x, row, row + thickness, battery <= lowBattery ? colours.batteryLow : colours.battery)
    }
    ;[bandTop, bandBottom] = [top, bottom]
  }
}

/** For times without levels. The patterns move with the time. */
function drawPatterns({ pixels, columns, colours, box, offset, first, last }: Drawing, layout: Layout) {
  const { levelsTop, levelsBottom } = layout
  const line = Math.max(1, Math.round(box.scale))
  const [hatch, dots] = [Math.round(8 * box.scale), Math.round(6 * box.scale)]
  const [hatchStart, dotStart] = [offset % hatch, offset % dots]
  const [top, bottom] = [Math.max(0, levelsTop), Math.min(pixels.height, levelsBottom)]
  for (let x = first; x < last; x++) {
    const state = columns.state[x] ?? notLoaded
    if (state !== notLoaded && state !== missing && state !== offline) continue
    if (state !== offline) fillColumn(pixels, x, top, bottom, colours.page)
    for (let y = top; y < bottom; y++) {
      const row = y - levelsTop
      const at = y * pixels.width + x
      if (state === notLoaded) {
        if ((dotStart + x) % dots < line && row % dots < line) pixels.data[at] = colours.faint
      } else if (state === missing) {
        if ((hatchStart + x + row) % hatch < line) pixels.data[at] = colours.missing
      } else if ((hatchStart + x + row * (hatch - 1)) % hatch < 2 * line) {
        pixels.data[at] = colours.offline
      }
    }
  }
}

/**
 * Patterns differ without colour: solid (on), dashed (muted), a thin line (off), chequered (offline), nothing (not
 * recorded, not loaded).
 */
function drawStates({ pixels, columns, colours, box, offset, first, last }: Drawing, layout: Layout) {
  const { levelsBottom: top, barBottom: bottom } = layout
  const dash = Math.round(4 * box.scale)
  const check = Math.max(1, Math.round(2 * box.scale))
  const line = Math.max(1, Math.round(box.scale))
  const centre = top + Math.floor((bottom - top - line) / 2)
  const [dashStart, checkStart] = [offset % (2 * dash), offset % (2 * check)]
  for (let x = first; x < last; x++) {
    const state = columns.state[x] ?? notLoaded
    if (state === off) fillColumn(pixels, x, centre, centre + line, colours.off)
    else if (state === on) fillColumn(pixels, x, top, bottom, colours.on)
    else if (state === muted) {
      if ((dashStart + x) % (2 * dash) < dash) fillColumn(pixels, x, top, bottom, colours.muted)
    } else if (state === offline) {
      const isShifted = (checkStart + x) % (2 * check) < check
      for (let y = isShifted ? top : top + check; y < bottom; y += 2 * check) {
        fillColumn(pixels, x, y, Math.min(bottom, y + check), colours.offline)
      }
    }
  }
}

/** At least three CSS pixels wide, so that weak RF is visible at every zoom. */
function drawWeakMarks({ pixels, columns, colours, box, first, last }: Drawing, { markTop, levelsTop }: Layout) {
  const reach = Math.round(box.scale)
  for (let x = first; x < last; x++) {
    let isWeak = false
    for (let near = Math.max(0, x - reach); near <= Math.min(pixels.width - 1, x + reach); near++) {
      if (columns.weak[near] === 1) isWeak = true
    }
    if (isWeak) fillColumn(pixels, x, markTop, levelsTop, colours.weak)
  }
}
