/** Routes for the processes that use the database, and for acknowledging a database incident. */

import { acknowledgeStore, type StoreActionDeps } from '../../actions/acknowledge-store.ts'
import { healthOperations } from '../../contract/health.ts'
import { toNodes } from '../../domain/scheduling/node.ts'
import { listHeldLeases } from '../../storage/leases.ts'
import type { ContractServer } from '../server/contract.ts'

export interface StoreRoutesDeps {
  readonly storeDeps: StoreActionDeps
}

export function storeRoutes(app: ContractServer, { storeDeps }: StoreRoutesDeps): void {
  app.route({
    ...healthOperations.listNodes,
    config: { needs: 'inspect' },
    handler: async () => toNodes(await listHeldLeases(storeDeps.db.read)),
  })

  app.route({
    ...healthOperations.acknowledgeStore,
    config: { needs: 'administer' },
    handler: ({ actor }) => acknowledgeStore(storeDeps, actor),
  })
}
