/** Routes for imports and undo. */

import type { FastifyReply } from 'fastify'
import { importCast } from '../../actions/imports/import-cast.ts'
import { importMicboard } from '../../actions/imports/import-micboard.ts'
import {
  describePlanningCenter,
  forgetPlanningCenter,
  importPlanningCenter,
  listPlans,
  listServiceTypes,
  readPositions,
} from '../../actions/imports/import-planning-center.ts'
import { undo } from '../../actions/undo.ts'
import { importOperations } from '../../contract/imports.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { listUndoRecords } from '../../storage/undo.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginateLocal, setUndoId } from '../server/response.ts'

const maxCastBytes = 8 * 1024 * 1024

export function importRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...importOperations.importCast,
    bodyLimit: maxCastBytes,
    handler: async ({ actor, body }, reply) => withUndoId(reply, await importCast(service, actor, body)),
  })

  app.route({
    ...importOperations.importMicboard,
    handler: async ({ actor, body }, reply) => withUndoId(reply, await importMicboard(service, actor, body)),
  })

  app.route({
    ...importOperations.getPlanningCenter,
    config: { needs: 'operate' },
    handler: () => describePlanningCenter(service),
  })

  app.route({
    ...importOperations.importPlanningCenter,
    handler: async ({ actor, body }, reply) => withUndoId(reply, await importPlanningCenter(service, actor, body)),
  })

  app.route({
    ...importOperations.listPlanningCenterServiceTypes,
    handler: ({ body }) => listServiceTypes(service, body),
  })

  app.route({
    ...importOperations.listPlanningCenterPlans,
    handler: ({ body }) => listPlans(service, body),
  })

  app.route({
    ...importOperations.listPlanningCenterPositions,
    handler: ({ body }) => readPositions(service, body),
  })

  app.route({
    ...importOperations.forgetPlanningCenterToken,
    handler: async ({ actor }, reply) => {
      await forgetPlanningCenter(service, actor)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...importOperations.listUndo,
    handler: async (request) => {
      const records = await listUndoRecords(service.db.read, now())
      return paginateLocal(
        request,
        records.map(({ id, created_at, actor, action, slots }) => {
          return { id, at: toTimestamp(created_at), by: actor, what: action, slots }
        }),
      )
    },
  })

  app.route({
    ...importOperations.undo,
    handler: ({ actor, params }) => undo(service, actor, params.undo_id),
  })
}

function withUndoId<Body extends { readonly undo_id: number | null }>(reply: FastifyReply, body: Body): Body {
  setUndoId(reply, body.undo_id)
  return body
}
