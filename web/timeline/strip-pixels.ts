/** While the time moves, only the new columns and the changed strips are drawn. */

import { createColumns, foldColumns } from './fold.ts'
import type { Source } from './level-blocks.ts'
import { drawStrip, type Pixels, type StripColours } from './raster.ts'

/** Lengths are in canvas pixels. */
export interface Picture {
  readonly offset: number
  readonly msPerColumn: number
  /** Epoch ms */
  readonly now: number
  readonly scrollTop: number
  readonly rowHeight: number
  readonly labelHeight: number
  readonly isDetailed: boolean
  readonly scale: number
  readonly rows: readonly number[]
  readonly colours: StripColours
  find(channelId: number, at: number): Source
}

export interface StripPixels {
  draw(pixels: Pixels, picture: Picture, changed: ReadonlySet<number>): void
}

export function createStripPixels(): StripPixels {
  let last: { readonly pixels: Pixels; readonly picture: Picture } | null = null
  let columns = createColumns(0)

  function drawRows(pixels: Pixels, picture: Picture, first: number, end: number, only: ReadonlySet<number> | null) {
    if (columns.state.length !== pixels.width) columns = createColumns(pixels.width)
    const { rows, scrollTop, rowHeight, labelHeight, isDetailed, scale, colours, offset, msPerColumn, now } = picture
    const range = visibleRows(picture, pixels.height)
    for (let index = range.first; index < range.last; index++) {
      const channelId = rows[index] ?? 0
      if (only !== null && !only.has(channelId)) continue
      const margin = Math.ceil(2 * scale)
      const find = (at: number) => picture.find(channelId, at)
      const [from, to] = [Math.max(0, first - margin), Math.min(pixels.width, end + margin)]
      foldColumns(columns, { offset, msPerColumn, first: from, last: to, now, find })
      const top = index * rowHeight - scrollTop + labelHeight
      const box = { top, height: rowHeight - labelHeight, isDetailed, scale }
      drawStrip({ pixels, columns, colours, box, offset, first, last: end })
    }
  }

  return {
    draw(pixels, picture, changed) {
      const before = last
      last = { pixels, picture }
      const moved = before === null ? 0 : picture.offset - before.picture.offset
      if (
        before === null ||
        before.pixels !== pixels ||
        !isShifted(before.picture, picture) ||
        Math.abs(moved) >= pixels.width
      ) {
        pixels.data.fill(picture.colours.page)
        drawRows(pixels, picture, 0, pixels.width, null)
        return
      }
      if (moved > 0) pixels.data.copyWithin(0, moved)
      else if (moved < 0) pixels.data.copyWithin(-moved, 0, pixels.data.length + moved)
      // Marks may extend beside the new columns.
      const margin = Math.ceil(2 * picture.scale)
      if (moved > 0) drawRows(pixels, picture, Math.max(0, pixels.width - moved - margin), pixels.width, null)
      else if (moved < 0) drawRows(pixels, picture, 0, Math.min(pixels.width, margin - moved), null)
      if (changed.size > 0) drawRows(pixels, picture, 0, pixels.width, changed)
    },
  }
}

export function visibleRows(
  { rows, scrollTop, rowHeight }: Pick<Picture, 'rows' | 'scrollTop' | 'rowHeight'>,
  height: number,
) {
  return {
    first: Math.max(0, Math.floor(scrollTop / rowHeight)),
    last: Math.min(rows.length, Math.ceil((scrollTop + height) / rowHeight)),
  }
}

function isShifted(a: Picture, b: Picture): boolean {
  return (
    a.msPerColumn === b.msPerColumn &&
    a.scrollTop === b.scrollTop &&
    a.rowHeight === b.rowHeight &&
    a.labelHeight === b.labelHeight &&
    a.isDetailed === b.isDetailed &&
    a.scale === b.scale &&
    a.rows === b.rows &&
    a.colours === b.colours
  )
}
