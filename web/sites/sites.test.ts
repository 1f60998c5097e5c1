import { expect, test } from 'vitest'
import type { SiteBody } from '../../src/contract/sites.ts'
import { matchesSearch, needsAttention, sortSites } from './sites.ts'

const site = (name: string, fields: Partial<SiteBody> = {}): SiteBody => ({
  ...{ code: name.toLowerCase(), name, url: null, via: null, status: 'healthy', problems: 0, open_alerts: 0 },
  ...{ receivers: 1, channels: 4, shows: [], latency_ms: 3, last_seen: null, ...fields },
})

const sites = [
  site('Arena'),
  site('Bar', { problems: 2 }),
  site('Club', { problems: 2, open_alerts: 1 }),
  site('Dome', { status: 'unhealthy' }),
  site('East Hall', { status: 'unknown' }),
  site('Foyer', { status: 'disabled' }),
  site('Globe', { shows: ['Macbeth', 'Matinée'] }),
]
const namesOf = (list: readonly SiteBody[]) => list.map(({ name }) => name)

test('sites that cannot be reached come first, then those with problems', () => {
  expect(namesOf(sortSites(sites))).toEqual(['Dome', 'Club', 'Bar', 'East Hall', 'Arena', 'Globe', 'Foyer'])
})

test('lost connections, problems and open alerts need attention', () => {
  expect(namesOf(sites.filter(needsAttention))).toEqual(['Bar', 'Club', 'Dome'])
  expect(needsAttention(site('Hall', { open_alerts: 1 }))).toBe(true)
})

test.each([
  [' AR', ['Bar', 'Arena']],
  ['east_hall', []],
  ['hall east', ['East Hall']],
  ['macbeth', ['Globe']],
])('the search %j finds %j', (search, found) => {
  expect(namesOf(sites.filter((each) => matchesSearch(each, search))).sort()).toEqual(found.toSorted())
})
