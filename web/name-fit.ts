/** How a name is set as large as fits: on one line, or broken between two words. */

export interface NameFit {
  /** How wide the whole is in one line, in units of its letters' size. */
  readonly whole: number
  /** The longer line when broken at the best place; the whole where it has one word. */
  readonly broken: number
}

const least = 2.2
/** Longer ones are cut: smaller letters would be read by nobody. */
const most = 22

export function fitName(name: string): NameFit {
  const words = name.split(/\s+/)
  const whole = within(widthOf(name))
  let broken = whole
  for (let at = 1; at < words.length; at++) {
    const longer = Math.max(widthOf(words.slice(0, at).join(' ')), widthOf(words.slice(at).join(' ')))
    broken = Math.min(broken, within(longer))
  }
  return { whole, broken }
}

/** Bold letters of the faces in the style sheet, rather too wide than too narrow: what does not fit would be cut. */
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
