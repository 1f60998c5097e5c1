/** Routes for imports and undo. */

import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { importCast } from '../../actions/imports/import-cast.ts'
import { importCoordination } from '../../actions/imports/import-coordination.ts'
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
import { maxCoordinationBytes } from '../../domain/frequencies/coordination/coordination.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { listUndoRecords } from '../../storage/undo.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { acceptForms, formLimit, withSingleFile } from '../server/form-bodies.ts'
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

  void app.register(coordinationImports(service))

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

function coordinationImports(service: Service): FastifyPluginCallback {
  return (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    acceptForms(instance, coordinationFiles, withSingleFile)
    scope.route({
      ...importOperations.importCoordination,
      bodyLimit: formLimit(maxCoordinationBytes),
      handler: async (request, reply) => {
        const { actor, body, query } = request
        const isPreview = query.preview ?? false
        const imported = await importCoordination(service, {
          actor,
          client: clientKeyOf(request),
          file: body.file,
          isPreview,
        })
        reply.code(isPreview ? 200 : 201)
        return withUndoId(reply, imported)
      },
    })
    done()
  }
}

const coordinationFiles = { files: 1, fileBytes: maxCoordinationBytes, totalBytes: maxCoordinationBytes } as const

function withUndoId<Body extends { readonly undo_id: number | null }>(reply: FastifyReply, body: Body): Body {
  setUndoId(reply, body.undo_id)
  return body
}
