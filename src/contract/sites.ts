/** Other installations of Micwatch that this one follows. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { maxChannels } from './ingest.ts'
import {
  type Body,
  listOf,
  named,
  oneOf,
  orNull,
  Paging,
  pagedOf,
  text,
  textOrNull,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { upstreamStatuses } from './values.ts'

export const Site = named('Site', 'An installation that this one follows, directly or through another one.', {
  code: text(
    "Code of the manufacturer's record; for a site that is followed through another one, `<site>/<code there>`.",
  ),
  name: text('Name.'),
  url: textOrNull('Address; null for a site that is followed through another one.'),
  via: textOrNull('Code of the site through which it is followed; null if it is followed directly.'),
  status: oneOf(upstreamStatuses, 'As in the health of the service.'),
  problems: whole('Number of channels that need attention.'),
  open_alerts: whole('Number of alerts that are raised or snoozed.'),
  receivers: whole('Number of receivers.'),
  channels: whole('Number of channels.'),
  shows: orNull(
    listOf(Type.String(), 'Titles.'),
    'Titles of the shows that are running there; null while this process does not know them.',
  ),
  latency_ms: wholeOrNull('Time that the last ping took; null while the site cannot be reached.'),
  last_seen: timeOrNull('When the site last sent something; null if this process has not received anything.'),
})
export type SiteBody = Body<typeof Site>

const { code, name, url, shows } = Site.properties
export const AnnouncedSite = named('AnnouncedSite', 'An installation that this one follows, and its running shows.', {
  code,
  name,
  url,
  shows,
})
export type AnnouncedSiteBody = Body<typeof AnnouncedSite>

export const siteOperations = operationsOf({
  listSites: endpoint('GET', '/api/sites/', {
    ...about('Monitoring', 'Other installations of Micwatch that this one follows.'),
    querystring: Paging,
    response: { 200: pagedOf(Site) },
  }),
})

/** Limits for the records of a followed site that are shown and stored. */
export const siteLimits = {
  receivers: 10_000,
  channelsPerReceiver: maxChannels,
  levels: 100_000,
  alerts: 10_000,
  events: 500,
  shows: 1000,
  sites: 1000,
  assignments: 100_000,
} as const
