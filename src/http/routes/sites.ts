/** `GET /api/sites/`: the installations that this one follows. */

import * as operations from '../../contract/operations/sites.ts'
import type { SiteBody } from '../../contract/resources/sites.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export interface SiteRoutesDeps {
  sites(): readonly SiteBody[]
}

export function siteRoutes(app: ContractServer, { sites }: SiteRoutesDeps): void {
  app.route({ ...operations.listSites, handler: (request) => paginate(request, sites()) })
}
