/** `GET /api/sites/`: the installations that this one follows. */

import { siteOperations } from '../../contract/sites.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export function siteRoutes(app: ContractServer, { followedSites }: Service): void {
  app.route({ ...siteOperations.listSites, handler: (request) => paginate(request, followedSites.list()) })
}
