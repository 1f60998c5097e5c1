/**
 * Estimates the width of a name on one line and on two lines. From these widths the style sheet computes the largest
 * font size.
 */

export interface NameFit {
  /** Width on one line, in em. */
  readonly whole: number
  /** Width of the longer line at the best break; equals `whole` for a single word. */
  readonly broken: number
}

const least = 2.2
/** The maximum width in em. A wider name is truncated, because it would only fit in letters too small to read. */
const most = 22

export function fitName(name: string): NameFit {
  const words = name.split(/\s+/)
  const whole = within(widthOf(name))
  let broken = whole
  for (let index = 1; index < words.length; index++) {
    const longer = Math.max(widthOf(words.slice(0, index).join(' ')), widthOf(words.slice(index).join(' ')))
    broken = Math.min(broken, within(longer))
  }
  return { whole, broken }
}

/** Widths of bold letters in the style sheet's fonts. Rounded up, because a name wider than its box is cut off. */
const widths: readonly [letters: RegExp, em: number][] = [
  [/[iljI.,:;'’|!]/u, 0.32],
  [/[ftr()[\]/ -]/u, 0.42],
  [/[mMW@%]/u, 0.95],
  [/[w&]/u, 0.82],
  [/\p{Lu}/u, 0.74],
  [/[\p{Ll}\p{N}]/u, 0.62],
  [/\p{Mn}/u, 0],
]

function widthOf(text: string): number {
  let width = 0
  for (const letter of text) width += widths.find(([letters]) => letters.test(letter))?.[1] ?? 1.05
  return width
}

function within(width: number): number {
  return Math.min(most, Math.max(least, Math.round(width * 100) / 100))
}
