/** Routes for handovers. */

import { closeHandover, getHandover, readHandover, toSummary } from '../../actions/shows/handover.ts'
import { handoverOperations } from '../../contract/handovers.ts'
import type { Service } from '../../service.ts'
import { listHandovers } from '../../storage/handovers.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate, toTime } from '../server/response.ts'

export function handoverRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...handoverOperations.getHandover,
    handler: ({ query }) => readHandover(service, toTime(query.since)),
  })

  app.route({
    ...handoverOperations.closeHandover,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return closeHandover(service, actor, (body?.note ?? '').trim())
    },
  })

  app.route({
    ...handoverOperations.listHandovers,
    handler: async (request) => paginate(request, (await listHandovers(service.db.read)).map(toSummary)),
  })

  app.route({
    ...handoverOperations.getClosedHandover,
    handler: ({ params }) => getHandover(service, params.id),
  })
}
