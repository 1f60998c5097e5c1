/** How a page is to be shown: the address beats what this device remembers, which beats the default. */

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
  /** A manufacturer's code; null shows all. */
  readonly manufacturer: string | null
  /** A group's id; null shows every position. */
  readonly group: number | null
  readonly q: string
  readonly state: StateFilter
  readonly sort: Sort
  readonly layout: Layout
  readonly detail: Detail
  readonly theme: Theme
  readonly charts: (typeof switches)[number]
  /** Of performers, on the wall. */
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

/** Filters are not remembered: a channel hidden by yesterday's search would be missed today. */
const rememberedKeys = ['sort', 'layout', 'detail', 'theme', 'charts', 'pictures'] as const

/** Unknown names and values are ignored. */
export function viewOf(search: string, remembered = ''): View {
  const old = toldIn(remembered)
  const kept = Object.fromEntries(rememberedKeys.flatMap((key) => (old[key] === undefined ? [] : [[key, old[key]]])))
  return { ...defaultView, ...kept, ...toldIn(search) }
}

function toldIn(search: string): Partial<View> {
  const query = new URLSearchParams(search)
  const told: Record<string, string | number> = {}
  const manufacturer = query.get('manufacturer')
  if (manufacturer !== null && /^[a-z0-9_-]{1,64}$/i.test(manufacturer)) told.manufacturer = manufacturer
  const group = query.get('group') ?? ''
  if (/^[1-9]\d{0,14}$/.test(group)) told.group = Number(group)
  const q = query.get('q')?.trim().slice(0, 100) ?? ''
  if (q !== '') told.q = q
  for (const [key, known] of Object.entries(choices)) {
    const value = query.get(key)
    if ((known as readonly (string | null)[]).includes(value)) told[key] = value as string
  }
  return told as Partial<View>
}

/** The query that brings this view back on this device; what the view does not speak of is kept. */
export function searchOf(view: View, search = ''): string {
  return write(view, search, (key) => view[key] !== defaultView[key])
}

/** The query that brings this view back on any device, whatever that one remembers. */
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
