/** Records the levels in REST responses, which this process must receive from other processes and sites. */

import type { FastifyInstance } from 'fastify'
import { channelOperations } from '../../contract/channels.ts'
import { checkOperations } from '../../contract/checks.ts'
import { dataOperations } from '../../contract/data.ts'
import { frequencyOperations } from '../../contract/frequencies.ts'
import { healthOperations } from '../../contract/health.ts'
import { receiverOperations } from '../../contract/receivers.ts'
import { localSite } from '../../domain/equipment/sites.ts'
import type { Service } from '../../service.ts'

/** Responses contain the levels of the requested manufacturer, or of all. */
const operationsWithLevels = [
  dataOperations.getData,
  dataOperations.getDataAlias,
  dataOperations.getMicboardData,
  healthOperations.getMetrics,
  channelOperations.listChannels,
  channelOperations.getChannel,
  receiverOperations.listReceiverDetails,
  frequencyOperations.getFrequencies,
  checkOperations.listChecks,
] as const

/** Responses also contain the levels of the requested site, or of all. */
const operationsWithSites = [
  dataOperations.getData,
  dataOperations.getDataAlias,
  dataOperations.getMicboardData,
  channelOperations.listChannels,
  channelOperations.getChannel,
] as const

export function recordLevelResponses(app: FastifyInstance, service: Service): void {
  const { mount, levelDemand, siteLevelDemand, receiverStore } = service
  const pathsOf = (operations: readonly { readonly url: string }[]) =>
    new Set(operations.map(({ url }) => `${mount}${url}`))
  const [paths, sitePaths] = [pathsOf(operationsWithLevels), pathsOf(operationsWithSites)]
  const frequencyPath = `${mount}${frequencyOperations.getFrequencies.url}`
  const receiverPath = `${mount}${receiverOperations.getReceiver.url}`
  app.addHook<{ Querystring: { manufacturer?: string; site?: string }; Params: { id?: number } }>(
    'preHandler',
    ({ routeOptions, query, params }, _reply, done) => {
      const { url = '' } = routeOptions
      if (paths.has(url)) levelDemand.addResponse(query.manufacturer ?? null)
      if (sitePaths.has(url)) siteLevelDemand.addResponse(query.site ?? null)
      if (url === frequencyPath) siteLevelDemand.addResponse(query.site ?? localSite)
      const receiver = url === receiverPath ? receiverStore.facts(params.id ?? 0) : undefined
      if (receiver !== undefined) {
        levelDemand.addResponse(receiver.manufacturer)
        siteLevelDemand.addResponse(receiver.origin?.site.code ?? localSite)
      }
      done()
    },
  )
}
