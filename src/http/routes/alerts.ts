/** Routes for alerts and silences, and for real-time connections and their start and stop actions. */

import { showAcknowledgeLink, useAcknowledgeLink } from '../../actions/alerts/acknowledge-by-link.ts'
import { addSilence, removeSilence } from '../../actions/alerts/edit-silences.ts'
import {
  acknowledge,
  markMutedOnPurpose,
  snooze,
  unacknowledge,
  unsnooze,
} from '../../actions/alerts/respond-to-alerts.ts'
import { switchConnections } from '../../actions/sources/switch-connections.ts'
import { credentialBytes } from '../../contract/access.ts'
import { alertOperations } from '../../contract/alerts.ts'
import { connectionOperations } from '../../contract/connections.ts'
import { type Alert, toAlertBody } from '../../domain/alerts/alert.ts'
import { type AlertFilter, compareNewestFirst, isSelected } from '../../domain/alerts/alert-filter.ts'
import { toSilenceBody } from '../../domain/alerts/silences.ts'
import { toConnectionBody } from '../../domain/equipment/connection.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { countAlerts, listAlerts } from '../../storage/alerts.ts'
import type { Database } from '../../storage/database.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal, readPage, rowsOf, toPageOf, toTime } from '../server/response.ts'

const open = { config: { needs: 'nothing' }, bodyLimit: credentialBytes } as const

export function alertRoutes(app: ContractServer, service: Service): void {
  const toBody = (alert: Alert) => toAlertBody(alert, { now: now(), ...service.alerts.context.marksOf(alert) })

  app.route({
    ...alertOperations.listAlerts,
    handler: async ({ query, url }) => {
      const filter = { ...query, from: toTime(query.from), to: toTime(query.to) }
      const page = readPage(query)
      const unstored = service.alerts.unstored.list().filter((alert) => isSelected(filter, alert))
      const bodies = (await listWithUnstored(service.db, filter, unstored, rowsOf(page))).map(toBody)
      if (page === null) return bodies
      return toPageOf(bodies, (await countAlerts(service.db.read, filter)) + unstored.length, page, url)
    },
  })

  app.route({
    ...alertOperations.acknowledgeAlert,
    handler: async ({ actor, params, body }) =>
      toBody(await acknowledge(service, actor, params.id, (body ?? undefined)?.note ?? null)),
  })

  app.route({
    ...alertOperations.showAcknowledgeLink,
    ...open,
    handler: ({ body }) => showAcknowledgeLink(service, body.token),
  })

  app.route({
    ...alertOperations.useAcknowledgeLink,
    ...open,
    handler: ({ ip: address, id: request, body }) => useAcknowledgeLink(service, { address, request }, body.token),
  })

  app.route({
    ...alertOperations.snoozeAlert,
    handler: async ({ actor, params, body }) => toBody(await snooze(service, actor, params.id, body)),
  })

  app.route({
    ...alertOperations.unacknowledgeAlert,
    handler: async ({ actor, params }) => toBody(await unacknowledge(service, actor, params.id)),
  })

  app.route({
    ...alertOperations.unsnoozeAlert,
    handler: async ({ actor, params }) => toBody(await unsnooze(service, actor, params.id)),
  })

  app.route({
    ...alertOperations.markMutedOnPurpose,
    handler: async ({ actor, params }) => toBody(await markMutedOnPurpose(service, actor, params.id)),
  })

  app.route({
    ...alertOperations.listSilences,
    handler: (request) => paginateLocal(request, service.lists.current.silences.map(toSilenceBody)),
  })

  app.route({
    ...alertOperations.addSilence,
    handler: async ({ actor, body }, reply) => {
      const silence = await addSilence(service, actor, body)
      reply.code(201)
      return toSilenceBody(silence)
    },
  })

  app.route({
    ...alertOperations.removeSilence,
    handler: async (request, reply) => {
      await removeSilence(service, request.actor, request.params.id, ifMatch(request, toSilenceBody))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...connectionOperations.listRealtimeConnections,
    config: { needs: 'inspect' },
    handler: async (request) => {
      const { manufacturer, status } = request.query
      const bodies = (await service.connections.readAll())
        .filter((connection) => manufacturer === undefined || connection.manufacturer === manufacturer)
        .filter((connection) => status === undefined || connection.status === status)
        .map((connection) =>
          toConnectionBody(connection, service.receiverStore.get(connection.id)?.name ?? null, now()),
        )
      return paginateLocal(request, bodies)
    },
  })

  app.route({
    ...connectionOperations.stopRealtimeConnections,
    config: { needs: 'review' },
    handler: ({ actor, body }) => switchConnections(service, actor, 'stop', body.ids),
  })

  app.route({
    ...connectionOperations.startRealtimeConnections,
    config: { needs: 'review' },
    handler: ({ actor, body }) => switchConnections(service, actor, 'start', body.ids),
  })
}

/** Returns a part of the alerts that are stored and of those that cannot be stored, newest first. */
async function listWithUnstored(
  { read }: Database,
  filter: AlertFilter,
  unstored: readonly Alert[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly Alert[]> {
  // Unstored alerts move stored ones back by at most their number.
  const start = Math.max(0, offset - unstored.length)
  const skipped = offset - start
  const stored = await listAlerts(read, filter, { limit: skipped + limit, offset: start })
  return [...stored, ...unstored].sort(compareNewestFirst).slice(skipped, skipped + limit)
}
