/** One promise: what is done to find out whether it is kept, and what was measured. */

import type { AtEnd } from '../harness.ts'

export interface Finding {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The least that could do the same, in the same run. */
  readonly reference?: number
  /** In words. */
  readonly promised: string
  readonly isKept: boolean
  /** Lost writes, bugs, leaks: no machine is an excuse. The others are times and rates. */
  readonly isHard?: boolean
}

export interface CheckOptions {
  /** Small enough for every push. */
  readonly isQuick: boolean
  readonly seed: number
  say(text: string): void
}

export interface Check {
  readonly id: string
  readonly what: string
  /** Among those that run on every push. */
  readonly isQuick?: boolean
  /** So long that it runs only when it is named. */
  readonly isLong?: boolean
  run(atEnd: AtEnd, options: CheckOptions): Promise<readonly Finding[]>
}

/** A count of things that must not happen. */
export function none(name: string, troubles: readonly string[], say: CheckOptions['say']): Finding {
  for (const trouble of troubles) say(`  ${trouble}`)
  return { name, value: troubles.length, unit: '', promised: 'none', isKept: troubles.length === 0, isHard: true }
}

export function atMost(name: string, value: number, limit: number, unit: string, reference?: number): Finding {
  const told = reference === undefined ? {} : { reference }
  return { name, value, unit, ...told, promised: `≤ ${format(limit)}`, isKept: value <= limit }
}

export function atLeast(name: string, value: number, limit: number, unit: string, reference?: number): Finding {
  const told = reference === undefined ? {} : { reference }
  return { name, value, unit, ...told, promised: `≥ ${format(limit)}`, isKept: value >= limit }
}

export function format(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
