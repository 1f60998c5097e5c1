/** Routes for the processes that use the database, and for acknowledging a database incident. */

import { acknowledgeStore } from '../../actions/acknowledge-store.ts'
import { healthOperations } from '../../contract/health.ts'
import { toNodes } from '../../domain/nodes.ts'
import type { Service } from '../../service.ts'
import { listHeldLeases } from '../../storage/leases.ts'
import type { ContractServer } from '../server/contract.ts'

export function storeRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...healthOperations.listNodes,
    config: { needs: 'inspect' },
    handler: async () => toNodes(await listHeldLeases(service.db.read)),
  })

  app.route({
    ...healthOperations.acknowledgeStore,
    config: { needs: 'administer' },
    handler: ({ actor }) => acknowledgeStore(service, actor),
  })
}
