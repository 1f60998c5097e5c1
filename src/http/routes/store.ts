/** Routes for the processes that use the database, and for acknowledging a database incident. */

import type { FastifyInstance } from 'fastify'
import { acknowledgeStore, type StoreActionDeps } from '../../actions/acknowledge-store.ts'
import { toNodes } from '../../domain/scheduling/node.ts'
import { listHeldLeases } from '../../storage/leases.ts'

export interface StoreRoutesDeps {
  readonly storeDeps: StoreActionDeps
}

export function storeRoutes(app: FastifyInstance, { storeDeps }: StoreRoutesDeps): void {
  app.get('/api/admin/nodes', { config: { needs: 'inspect' } }, async () =>
    toNodes(await listHeldLeases(storeDeps.db.read)),
  )
  app.post('/api/admin/store/acknowledge', { config: { needs: 'administer' } }, ({ actor }) =>
    acknowledgeStore(storeDeps, actor),
  )
}
