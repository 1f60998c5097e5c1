/** Records which levels REST responses contain, so that this process receives these levels from other processes. */

import type { FastifyInstance } from 'fastify'
import * as checks from '../../contract/operations/checks.ts'
import * as frequencies from '../../contract/operations/frequencies.ts'
import * as hardware from '../../contract/operations/hardware.ts'
import * as locations from '../../contract/operations/locations.ts'
import * as monitoring from '../../contract/operations/monitoring.ts'
import type { LevelDemand } from '../../state/level-demand.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'

export interface LevelResponseDeps {
  readonly mount: string
  readonly levelDemand: LevelDemand
  readonly receiverStore: ReceiverStore
}

/** Operations whose responses contain the current levels of one manufacturer, if it is a parameter, or of all. */
const operationsWithLevels = [
  monitoring.getData,
  monitoring.getDataAlias,
  monitoring.getMicboardData,
  monitoring.getMetrics,
  hardware.listChannels,
  hardware.getChannel,
  locations.listReceiverDetails,
  frequencies.getFrequencies,
  checks.listChecks,
] as const

export function recordLevelResponses(app: FastifyInstance, { mount, levelDemand, receiverStore }: LevelResponseDeps) {
  const paths = new Set(operationsWithLevels.map(({ url }) => `${mount}${url}`))
  const receiverPath = `${mount}${monitoring.getReceiver.url}`
  app.addHook<{ Querystring: { manufacturer?: string }; Params: { id?: number } }>(
    'preHandler',
    ({ routeOptions, query, params }, _reply, done) => {
      const { url = '' } = routeOptions
      if (paths.has(url)) levelDemand.addResponse(query.manufacturer ?? null)
      else if (url === receiverPath) {
        const receiver = receiverStore.facts(params.id ?? 0)
        if (receiver !== undefined) levelDemand.addResponse(receiver.manufacturer)
      }
      done()
    },
  )
}
