/** Other installations of Micwatch that this one follows. */

import { type Body, named, oneOf, text, textOrNull, timeOrNull, whole, wholeOrNull } from '../described.ts'
import { upstreamStatuses } from '../values.ts'

export const Site = named('Site', 'An installation that this one follows, directly or through another one.', {
  code: text(
    "Code of the manufacturer's record; for a site that is followed through another one, `<site>/<code there>`.",
  ),
  name: text('Name.'),
  url: textOrNull('Address; null for a site that is followed through another one.'),
  via: textOrNull('Code of the site through which it is followed; null if it is followed directly.'),
  status: oneOf([...upstreamStatuses], 'As in the health of the service.'),
  problems: whole('Number of channels that need attention.'),
  open_alerts: whole('Number of alerts that are raised or snoozed.'),
  receivers: whole('Number of receivers.'),
  channels: whole('Number of channels.'),
  latency_ms: wholeOrNull('Time that the last ping took; null while the site cannot be reached.'),
  last_seen: timeOrNull('When the site last sent something; null if this process has not received anything.'),
})
export type SiteBody = Body<typeof Site>
