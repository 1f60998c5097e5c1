/** The style sheet computes the font size from these widths. */

export interface NameFit {
  readonly whole: number
  /** Width of the longer line at the best break; equals `whole` for a single word. */
  readonly broken: number
}

const least = 2.2
/** em. A wider name is truncated, because it would only fit in letters too small to read. */
const most = 22

/** `measure` returns em. Without it, the width is estimated. */
export function fitName(name: string, measure: (text: string) => number = estimate): NameFit {
  const words = name.split(/\s+/)
  const whole = within(measure(name))
  let broken = whole
  for (let index = 1; index < words.length; index++) {
    const longer = Math.max(measure(words.slice(0, index).join(' ')), measure(words.slice(index).join(' ')))
    broken = Math.min(broken, within(longer))
  }
  return { whole, broken }
}

/**
 * Splits off a short last word, such as the number of "Choir Soprano 2". Only the start is truncated, so that
 * numbered names remain distinguishable.
 */
export function splitName(name: string): readonly [start: string, end: string] {
  const [end = ''] = /\s\S{1,3}$/u.exec(name) ?? []
  return [name.slice(0, name.length - end.length), end]
}

/** Bold letters in Inter, or in the wider of the fallback fonts. A name wider than its box is cut off. */
const widths: readonly [letters: RegExp, em: number][] = [
  [/[iljI.,:;'’|!]/u, 0.34],
  [/[ftr()[\]/ -]/u, 0.47],
  [/[W@%Æ]/u, 1.05],
  [/[mM]/u, 0.95],
  [/[w&æ]/u, 0.91],
  [/\p{Lu}/u, 0.78],
  [/[\p{Ll}\p{N}]/u, 0.65],
  [/\p{Mn}/u, 0],
]

function estimate(text: string): number {
  let width = 0
  for (const letter of text) width += widths.find(([letters]) => letters.test(letter))?.[1] ?? 1.05
  return width
}

function within(width: number): number {
  return Math.min(most, Math.max(least, Math.round(width * 100) / 100))
}
