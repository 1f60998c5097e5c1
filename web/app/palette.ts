/** Colours of the meters, read from the style sheet. */

const names = {
  track: 'track',
  tick: 'tick',
  old: 'old',
  rf: 'rf',
  rfFair: 'rf-fair',
  rfWeak: 'rf-weak',
  audio: 'audio',
  audioHigh: 'audio-high',
  audioOver: 'audio-over',
  peak: 'peak',
} as const

export type Palette = Readonly<Record<keyof typeof names, string>>

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const entries = Object.entries(names).map(([key, name]) => [key, style.getPropertyValue(`--meter-${name}`).trim()])
  return Object.fromEntries(entries) as Palette
}
