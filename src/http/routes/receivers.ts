/** Routes for `GET /api/data.json`, `GET /data.json` in the shape of micboard, the list of receivers and one receiver. */

import type { Identifications } from '../../actions/equipment/identify-receivers.ts'
import { dataOperations } from '../../contract/data.ts'
import type { Group } from '../../contract/groups.ts'
import type { Location } from '../../contract/locations.ts'
import type { ChannelAssignment } from '../../contract/performers.ts'
import { type ReceiverWithSources, receiverOperations } from '../../contract/receivers.ts'
import { addressOf } from '../../domain/equipment/health.ts'
import type { Channel, Receiver } from '../../domain/equipment/receiver.ts'
import { toReceiverDetail, toReceiverSummary } from '../../domain/equipment/receiver-body.ts'
import { RequestError } from '../../domain/errors.ts'
import { toPerformerNames } from '../../domain/live/lists.ts'
import { toMicboard } from '../../domain/micboard.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { LiveData } from '../../live/live-data.ts'
import type { ContractServer } from '../server/contract.ts'
import { type ResponseCache, readPage, sendCached, toPage } from '../server/response.ts'

export interface ReceiverDeps {
  readonly receiverStore: ReceiverStore
  readonly cache: ResponseCache
  readonly liveData: LiveData
  /** Returns the `alert_battery_threshold` in force for a channel. */
  batteryThreshold(receiver: Receiver, channel: Channel): number
  locations(): readonly Location[]
  groups(manufacturer: string | undefined): readonly Group[]
  /** Returns the active assignments, also those of followed sites, each with its channel. */
  assignments(): readonly ChannelAssignment[]
  /** The public URL of the service; null if it is not configured. */
  readonly publicUrl: URL | null
  /** Returns the ids of the sources that report a receiver; empty as long as they are not known. */
  reportingSources(receiverId: number): readonly string[]
  readonly identifications: Pick<Identifications, 'canIdentify' | 'identify'>
}

export function receiverRoutes(app: ContractServer, deps: ReceiverDeps): void {
  const { receiverStore, cache, liveData } = deps
  const toBody = (receiver: Receiver): ReceiverWithSources => ({
    ...toReceiverDetail(receiver, deps.batteryThreshold, deps.locations()),
    sources: deps.reportingSources(receiver.id).map((source) => addressOf(source, receiver.manufacturer)),
    can_identify: deps.identifications.canIdentify(receiver),
  })

  for (const endpoint of [dataOperations.getData, dataOperations.getDataAlias]) {
    app.route({
      ...endpoint,
      handler: (request, reply) => {
        const { manufacturer, site, group } = request.query
        liveData.requireGroup(group)
        return sendCached(request, reply, {
          cache,
          manufacturer: manufacturer ?? null,
          key: keyOf('data', manufacturer, site, group),
          make: () => liveData.dataJson({ manufacturer, site, group }),
        })
      },
    })
  }

  app.route({
    ...dataOperations.getMicboardData,
    handler: (request, reply) =>
      sendCached(request, reply, {
        cache,
        manufacturer: null,
        key: 'micboard',
        make: () =>
          JSON.stringify(
            toMicboard(receiverStore.listAll(), {
              groups: deps.groups(undefined),
              performers: toPerformerNames(deps.assignments()),
              url: deps.publicUrl?.href ?? '',
            }),
          ),
      }),
  })

  app.route({
    ...receiverOperations.listReceivers,
    handler: (request, reply) => {
      const { manufacturer, site } = request.query
      const page = readPage(request.query)
      return sendCached(request, reply, {
        cache,
        manufacturer: manufacturer ?? null,
        // A paged response contains links that repeat the whole query string, so every URL needs its own cache entry.
        key: page === null ? keyOf('receivers', manufacturer, site) : `page:${request.url}`,
        make: () => {
          const receivers = receiverStore.listAll({ manufacturer, site })
          if (page === null) return JSON.stringify(receivers.map(toReceiverSummary))
          const body = toPage(receivers, page, request.url)
          return JSON.stringify({ ...body, results: body.results.map(toReceiverSummary) })
        },
      })
    },
  })

  app.route({
    ...receiverOperations.getReceiver,
    handler: (request, reply) => {
      const { id } = request.params
      const { manufacturer } = request.query
      const receiver = receiverStore.get(id)
      if (receiver === undefined || (manufacturer !== undefined && receiver.manufacturer !== manufacturer)) {
        throw new RequestError('not_found', { subject: `receiver ${id}` })
      }
      return sendCached(request, reply, {
        cache,
        manufacturer: receiver.manufacturer,
        key: `receiver:${id}`,
        make: () => JSON.stringify(toBody(receiver)),
      })
    },
  })

  app.route({
    ...receiverOperations.identifyReceiver,
    handler: ({ actor, params, body }) => deps.identifications.identify(actor, params.id, body ?? {}),
  })
}

function keyOf(response: string, ...filters: readonly (string | number | undefined)[]): string {
  return JSON.stringify([response, ...filters])
}
