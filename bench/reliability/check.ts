/** Types and helpers for reliability checks. Each check measures whether one promise of docs/reliability.md is met. */

import type { AtEnd } from '../harness.ts'

export interface Finding {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The same value for a minimal implementation, measured in the same run. */
  readonly reference?: number
  /** The target as text, for example `≤ 5`. */
  readonly target: string
  readonly isMet: boolean
  /**
   * True for lost writes, bugs and leaks, which do not depend on the speed of the machine. All other findings are times
   * and rates.
   */
  readonly isCritical?: boolean
}

export interface CheckOptions {
  /** True for the short variant, which CI runs on every push. */
  readonly isQuick: boolean
  readonly seed: number
  log(text: string): void
}

export interface Check {
  readonly id: string
  /** The name that selects several checks. */
  readonly group?: string
  readonly description: string
  /** True if CI runs this check on every push. */
  readonly isQuick?: boolean
  /** True if the check takes so long that it runs only if `--only` selects it. */
  readonly isLong?: boolean
  run(atEnd: AtEnd, options: CheckOptions): Promise<readonly Finding[]>
}

/** Logs each problem. The returned finding is met if there are no problems. */
export function expectNone(name: string, problems: readonly string[], log: CheckOptions['log']): Finding {
  for (const problem of problems) log(`  ${problem}`)
  return { name, value: problems.length, unit: '', target: '0', isMet: problems.length === 0, isCritical: true }
}

export function atMost(name: string, value: number, limit: number, unit: string, reference?: number): Finding {
  const optional = reference === undefined ? {} : { reference }
  return { name, value, unit, ...optional, target: `≤ ${format(limit)}`, isMet: value <= limit }
}

export function atLeast(name: string, value: number, limit: number, unit: string, reference?: number): Finding {
  const optional = reference === undefined ? {} : { reference }
  return { name, value, unit, ...optional, target: `≥ ${format(limit)}`, isMet: value >= limit }
}

export function format(value: number): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
