/** Routes for imports and undo. */

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
import { paginateLocal } from '../server/response.ts'

export function importRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...importOperations.importCast,
    handler: ({ actor, body }) => importCast(service, actor, body),
  })

  app.route({
    ...importOperations.importMicboard,
    handler: ({ actor, body }) => importMicboard(service, actor, body),
  })

  app.route({
    ...importOperations.getPlanningCenter,
    config: { needs: 'operate' },
    handler: () => describePlanningCenter(service),
  })

  app.route({
    ...importOperations.importPlanningCenter,
    handler: ({ actor, body }) => importPlanningCenter(service, actor, body),
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
