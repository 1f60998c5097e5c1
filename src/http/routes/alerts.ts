/** Routes for alerts, and for real-time connections and their start and stop actions. */

import { type SwitchDeps, switchConnections } from '../../actions/switch-connections.ts'
import * as operations from '../../contract/operations/monitoring.ts'
import { toAlertBody } from '../../domain/alerts/alert.ts'
import { type Connection, toConnectionBody } from '../../domain/equipment/connection.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import { listAlerts } from '../../storage/alerts.ts'
import type { Database } from '../../storage/database.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export interface AlertRoutesDeps extends SwitchDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly connections: SwitchDeps['connections'] & { readAll(): Promise<readonly Connection[]> }
}

export function alertRoutes(app: ContractServer, deps: AlertRoutesDeps): void {
  app.route({
    ...operations.listAlerts,
    handler: async (request) => {
      const { state, manufacturer, receiver: receiver_id } = request.query
      const alerts = await listAlerts(deps.db.read, { state, manufacturer, receiver_id })
      return paginate(
        request,
        alerts.map((alert) => toAlertBody(alert, deps.now())),
      )
    },
  })

  app.route({
    ...operations.listRealtimeConnections,
    config: { needs: 'inspect' },
    handler: async (request) => {
      const { manufacturer, status } = request.query
      const bodies = (await deps.connections.readAll())
        .filter((connection) => manufacturer === undefined || connection.manufacturer === manufacturer)
        .filter((connection) => status === undefined || connection.status === status)
        .map((connection) =>
          toConnectionBody(connection, deps.receiverStore.get(connection.receiver)?.name ?? null, deps.now()),
        )
      return paginate(request, bodies)
    },
  })

  app.route({
    ...operations.stopRealtimeConnections,
    config: { needs: 'review' },
    handler: ({ actor, body }) => switchConnections(deps, actor, 'stop', body.ids),
  })

  app.route({
    ...operations.startRealtimeConnections,
    config: { needs: 'review' },
    handler: ({ actor, body }) => switchConnections(deps, actor, 'start', body.ids),
  })
}
