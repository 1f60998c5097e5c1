/** Routes for shows. */

import { addShow, changeShow, type EditShowDeps, endShow, removeShow, startShow } from '../../actions/edit-shows.ts'
import * as operations from '../../contract/operations/shows.ts'
import { RequestError } from '../../domain/errors.ts'
import { type Show, toShowBody } from '../../domain/shows.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export interface ShowRoutesDeps {
  readonly showDeps: EditShowDeps
  shows(): readonly Show[]
}

export function showRoutes(app: ContractServer, { showDeps, shows }: ShowRoutesDeps): void {
  app.route({
    ...operations.listShows,
    handler: (request) => paginate(request, shows().map(toShowBody)),
  })

  app.route({
    ...operations.getShow,
    handler: ({ params: { id } }) => {
      const show = shows().find((candidate) => candidate.id === id)
      if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
      return toShowBody(show)
    },
  })

  app.route({
    ...operations.createShow,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toShowBody(await addShow(showDeps, actor, body))
    },
  })

  app.route({
    ...operations.changeShow,
    handler: async ({ actor, params, body }) => toShowBody(await changeShow(showDeps, actor, params.id, body)),
  })

  app.route({
    ...operations.removeShow,
    handler: async ({ actor, params }, reply) => {
      await removeShow(showDeps, actor, params.id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...operations.startShow,
    handler: async ({ actor, params }) => toShowBody(await startShow(showDeps, actor, params.id)),
  })

  app.route({
    ...operations.endShow,
    handler: async ({ actor, params }) => toShowBody(await endShow(showDeps, actor, params.id)),
  })
}
