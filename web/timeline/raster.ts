/**
 * Draws strips into an array of pixels. That is several times faster than drawing rectangles on a canvas, so that 60
 * strips can be redrawn in every frame without a graphics card.
 */

import { noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { audioShare, rfShare } from '../scale.ts'
import { type Columns, notLoaded } from './fold.ts'

/** Colours as the pixels of an ImageData contain them. */
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

/** Where a strip is, in pixels of the canvas. It may extend beyond the canvas. */
export interface StripBox {
  readonly top: number
  readonly height: number
  /** Whether RF and audio have areas of their own. */
  readonly isDetailed: boolean
  /** Canvas pixels per CSS pixel */
  readonly scale: number
}

const [missing = 0, offline = 1, off = 2, muted = 3] = stateLetters.map((_, index) => index)

/** A battery at or below this percentage is drawn in the colour of a low one. */
const lowBattery = 20
/** dBFS from which the audio is clipping. */
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

/** The rows of a strip, from its top: a mark of weak RF, the levels, and a bar with the state. */
function layoutOf({ top, height, isDetailed, scale }: StripBox) {
  const gap = Math.max(1, Math.round(scale))
  const mark = Math.round((height / scale < 30 ? 3 : 5) * scale)
  const bar = Math.round((height / scale < 30 ? 4 : 6) * scale)
  const levelsTop = top + gap + mark
  const levelsBottom = top + height - gap - bar
  const middle = isDetailed ? levelsTop + Math.round((levelsBottom - levelsTop) * 0.6) : levelsBottom
  return {
    gap,
    markTop: top + gap,
    levelsTop,
    rfBottom: middle,
    audioTop: isDetailed ? middle + gap : levelsTop,
    levelsBottom,
    barBottom: top + height - gap,
  }
}

/** Draws the columns `first` to `last` of a strip. */
export function drawStrip(drawing: Drawing): void {
  const { pixels, box, first, last, colours } = drawing
  const bottom = Math.min(pixels.height, box.top + box.height)
  for (let y = Math.max(0, box.top); y < bottom; y++) {
    pixels.data.fill(colours.page, y * pixels.width + first, y * pixels.width + last)
  }
  const layout = layoutOf(box)
  drawLevels(drawing, layout)
  drawStates(drawing, layout)
  drawWeakMarks(drawing, layout)
}

type Layout = ReturnType<typeof layoutOf>

/** Where the levels of each column are; reused, because every strip is drawn in turn. */
let tops = new Int16Array(0)

function drawLevels({ pixels, columns, colours, box, offset, first, last }: Drawing, layout: Layout) {
  const { levelsTop, rfBottom, audioTop, levelsBottom } = layout
  if (tops.length < pixels.width * 4) tops = new Int16Array(pixels.width * 4)
  const { width } = pixels
  const thickness = Math.max(1, Math.round(box.scale))
  const rows = (share: number, top: number, bottom: number) =>
    top + Math.round((1 - share) * (bottom - top - thickness))
  // An extra column at the left connects the band with what is already drawn.
  let [bandTop, bandBottom] = first === 0 ? [-1, -1] : bandOf(columns, first - 1, levelsTop, rfBottom, rows)
  for (let x = first; x < last; x++) {
    const [ownTop, ownBottom] = bandOf(columns, x, levelsTop, rfBottom, rows)
    const isConnected = ownTop !== -1 && bandTop !== -1
    tops[x] = isConnected ? Math.min(ownTop, bandBottom) : ownTop
    tops[width + x] = ownTop === -1 ? -1 : (isConnected ? Math.max(ownBottom, bandTop) : ownBottom) + thickness
    const audio = columns.audio[x] ?? noValue
    tops[2 * width + x] = audio === noValue ? levelsBottom : rows(audioShare(audio), audioTop, levelsBottom)
    const battery = columns.battery[x] ?? noValue
    tops[3 * width + x] = battery === noValue ? -1 : rows(battery / 100, levelsTop, levelsBottom)
    ;[bandTop, bandBottom] = [ownTop, ownBottom]
  }
  const hatch = Math.round(8 * box.scale)
  const dots = Math.round(6 * box.scale)
  for (let y = Math.max(0, levelsTop); y < Math.min(pixels.height, levelsBottom); y++) {
    const row = y * width
    for (let x = first; x < last; x++) {
      const state = columns.state[x] ?? notLoaded
      const batteryTop = tops[3 * width + x] ?? -1
      if (state === notLoaded) {
        if ((offset + x) % dots < thickness && (y - levelsTop) % dots < thickness) pixels.data[row + x] = colours.faint
      } else if (state === missing) {
        if ((offset + x + y - box.top) % hatch < thickness) pixels.data[row + x] = colours.missing
      } else if (batteryTop !== -1 && y >= batteryTop && y < batteryTop + thickness) {
        pixels.data[row + x] = (columns.battery[x] ?? 0) <= lowBattery ? colours.batteryLow : colours.battery
      } else if (y >= (tops[x] ?? 0) && y < (tops[width + x] ?? 0)) {
        pixels.data[row + x] = columns.weak[x] === 1 ? colours.weak : colours.rf
      } else if (y >= audioTop && y >= (tops[2 * width + x] ?? 0)) {
        pixels.data[row + x] = (columns.audio[x] ?? noValue) >= clipping ? colours.audioOver : colours.audio
      } else if (state === offline && (offset + x - (y - box.top) + 1_000 * hatch) % hatch < 2 * thickness) {
        pixels.data[row + x] = colours.offline
      } else {
        pixels.data[row + x] = colours.track
      }
    }
  }
}

/** Returns the first and the last row of the RF band in a column; -1 without RF. */
function bandOf(
  columns: Columns,
  x: number,
  top: number,
  bottom: number,
  rows: (share: number, top: number, bottom: number) => number,
): [top: number, bottom: number] {
  const [least, most] = [columns.rfMin[x] ?? noValue, columns.rfMax[x] ?? noValue]
  if (least === noValue || most === noValue) return [-1, -1]
  return [rows(rfShare(most), top, bottom), rows(rfShare(least), top, bottom)]
}

/**
 * Draws the bar with the state. Its patterns differ without colour: solid (on), dashed (muted), a thin line (off),
 * chequered (offline), nothing (not recorded, not loaded).
 */
function drawStates({ pixels, columns, colours, box, offset, first, last }: Drawing, layout: Layout) {
  const { levelsBottom, barBottom } = layout
  const dash = Math.round(4 * box.scale)
  const check = Math.max(1, Math.round(2 * box.scale))
  const line = Math.max(1, Math.round(box.scale))
  const centre = levelsBottom + Math.floor((barBottom - levelsBottom - line) / 2)
  for (let y = Math.max(0, levelsBottom); y < Math.min(pixels.height, barBottom); y++) {
    for (let x = first; x < last; x++) {
      const state = columns.state[x] ?? notLoaded
      if (state === notLoaded || state === missing) continue
      const column = offset + x
      const isDrawn =
        state === offline
          ? (Math.floor(column / check) + Math.floor((y - levelsBottom) / check)) % 2 === 0
          : state === off
            ? y >= centre && y < centre + line
            : state === muted
              ? column % (2 * dash) < dash
              : true
      if (!isDrawn) continue
      pixels.data[y * pixels.width + x] =
        state === offline ? colours.offline : state === off ? colours.off : state === muted ? colours.muted : colours.on
    }
  }
}

/** Marks weak RF above the levels, at least three CSS pixels wide, so that it is visible at every zoom. */
function drawWeakMarks({ pixels, columns, colours, box, first, last }: Drawing, { markTop, levelsTop }: Layout) {
  const reach = Math.round(box.scale)
  for (let x = first; x < last; x++) {
    let isWeak = false
    for (let near = Math.max(0, x - reach); near <= Math.min(pixels.width - 1, x + reach); near++) {
      if (columns.weak[near] === 1) isWeak = true
    }
    if (!isWeak) continue
    for (let y = Math.max(0, markTop); y < Math.min(pixels.height, levelsTop); y++) {
      pixels.data[y * pixels.width + x] = colours.weak
    }
  }
}
