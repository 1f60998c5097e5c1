/** View settings of a page: the URL overrides local storage, which overrides the defaults. */

export const sorts = ['slot', 'problems', 'name', 'battery', 'rf'] as const
export const stateFilters = ['all', 'problems', 'on', 'off'] as const
export const layouts = ['grid', 'list'] as const
export const details = ['auto', 'full', 'usual', 'status'] as const
export const themes = ['dark', 'light', 'contrast', 'system'] as const
const switches = ['on', 'off'] as const

export type Sort = (typeof sorts)[number]
export type StateFilter = (typeof stateFilters)[number]
export type Layout = (typeof layouts)[number]
export type Detail = (typeof details)[number]
export type Theme = (typeof themes)[number]

export interface View {
  /** Manufacturer code; null for all. */
  readonly manufacturer: string | null
  /** Group id; null for all slots. */
  readonly group: number | null
  readonly q: string
  readonly state: StateFilter
  readonly sort: Sort
  readonly layout: Layout
  readonly detail: Detail
  readonly theme: Theme
  readonly charts: (typeof switches)[number]
  /** Performer pictures on the wall. */
  readonly pictures: (typeof switches)[number]
}

export const defaultView: View = {
  manufacturer: null,
  group: null,
  q: '',
  state: 'all',
  sort: 'slot',
  layout: 'grid',
  detail: 'auto',
  theme: 'dark',
  charts: 'on',
  pictures: 'on',
}

const choices = {
  state: stateFilters,
  sort: sorts,
  layout: layouts,
  detail: details,
  theme: themes,
  charts: switches,
  pictures: switches,
} as const

/** Filters are not stored, because a channel that is hidden by an old search could be overlooked. */
const rememberedKeys = ['sort', 'layout', 'detail', 'theme', 'charts', 'pictures'] as const

/** Reads the view from a query; unknown names and values are ignored. */
export function viewOf(search: string, remembered = ''): View {
  const old = parseSearch(remembered)
  const kept = Object.fromEntries(rememberedKeys.flatMap((key) => (old[key] === undefined ? [] : [[key, old[key]]])))
  return { ...defaultView, ...kept, ...parseSearch(search) }
}

function parseSearch(search: string): Partial<View> {
  const query = new URLSearchParams(search)
  const values: Record<string, string | number> = {}
  const manufacturer = query.get('manufacturer')
  if (manufacturer !== null && /^[a-z0-9_-]{1,64}$/i.test(manufacturer)) values.manufacturer = manufacturer
  const group = query.get('group') ?? ''
  if (/^[1-9]\d{0,14}$/.test(group)) values.group = Number(group)
  const q = query.get('q')?.trim().slice(0, 100) ?? ''
  if (q !== '') values.q = q
  for (const [key, known] of Object.entries(choices)) {
    const value = query.get(key)
    if ((known as readonly (string | null)[]).includes(value)) values[key] = value as string
  }
  return values as Partial<View>
}

/** Returns the query that restores this view in this browser; other parameters in `search` are kept. */
export function searchOf(view: View, search = ''): string {
  return write(view, search, (key) => view[key] !== defaultView[key])
}

/** Returns the query that restores this view in any browser, whatever is in its local storage. */
export function sharedSearchOf(view: View, search = ''): string {
  const isRemembered = (key: keyof View) => (rememberedKeys as readonly string[]).includes(key)
  return write(view, search, (key) => isRemembered(key) || view[key] !== defaultView[key])
}

export function memoryOf(view: View): string {
  return new URLSearchParams(rememberedKeys.map((key) => [key, view[key]])).toString()
}

function write(view: View, search: string, isWritten: (key: keyof View) => boolean): string {
  const query = new URLSearchParams(search)
  for (const key of Object.keys(defaultView) as (keyof View)[]) {
    if (isWritten(key)) query.set(key, String(view[key]))
    else query.delete(key)
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
