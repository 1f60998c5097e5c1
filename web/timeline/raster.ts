/**
 * An array of pixels is several times faster than rectangles on a canvas: 60 strips can be redrawn in every frame
 * without a graphics card.
 */

import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { audioShare, batteryShare, rfShare } from '../app/scale.ts'
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

/** 1: all levels share an area; 2: audio has an area of its own; 3: each of RF, audio and battery has one. */
export type Lanes = 1 | 2 | 3

/** Canvas pixels. The strip may extend beyond the canvas. */
export interface StripBox {
  readonly top: number
  readonly height: number
  readonly lanes: Lanes
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

export interface Lane {
  readonly top: number
  readonly bottom: number
}

/** From the top: a mark of weak RF, in an open strip the marks of events, the levels, and a bar with the state. */
export function areasOf({ top, height, lanes, scale }: StripBox) {
  const gap = Math.max(1, Math.round(scale))
  const isThin = height / scale < 30
  const markTop = top + gap
  const markBottom = markTop + Math.round((isThin ? 3 : 5) * scale)
  const barBottom = top + height - gap
  const barTop = barBottom - Math.round((isThin ? 4 : 6) * scale)
  const levels = { top: markBottom + (lanes === 3 ? Math.round(18 * scale) : 0), bottom: barTop }
  return { markTop, markBottom, levels, ...lanesIn(levels, lanes, scale), barTop, barBottom }
}

type LevelName = 'rf' | 'audio' | 'battery'

function lanesIn(all: Lane, lanes: Lanes, scale: number): Readonly<Record<LevelName, Lane>> {
  const height = all.bottom - all.top
  const at = (share: number) => all.top + Math.round(height * share)
  const gap = Math.max(1, Math.round(scale))
  if (lanes === 1) return { rf: all, audio: all, battery: all }
  if (lanes === 2) {
    return { rf: { top: all.top, bottom: at(0.6) }, audio: { top: at(0.6) + gap, bottom: all.bottom }, battery: all }
  }
  const wide = Math.round(8 * scale)
  return {
    rf: { top: all.top, bottom: at(0.46) },
    audio: { top: at(0.46) + wide, bottom: at(0.76) },
    battery: { top: at(0.76) + wide, bottom: all.bottom - gap },
  }
}

export function drawStrip(drawing: Drawing): void {
  const { pixels, box, first, last, colours } = drawing
  const areas = areasOf(box)
  const lanes = [areas.rf, areas.audio, areas.battery]
  for (let y = Math.max(0, box.top); y < Math.min(pixels.height, box.top + box.height); y++) {
    const isLevel = lanes.some(({ top, bottom }) => y >= top && y < bottom)
    pixels.data.fill(isLevel ? colours.track : colours.page, y * pixels.width + first, y * pixels.width + last)
  }
  drawLevels(drawing, areas)
  drawPatterns(drawing, areas)
  drawStates(drawing, areas)
  drawWeakMarks(drawing, areas)
}

type Areas = ReturnType<typeof areasOf>

function fillColumn({ data, width, height }: Pixels, x: number, top: number, bottom: number, colour: number) {
  const end = Math.min(height, bottom) * width + x
  for (let at = Math.max(0, top) * width + x; at < end; at += width) data[at] = colour
}

/** A row where nothing is drawn. */
const nowhere = Number.NEGATIVE_INFINITY

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

function drawLevels({ pixels, columns, colours, box, first, last }: Drawing, areas: Areas) {
  const { rf, audio, battery } = areas
  const thickness = Math.max(1, Math.round(box.scale))
  const rowsIn = ({ top, bottom }: Lane, shareOf: (level: number) => number) =>
    rowsOf(shareOf, bottom - top - thickness)
  const [rfRows, audioRows, batteryRows] = [
    rowsIn(rf, rfShare),
    rowsIn(audio, audioShare),
    rowsIn(battery, batteryShare),
  ]
  const rfRow = (dbm = noValue) => (dbm === noValue ? nowhere : rf.top + (rfRows[dbm + rowOffset] ?? 0))
  // The column to the left connects the band with the drawn part.
  let [bandTop, bandBottom] =
    first === 0 ? [nowhere, nowhere] : [rfRow(columns.rfMax[first - 1]), rfRow(columns.rfMin[first - 1])]
  for (let x = first; x < last; x++) {
    const dbfs = columns.audio[x] ?? noValue
    if (dbfs !== noValue) {
      const colour = dbfs >= clipping ? colours.audioOver : colours.audio
      fillColumn(pixels, x, audio.top + (audioRows[dbfs + rowOffset] ?? 0), audio.bottom, colour)
    }
    const [top, bottom] = [rfRow(columns.rfMax[x]), rfRow(columns.rfMin[x])]
    if (top !== nowhere) {
      const from = bandTop === nowhere ? top : Math.min(top, bandBottom)
      const to = bandTop === nowhere ? bottom : Math.max(bottom, bandTop)
      fillColumn(pixels, x, from, to + thickness, columns.weak[x] === 1 ? colours.weak : colours.rf)
    }
    const percent = columns.battery[x] ?? noValue
    if (percent !== noValue) {
      const row = battery.top + (batteryRows[percent + rowOffset] ?? 0)
      fillColumn(pixels, x, row, row + thickness, percent <= lowBattery ? colours.batteryLow : colours.battery)
    }
    ;[bandTop, bandBottom] = [top, bottom]
  }
}

/** For times without levels. The patterns move with the time. */
function drawPatterns({ pixels, columns, colours, box, offset, first, last }: Drawing, areas: Areas) {
  const { levels } = areas
  const line = Math.max(1, Math.round(box.scale))
  const [hatch, dots] = [Math.round(8 * box.scale), Math.round(6 * box.scale)]
  const [hatchStart, dotStart] = [offset % hatch, offset % dots]
  const [top, bottom] = [Math.max(0, levels.top), Math.min(pixels.height, levels.bottom)]
  for (let x = first; x < last; x++) {
    const state = columns.state[x] ?? notLoaded
    if (state !== notLoaded && state !== missing && state !== offline) continue
    if (state !== offline) fillColumn(pixels, x, top, bottom, colours.page)
    for (let y = top; y < bottom; y++) {
      const row = y - levels.top
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
function drawStates({ pixels, columns, colours, box, offset, first, last }: Drawing, areas: Areas) {
  const { barTop: top, barBottom: bottom } = areas
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
function drawWeakMarks({ pixels, columns, colours, box, first, last }: Drawing, { markTop, markBottom }: Areas) {
  const reach = Math.round(box.scale)
  for (let x = first; x < last; x++) {
    let isWeak = false
    for (let near = Math.max(0, x - reach); near <= Math.min(pixels.width - 1, x + reach); near++) {
      if (columns.weak[near] === 1) isWeak = true
    }
    if (isWeak) fillColumn(pixels, x, markTop, markBottom, colours.weak)
  }
}
