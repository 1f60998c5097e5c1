/** What the page's address says: which page, and how it is to be shown. */

export type Page = 'dashboard' | 'about' | 'unknown'
export type Sort = 'slot' | 'problems'

export interface View {
  /** A manufacturer's code; null shows all. */
  readonly manufacturer: string | null
  readonly sort: Sort
}

/**
 * The prefix everything lives under, without a slash at the end: `""` or `/micwatch`. The script itself is served from
 * `<mount>/assets/`, so its own address tells. (A <base> element would too, but the Content-Security-Policy forbids it.)
 */
export function mountOf(scriptUrl: string): string {
  const { pathname } = new URL(scriptUrl)
  const assets = pathname.lastIndexOf('/assets/')
  return assets === -1 ? '' : pathname.slice(0, assets)
}

export function pageOf(pathname: string, mount: string): Page {
  const path = pathname.startsWith(mount) ? pathname.slice(mount.length) : pathname
  if (path === '' || path === '/' || path === '/index.html') return 'dashboard'
  return path === '/about' || path === '/about/' ? 'about' : 'unknown'
}

/** Unknown names and values are ignored. */
export function viewOf(search: string): View {
  const query = new URLSearchParams(search)
  const manufacturer = query.get('manufacturer')
  return {
    manufacturer: manufacturer !== null && /^[a-z0-9_-]{1,64}$/i.test(manufacturer) ? manufacturer : null,
    sort: query.get('sort') === 'problems' ? 'problems' : 'slot',
  }
}

/** The query that brings this view back; what the view does not speak of is kept. */
export function searchOf(view: View, search: string): string {
  const query = new URLSearchParams(search)
  if (view.manufacturer === null) query.delete('manufacturer')
  else query.set('manufacturer', view.manufacturer)
  if (view.sort === 'slot') query.delete('sort')
  else query.set('sort', view.sort)
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
