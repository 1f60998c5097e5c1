/** Routes for placeholders. */

import { addPlaceholder, changePlaceholder, removePlaceholder } from '../../actions/equipment/edit-placeholders.ts'
import { placeholderOperations } from '../../contract/placeholders.ts'
import { toPlaceholderBody } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal, withUndoId } from '../server/response.ts'

export function placeholderRoutes(app: ContractServer, service: Service): void {
  const { placeholderStore } = service

  app.route({
    ...placeholderOperations.listPlaceholders,
    handler: (request) => paginateLocal(request, placeholderStore.list().map(toPlaceholderBody)),
  })

  app.route({
    ...placeholderOperations.getPlaceholder,
    handler: ({ params: { id } }) => {
      const placeholder = placeholderStore.list().find((candidate) => candidate.id === id)
      if (placeholder === undefined) throw new RequestError('not_found', { subject: `placeholder ${id}` })
      return toPlaceholderBody(placeholder)
    },
  })

  app.route({
    ...placeholderOperations.createPlaceholder,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toPlaceholderBody(withUndoId(reply, await addPlaceholder(service, actor, body)))
    },
  })

  app.route({
    ...placeholderOperations.changePlaceholder,
    handler: async (request, reply) => {
      const { actor, params, body } = request
      const requireVersion = ifMatch(request, toPlaceholderBody)
      const edited = await changePlaceholder(service, actor, params.id, body, requireVersion)
      return toPlaceholderBody(withUndoId(reply, edited))
    },
  })

  app.route({
    ...placeholderOperations.removePlaceholder,
    handler: async (request, reply) => {
      const requireVersion = ifMatch(request, toPlaceholderBody)
      withUndoId(reply, await removePlaceholder(service, request.actor, request.params.id, requireVersion))
      return reply.code(204).send(null)
    },
  })
}
