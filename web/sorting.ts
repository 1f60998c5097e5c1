/** By which column a list is sorted: `sort=name` in the address, `sort=-name` from the end. */

export type SortValue = string | number | boolean | null

export interface Order {
  readonly key: string
  readonly isDescending: boolean
}

export function orderOf(search: string): Order | null {
  const [, minus = '', key] = /^(-?)(\w+)$/.exec(new URLSearchParams(search).get('sort') ?? '') ?? []
  return key === undefined ? null : { key, isDescending: minus !== '' }
}

/** What is not known stands at the end, either way. */
export function sortRows<Row>(
  rows: readonly Row[],
  sortBy: (row: Row) => SortValue,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1
  return [...rows].sort((one, other) => {
    const [a, b] = [sortBy(one), sortBy(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return sign * compare(a, b)
  })
}

/** Rack 2 comes before Rack 10. */
function compare(a: string | number | boolean, b: string | number | boolean): number {
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, undefined, { numeric: true })
  return Number(a) - Number(b)
}
