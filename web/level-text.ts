/** A level as a number, which changes too often to be a text of the page. */

import type { Painting } from './painter.ts'

interface LevelTextOptions {
  /** Sets letters and colour, and tells the level to those who listen. */
  readonly place: HTMLElement
  read(): string
}

/** What changes more often than that cannot be read. */
const changeEveryMs = 250

/** Ends at the right edge of its place. */
export function createLevelText({ place, read }: LevelTextOptions): Painting {
  const style = getComputedStyle(place)
  let text = ''
  let changedAt = Number.NEGATIVE_INFINITY
  return {
    place,
    isDirty: true,
    step(now) {
      const next = read()
      if (next === text) return false
      if (now - changedAt < changeEveryMs) return true
      text = next
      changedAt = now
      place.ariaLabel = text
      this.isDirty = true
      return false
    },
    draw(context, { left, top, width, height }) {
      const size = Number.parseFloat(style.fontSize) * devicePixelRatio
      context.clearRect(left, top, width, height)
      context.font = `${style.fontWeight} ${size}px ${style.fontFamily}`
      context.fillStyle = style.color
      context.textAlign = 'right'
      // Where the page itself would write it: in the middle of its line, on a whole pixel.
      const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = context.measureText('0')
      context.fillText(text, left + width, Math.floor(top + (height + above - below) / 2))
    },
  }
}
