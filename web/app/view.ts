/** View settings of a page: the URL overrides local storage, which overrides the defaults. */

import { type Column, isColumn, type SortKey, sortKeys } from './columns.ts'
import { formatQuery, parseQuery } from './query.ts'

export const stateFilters = ['all', 'problems', 'handled', 'replace', 'on', 'off'] as const
export const layouts = ['grid', 'list'] as const
export const details = ['auto', 'full', 'usual', 'status'] as const
export const densities = ['s', 'm', 'l'] as const
export const themes = ['dark', 'light', 'contrast', 'system'] as const
const switches = ['on', 'off'] as const
const kiosks = ['0', '1'] as const

export type Sort = SortKey | `-${SortKey}`
export type StateFilter = (typeof stateFilters)[number]
export type Layout = (typeof layouts)[number]
export type Detail = (typeof details)[number]
export type Density = (typeof densities)[number]
export type Theme = (typeof themes)[number]

export interface View {
  /** Manufacturer code; null for all. */
  readonly manufacturer: string | null
  /** Code of a site, `local` for this installation; null for all. */
  readonly site: string | null
  /** Group id; null for all slots. */
  readonly group: number | null
  readonly q: string
  readonly state: StateFilter
  readonly sort: Sort
  readonly layout: Layout
  readonly detail: Detail
  readonly theme: Theme
  readonly columns: string
  readonly charts: (typeof switches)[number]
  readonly pictures: (typeof switches)[number]
  /** Of the wall. */
  readonly density: Density
  /** ISO 8601; null for the present. */
  readonly at: string | null
  /** `1`: without controls. */
  readonly kiosk: (typeof kiosks)[number]
}

export const defaultView: View = {
  manufacturer: null,
  site: null,
  group: null,
  q: '',
  state: 'all',
  sort: 'slot',
  layout: 'grid',
  detail: 'auto',
  theme: 'dark',
  columns: '',
  charts: 'on',
  pictures: 'on',
  density: 'm',
  at: null,
  kiosk: '0',
}

const choices = {
  state: stateFilters,
  sort: sortKeys.flatMap((key): readonly Sort[] => [key, `-${key}`]),
  layout: layouts,
  detail: details,
  theme: themes,
  charts: switches,
  pictures: switches,
  density: densities,
  kiosk: kiosks,
} as const

/** Filters are not stored, because a channel that is hidden by an old search could be overlooked. */
const rememberedKeys = ['sort', 'layout', 'detail', 'theme', 'columns', 'charts', 'pictures', 'density'] as const

/** Ignores unknown names and values. */
export function viewOf(search: string, remembered = ''): View {
  return withMemory(parseView(parseQuery(search)), remembered)
}

export function withMemory(inAddress: Partial<View>, remembered: string): View {
  const old = parseView(parseQuery(remembered))
  const kept = Object.fromEntries(rememberedKeys.flatMap((key) => (old[key] === undefined ? [] : [[key, old[key]]])))
  const state = inAddress.state ?? defaultView.state
  return { ...defaultView, ...kept, sort: filterSort(state) ?? old.sort ?? defaultView.sort, ...inAddress }
}

/** Batteries to replace are sorted worst first. */
function filterSort(state: StateFilter): Sort | null {
  return state === 'replace' ? 'battery' : null
}

/** When a filter with its own order is turned on or off, the order in the URL is dropped. */
export function changeView(inAddress: Partial<View>, change: Partial<View>, remembered: string): View {
  const { sort, ...others } = inAddress
  const state = inAddress.state ?? defaultView.state
  const keepsSort = sort === undefined || filterSort(change.state ?? state) === filterSort(state)
  return withMemory({ ...(keepsSort ? inAddress : others), ...change }, remembered)
}

export function parseView(query: Readonly<Record<string, unknown>>): Partial<View> {
  const values: Record<string, string | number> = {}
  const read = (key: string) => String(query[key] ?? '')
  if (/^[a-z0-9_-]{1,64}$/i.test(read('manufacturer'))) values.manufacturer = read('manufacturer')
  if (/^[a-z0-9_-]{1,64}(\/[a-z0-9_-]{1,64}){0,9}$/i.test(read('site'))) values.site = read('site')
  if (/^[1-9]\d{0,14}$/.test(read('group'))) values.group = Number(read('group'))
  const q = read('q').trim().slice(0, 100)
  if (q !== '') values.q = q
  if (/^\d{4}-\d\d-\d\dT/.test(read('at')) && !Number.isNaN(Date.parse(read('at')))) values.at = read('at')
  const columns = listColumns(read('columns'))
  if (columns.length > 0) values.columns = columns.join()
  for (const [key, known] of Object.entries(choices)) {
    if ((known as readonly string[]).includes(read(key))) values[key] = read(key)
  }
  return values as Partial<View>
}

/** Each known column once. */
export function listColumns(text: string): readonly Column[] {
  return [...new Set(text.split(',').filter(isColumn))]
}

/** Only values that differ from the defaults. */
export function addressOf(view: View): Partial<View> {
  const defaults = { ...defaultView, sort: filterSort(view.state) ?? defaultView.sort }
  return Object.fromEntries(Object.entries(view).filter(([key, value]) => value !== defaults[key as keyof View]))
}

/** Restores this view in any browser, whatever is in its local storage. */
export function sharedSearchOf(view: View): string {
  const remembered = Object.fromEntries(rememberedKeys.map((key) => [key, view[key]]))
  return formatQuery({ ...addressOf(view), ...remembered })
}

/** The remembered order stays while a filter has its own. */
export function memoryOf(view: View, remembered = ''): string {
  const sort = filterSort(view.state) === null ? view.sort : withMemory({}, remembered).sort
  return new URLSearchParams(rememberedKeys.map((key) => [key, key === 'sort' ? sort : view[key]])).toString()
}
