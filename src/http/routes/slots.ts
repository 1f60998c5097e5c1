/** Routes for single slots. */

import { changeSlot, clearSlot, notFound } from '../../actions/equipment/edit-slots.ts'
import { swapSlots } from '../../actions/equipment/swap-slots.ts'
import { type SlotRecord, slotOperations } from '../../contract/slots.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginate, setUndoId } from '../server/response.ts'

export function slotRoutes(app: ContractServer, service: Service): void {
  const { slotRecords } = service
  const recordOf = (slot: number): SlotRecord => {
    const record = slotRecords.find(slot)
    if (record === undefined) throw notFound(slot)
    return record
  }

  app.route({
    ...slotOperations.listSlots,
    handler: (request) => paginate(request, slotRecords.list(request.query)),
  })

  app.route({
    ...slotOperations.getSlot,
    handler: ({ params: { slot } }) => recordOf(slot),
  })

  app.route({
    ...slotOperations.changeSlot,
    handler: async (request, reply) => {
      const { actor, params, body } = request
      setUndoId(reply, await changeSlot(service, actor, params.slot, body, ifMatch(request)))
      return recordOf(params.slot)
    },
  })

  app.route({
    ...slotOperations.removeSlot,
    handler: async (request, reply) => {
      setUndoId(reply, await clearSlot(service, request.actor, request.params.slot, ifMatch(request)))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...slotOperations.swapSlots,
    handler: async (request, reply) => {
      const { actor, params, body } = request
      const undoId = await swapSlots(service, actor, params.slot, body, ifMatch(request))
      const record = recordOf(params.slot)
      reply.header('etag', `"${record.version}"`)
      setUndoId(reply, undoId)
      return { slots: [record, recordOf(body.with)] }
    },
  })
}
