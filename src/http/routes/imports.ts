/** Routes for imports and undo. */

import { importCast } from '../../actions/imports/import-cast.ts'
import { importMicboard, type MicboardImportDeps } from '../../actions/imports/import-micboard.ts'
import {
  describePlanningCenter,
  forgetPlanningCenter,
  importPlanningCenter,
  listPlans,
  listServiceTypes,
  type PlanningCenterDeps,
  readPositions,
} from '../../actions/imports/import-planning-center.ts'
import { type UndoDeps, undo } from '../../actions/undo.ts'
import { importOperations } from '../../contract/imports.ts'
import type { ContractServer } from '../server/contract.ts'

export interface ImportRoutesDeps {
  readonly importDeps: PlanningCenterDeps & MicboardImportDeps & UndoDeps
}

export function importRoutes(app: ContractServer, { importDeps }: ImportRoutesDeps): void {
  app.route({
    ...importOperations.importCast,
    handler: ({ actor, body }) => importCast(importDeps, actor, body),
  })

  app.route({
    ...importOperations.importMicboard,
    handler: ({ actor, body }) => importMicboard(importDeps, actor, body),
  })

  app.route({
    ...importOperations.getPlanningCenter,
    config: { needs: 'operate' },
    handler: () => describePlanningCenter(importDeps),
  })

  app.route({
    ...importOperations.importPlanningCenter,
    handler: ({ actor, body }) => importPlanningCenter(importDeps, actor, body),
  })

  app.route({
    ...importOperations.listPlanningCenterServiceTypes,
    handler: ({ body }) => listServiceTypes(importDeps, body),
  })

  app.route({
    ...importOperations.listPlanningCenterPlans,
    handler: ({ body }) => listPlans(importDeps, body),
  })

  app.route({
    ...importOperations.listPlanningCenterPositions,
    handler: ({ body }) => readPositions(importDeps, body),
  })

  app.route({
    ...importOperations.forgetPlanningCenterToken,
    handler: async ({ actor }, reply) => {
      await forgetPlanningCenter(importDeps, actor)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...importOperations.undo,
    handler: ({ actor, params }) => undo(importDeps, actor, params.undo_id),
  })
}
