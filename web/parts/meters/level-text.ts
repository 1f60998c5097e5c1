/** Painted on the canvas, because a level changes too often for the DOM. */

import type { Painting } from '../../app/painter.ts'

interface LevelTextOptions {
  /** Its style sets font and colour. The text becomes its accessible name, unless `labelOf` is given. */
  readonly element: HTMLElement
  read(): string
  readonly labelOf?: ((text: string) => string) | undefined
}

/** Faster changes cannot be read. */
const changeIntervalMs = 250
/** The browser computes the colour, so it is read less often. */
const colourIntervalMs = 500

/** Right-aligned in its element. */
export function createLevelText({ element, read, labelOf = String }: LevelTextOptions): Painting {
  const style = getComputedStyle(element)
  let text = ''
  let changedAt = Number.NEGATIVE_INFINITY
  let colour = ''
  let colourCheckedAt = Number.NEGATIVE_INFINITY
  return {
    element,
    isDirty: true,
    step(now) {
      if (now - colourCheckedAt >= colourIntervalMs) {
        colourCheckedAt = now
        if (style.color !== colour) this.isDirty = true
      }
      const next = read()
      if (next === text) return false
      if (now - changedAt < changeIntervalMs) return true
      text = next
      changedAt = now
      element.ariaLabel = labelOf(text)
      this.isDirty = true
      return false
    },
    draw(context, { left, top, width, height }) {
      const size = Number.parseFloat(style.fontSize) * devicePixelRatio
      context.clearRect(left, top, width, height)
      context.font = `${style.fontWeight} ${size}px ${style.fontFamily}`
      colour = style.color
      context.fillStyle = colour
      context.textAlign = 'right'
      // The baseline of the DOM, on a whole pixel.
      const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = context.measureText('0')
      context.fillText(text, left + width, Math.floor(top + (height + above - below) / 2))
    },
  }
}
