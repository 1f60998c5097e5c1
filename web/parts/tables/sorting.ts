export type SortValue = string | number | boolean | null

export interface Order {
  readonly key: string
  readonly isDescending: boolean
}

export function orderOf(search: string): Order | null {
  const [, minus = '', key] = /^(-?)(\w+)$/.exec(new URLSearchParams(search).get('sort') ?? '') ?? []
  return key === undefined ? null : { key, isDescending: minus !== '' }
}

/** Unknown values come last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  sortBy: (row: Row) => SortValue,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1
  return [...rows].sort((row, other) => {
    const [a, b] = [sortBy(row), sortBy(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return sign * compare(a, b)
  })
}

/** Natural order: Rack 2 before Rack 10. */
function compare(a: string | number | boolean, b: string | number | boolean): number {
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, undefined, { numeric: true })
  return Number(a) - Number(b)
}
