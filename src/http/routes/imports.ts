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
import * as operations from '../../contract/operations/imports.ts'
import type { ContractServer } from '../server/contract.ts'

export interface ImportRoutesDeps {
  readonly importDeps: PlanningCenterDeps & MicboardImportDeps & UndoDeps
}

export function importRoutes(app: ContractServer, { importDeps }: ImportRoutesDeps): void {
  app.route({
    ...operations.importCast,
    handler: ({ actor, body }) => importCast(importDeps, actor, body),
  })

  app.route({
    ...operations.importMicboard,
    handler: ({ actor, body }) => importMicboard(importDeps, actor, body),
  })

  app.route({
    ...operations.getPlanningCenter,
    config: { needs: 'operate' },
    handler: () => describePlanningCenter(importDeps),
  })

  app.route({
    ...operations.importPlanningCenter,
    handler: ({ actor, body }) => importPlanningCenter(importDeps, actor, body),
  })

  app.route({
    ...operations.listPlanningCenterServiceTypes,
    handler: ({ body }) => listServiceTypes(importDeps, body),
  })

  app.route({
    ...operations.listPlanningCenterPlans,
    handler: ({ body }) => listPlans(importDeps, body),
  })

  app.route({
    ...operations.listPlanningCenterPositions,
    handler: ({ body }) => readPositions(importDeps, body),
  })

  app.route({
    ...operations.forgetPlanningCenterToken,
    handler: async ({ actor }, reply) => {
      await forgetPlanningCenter(importDeps, actor)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...operations.undo,
    handler: ({ actor, params }) => undo(importDeps, actor, params.undo_id),
  })
}
