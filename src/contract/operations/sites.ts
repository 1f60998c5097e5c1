/** Operations on the installations that this one follows. */

import { pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { Paging } from '../queries.ts'
import { Site } from '../resources/sites.ts'

export const listSites = endpoint('GET', '/api/sites/', {
  ...operation('Monitoring', 'listSites', 'Other installations of Micwatch that this one follows.'),
  querystring: Paging,
  response: { 200: pagedOf(Site) },
})
