/** Routes for frequency plans. */

import {
  addPlan,
  changePlan,
  duplicatePlan,
  planOf,
  removePlan,
  usePlan,
} from '../../actions/frequencies/edit-frequency-plans.ts'
import { frequencyPlanOperations } from '../../contract/frequency-plans.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import { formatMhz } from '../../domain/frequencies/carrier.ts'
import { comparePlan, type PresentCarrier } from '../../domain/frequencies/compare-plan.ts'
import { exportCarriers } from '../../domain/frequencies/export-carriers.ts'
import { toExported, toPlanBody } from '../../domain/frequencies/stored-plan.ts'
import type { Service } from '../../service.ts'
import { listPlans } from '../../storage/frequency-plans.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal, sendCsvText, withUndoId } from '../server/response.ts'

/** Enough for 1,000 carriers with all their properties, also as a response that is sent back. */
const edit = { bodyLimit: 1024 * 1024, config: { maxValues: 100_000 } } as const

export function frequencyPlanRoutes(app: ContractServer, service: Service): void {
  editRoutes(app, service)
  readRoutes(app, service)
}

function editRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...frequencyPlanOperations.createFrequencyPlan,
    ...edit,
    handler: async (request, reply) => {
      const author = { actor: request.actor, client: clientKeyOf(request) }
      const added = await addPlan(service, author, request.body)
      reply.code(201)
      return toPlanBody(withUndoId(reply, added))
    },
  })

  app.route({
    ...frequencyPlanOperations.changeFrequencyPlan,
    ...edit,
    handler: async (request, reply) => {
      const { actor, params, body } = request
      const author = { actor, client: clientKeyOf(request) }
      const requireVersion = ifMatch(request, toPlanBody)
      return toPlanBody(withUndoId(reply, await changePlan(service, author, params.id, body, requireVersion)))
    },
  })

  app.route({
    ...frequencyPlanOperations.removeFrequencyPlan,
    handler: async (request, reply) => {
      const { actor, params } = request
      withUndoId(reply, await removePlan(service, actor, params.id, ifMatch(request, toPlanBody)))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...frequencyPlanOperations.duplicateFrequencyPlan,
    handler: async ({ actor, params, body }, reply) => {
      const copied = await duplicatePlan(service, actor, params.id, body?.title)
      reply.code(201)
      return toPlanBody(withUndoId(reply, copied))
    },
  })

  app.route({
    ...frequencyPlanOperations.useFrequencyPlan,
    handler: async ({ actor, params }, reply) =>
      toPlanBody(withUndoId(reply, await usePlan(service, actor, params.id))),
  })
}

function readRoutes(app: ContractServer, { db, frequencies, lists, slotRecords }: Service): void {
  const titleOf = {
    slot: (slot: number) => slotRecords.find(slot)?.title ?? null,
    group: (id: number) => lists.current.groups.find((group) => group.id === id)?.title ?? null,
  }

  app.route({
    ...frequencyPlanOperations.listFrequencyPlans,
    handler: async (request) => paginateLocal(request, (await listPlans(db.read)).map(toPlanBody)),
  })

  app.route({
    ...frequencyPlanOperations.getFrequencyPlan,
    handler: async ({ params }) => toPlanBody(await planOf(db.read, params.id)),
  })

  app.route({
    ...frequencyPlanOperations.compareFrequencyPlan,
    handler: async ({ params, query: { with: other = null } }) => {
      const { carriers } = await planOf(db.read, params.id)
      const present = other === null ? listTuned() : (await planOf(db.read, other)).carriers.map(toPresent)
      return { with: other, ...comparePlan(carriers, present, titleOf.slot) }
    },
  })

  app.route({
    ...frequencyPlanOperations.exportFrequencyPlan,
    handler: async (request, reply) => {
      const plan = await planOf(db.read, request.params.id)
      const text = exportCarriers(request.query.format ?? 'csv', toExported(plan, titleOf), plan.region)
      return sendCsvText(request, reply, 'frequency-plan.csv', text)
    },
  })

  /** The channels of this installation. */
  function listTuned(): readonly PresentCarrier[] {
    return frequencies
      .carriers(localSite)
      .flatMap(({ channelId, slot, name, khz, isOn }) =>
        channelId === null ? [] : { slot, name, mhz: formatMhz(khz), isOn: isOn === true },
      )
  }
}

function toPresent({ slot, name, mhz }: Omit<PresentCarrier, 'isOn'>): PresentCarrier {
  return { slot, name, mhz, isOn: true }
}
