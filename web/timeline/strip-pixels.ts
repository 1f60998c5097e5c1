/** While the time moves, only the new columns and the changed strips are drawn. */

import { createColumns, foldColumns } from './fold.ts'
import type { Source } from './level-blocks.ts'
import { drawStrip, type Pixels, type StripColours } from './raster.ts'
import type { RowLayout } from './row-layout.ts'

/** Lengths are in canvas pixels, unless stated otherwise. */
export interface Picture {
  readonly offset: number
  readonly msPerColumn: number
  /** Epoch ms */
  readonly now: number
  readonly scrollTop: number
  /** Canvas pixels per CSS pixel */
  readonly scale: number
  /** In CSS pixels. */
  readonly layout: RowLayout
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
    const { layout, scrollTop, scale, colours, offset, msPerColumn, now } = picture
    const range = layout.visible(scrollTop / scale, pixels.height / scale)
    const toY = (length: number) => Math.round(length * scale) - scrollTop
    for (let row = range.first; row < range.last; row++) {
      const channelId = layout.ids[row] ?? 0
      if (only !== null && !only.has(channelId)) continue
      const margin = Math.ceil(2 * scale)
      const find = (at: number) => picture.find(channelId, at)
      const [from, to] = [Math.max(0, first - margin), Math.min(pixels.width, end + margin)]
      foldColumns(columns, { offset, msPerColumn, first: from, last: to, now, find })
      const top = toY(layout.topOf(row) + layout.labelHeight)
      const box = { top, height: toY(layout.topOf(row + 1)) - top, lanes: layout.lanesOf(row), scale }
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

function isShifted(a: Picture, b: Picture): boolean {
  return (
    a.msPerColumn === b.msPerColumn &&
    a.scrollTop === b.scrollTop &&
    a.layout === b.layout &&
    a.scale === b.scale &&
    a.colours === b.colours
  )
}
