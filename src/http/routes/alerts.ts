/** Routes for alerts, and for real-time connections and their start and stop actions. */

import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type SwitchDeps, switchConnections } from '../../actions/switch-connections.ts'
import { alertStates, connectionStatuses } from '../../contract/values.ts'
import { toAlertBody } from '../../domain/alerts/alert.ts'
import { type Connection, toConnectionBody } from '../../domain/equipment/connection.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import { listAlerts } from '../../storage/alerts.ts'
import type { Database } from '../../storage/database.ts'
import { type Query, readChoice, readIdParameter, readPage, readParameter, toPage } from '../server/response.ts'
import { body, id } from '../server/schemas.ts'

export interface AlertRoutesDeps extends SwitchDeps {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly connections: SwitchDeps['connections'] & { readAll(): Promise<readonly Connection[]> }
}

const ConnectionIds = body({
  ids: Type.Array(id, { minItems: 1, maxItems: 10_000, description: 'a list of ids, at least one' }),
})

export function alertRoutes(app: FastifyInstance, deps: AlertRoutesDeps): void {
  app.get('/api/alerts', async (request) => {
    const query = request.query as Query
    const page = readPage(query)
    const filter = {
      state: readChoice(query, 'state', alertStates),
      manufacturer: readParameter(query, 'manufacturer'),
      receiver_id: readIdParameter(query, 'receiver'),
    }
    const alerts = (await listAlerts(deps.db.read, filter)).map((alert) => toAlertBody(alert, deps.now()))
    return page === null ? alerts : toPage(alerts, page, request.url)
  })

  app.get('/api/admin/realtime-connections', { config: { needs: 'inspect' } }, async (request) => {
    const query = request.query as Query
    const page = readPage(query)
    const manufacturer = readParameter(query, 'manufacturer')
    const status = readChoice(query, 'status', connectionStatuses)
    const bodies = (await deps.connections.readAll())
      .filter((connection) => manufacturer === undefined || connection.manufacturer === manufacturer)
      .filter((connection) => status === undefined || connection.status === status)
      .map((connection) =>
        toConnectionBody(connection, deps.receiverStore.get(connection.receiver)?.name ?? null, deps.now()),
      )
    return page === null ? bodies : toPage(bodies, page, request.url)
  })

  for (const action of ['stop', 'start'] as const) {
    app.post<{ Body: Type.Static<typeof ConnectionIds> }>(
      `/api/admin/realtime-connections/${action}`,
      { config: { needs: 'review' }, schema: { body: ConnectionIds } },
      (request) => switchConnections(deps, request.actor, action, request.body.ids),
    )
  }
}
