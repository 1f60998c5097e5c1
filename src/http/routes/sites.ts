/** `GET /api/sites/`: the installations that this one follows. */

import { type SiteBody, siteOperations } from '../../contract/sites.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export interface SiteRoutesDeps {
  sites(): readonly SiteBody[]
}

export function siteRoutes(app: ContractServer, { sites }: SiteRoutesDeps): void {
  app.route({ ...siteOperations.listSites, handler: (request) => paginate(request, sites()) })
}
