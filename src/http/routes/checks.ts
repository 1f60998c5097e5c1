/** Routes for line checks. */

import { getShow } from '../../actions/shows/edit-shows.ts'
import { addCheck, beginCheck } from '../../actions/shows/line-check.ts'
import { readLineCheck } from '../../actions/shows/read-line-check.ts'
import { checkOperations } from '../../contract/checks.ts'
import { toCheckBody } from '../../domain/checks.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate } from '../server/response.ts'

export function checkRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...checkOperations.listChecks,
    handler: async (request) => {
      const show = getShow(service, request.params.id)
      const { channel } = request.query
      const only = channel === undefined ? undefined : new Set([channel])
      const checks = await readLineCheck(service, show, clientKeyOf(request), only)
      if (channel !== undefined && checks.length === 0) {
        throw new RequestError('bad_request', { details: `channel: channel ${channel} is not part of the show` })
      }
      return paginate(request, checks)
    },
  })

  app.route({
    ...checkOperations.createCheck,
    handler: async (request, reply) => {
      const { note = null, ...entered } = request.body
      const entry = { show_id: request.params.id, note: note || null, ...entered }
      reply.code(201)
      return toCheckBody(await addCheck(service, request.actor, entry, clientKeyOf(request)))
    },
  })

  app.route({
    ...checkOperations.beginCheck,
    handler: async ({ actor, params, body }) =>
      toCheckBody(await beginCheck(service, actor, { show_id: params.id, ...body })),
  })
}
