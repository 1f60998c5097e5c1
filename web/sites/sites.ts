import type { SiteBody } from '../../src/contract/sites.ts'

/** `connecting`: not reached yet. `lost`: the connection fails. */
export type SiteState = 'connected' | 'connecting' | 'lost' | 'disabled'

export function siteState({ status }: SiteBody): SiteState {
  switch (status) {
    case 'healthy':
      return 'connected'
    case 'unknown':
      return 'connecting'
    case 'disabled':
      return 'disabled'
    default:
      return 'lost'
  }
}

export function needsAttention(site: SiteBody): boolean {
  return siteState(site) === 'lost' || site.problems > 0 || site.open_alerts > 0
}

// Creating a collator takes much longer than comparing two names.
const byName = new Intl.Collator(undefined, { numeric: true })

/** Lost connections first, then by problems and open alerts, then by name. */
export function sortSites(sites: readonly SiteBody[]): readonly SiteBody[] {
  return sites.toSorted(
    (a, b) =>
      rankOf(a) - rankOf(b) ||
      b.problems - a.problems ||
      b.open_alerts - a.open_alerts ||
      byName.compare(a.name, b.name),
  )
}

function rankOf(site: SiteBody): number {
  const state = siteState(site)
  if (state === 'lost') return 0
  if (needsAttention(site)) return 1
  return state === 'connecting' ? 2 : state === 'connected' ? 3 : 4
}

/** True if every word occurs in the name, the code or the title of a running show. */
export function matchesSearch({ name, code, shows }: SiteBody, search: string): boolean {
  const text = [name, code, ...(shows ?? [])].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
