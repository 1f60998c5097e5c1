const names = {
  text: 'text',
  textSoft: 'text-soft',
  page: 'surface-sunken',
  line: 'line',
  lineStrong: 'line-strong',
  selected: 'surface-selected',
  accent: 'accent',
  on: 'meter-rf',
  off: 'idle-icon',
  offline: 'past-edge',
  planned: 'past-edge',
  noise: 'meter-old',
  ok: 'ok-icon',
  critical: 'critical-icon',
  warning: 'warning-icon',
  info: 'info-icon',
  tvInUse: 'warning-edge',
} as const

/** In drawing order. The fifth scan has the colour of the first. */
const traceNames = ['ok-icon', 'info-edge', 'warning-edge', 'past-edge'] as const

export type SpectrumColours = Readonly<Record<keyof typeof names, string>> & {
  readonly traces: readonly string[]
  readonly font: string
}

export function readColours(): SpectrumColours {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const named = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, read(name)]))
  return { ...(named as Record<keyof typeof names, string>), traces: traceNames.map(read), font: style.fontFamily }
}

export function traceVariable(index: number): string {
  return `var(--${traceNames[index % traceNames.length]})`
}
