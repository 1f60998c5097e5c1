/** Routes for `GET /api/data.json`, the list of receivers and one receiver. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toReceiverDetail, toReceiverSummary } from '../../domain/api.ts'
import type { Location } from '../../domain/equipment/location.ts'
import { RequestError } from '../../domain/errors.ts'
import type { LiveFilter } from '../../domain/live/filter.ts'
import type { Settings } from '../../domain/settings.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { LiveData } from '../server/live-data.ts'
import {
  type Query,
  type ResponseCache,
  readId,
  readIdParameter,
  readPage,
  readParameter,
  sendCached,
  toPage,
} from '../server/response.ts'

export interface ReceiverDeps {
  readonly receiverStore: ReceiverStore
  readonly cache: ResponseCache
  readonly liveData: LiveData
  /** Returns the effective settings of a manufacturer, or the global ones. */
  settings(manufacturer: string | undefined): Settings
  locations(): readonly Location[]
}

/** Reads the filters of `data.json` and of the live interface. Throws if the group does not exist. */
export function readLiveFilter(query: Query, liveData: Pick<LiveData, 'hasGroup'>): LiveFilter {
  const manufacturer = readParameter(query, 'manufacturer')
  const group = readIdParameter(query, 'group')
  if (group !== undefined && !liveData.hasGroup(group)) {
    throw new RequestError('bad_request', { details: `group: there is no group ${group}` })
  }
  return { manufacturer, group }
}

export function receiverRoutes(app: FastifyInstance, deps: ReceiverDeps): void {
  const { receiverStore, cache, liveData } = deps

  const sendData = (request: FastifyRequest, reply: FastifyReply) => {
    const filter = readLiveFilter(request.query as Query, liveData)
    const { manufacturer, group } = filter
    return sendCached(request, reply, {
      cache,
      manufacturer: manufacturer ?? null,
      key: keyOf(group === undefined ? 'data' : `data:group ${group}`, manufacturer),
      make: () => liveData.dataJson(filter),
    })
  }
  app.get('/api/data.json', sendData)
  app.get('/api/data', sendData)

  app.get('/api/receivers', (request, reply) => {
    const query = request.query as Query
    const manufacturer = readParameter(query, 'manufacturer')
    const page = readPage(query)
    return sendCached(request, reply, {
      cache,
      manufacturer: manufacturer ?? null,
      // A paged response contains links that repeat the whole query string, so every URL needs its own cache entry.
      key: page === null ? keyOf('receivers', manufacturer) : `page:${request.url}`,
      make: () => {
        const receivers = receiverStore.list(manufacturer)
        if (page === null) return JSON.stringify(receivers.map(toReceiverSummary))
        const body = toPage(receivers, page, request.url)
        return JSON.stringify({ ...body, results: body.results.map(toReceiverSummary) })
      },
    })
  })

  app.get('/api/receivers/:id', (request, reply) => {
    const id = readId((request.params as { id: string }).id)
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    const receiver = receiverStore.get(id)
    if (receiver === undefined || (manufacturer !== undefined && receiver.manufacturer !== manufacturer)) {
      throw new RequestError('not_found', { subject: `receiver ${id}` })
    }
    const { alert_battery_threshold } = deps.settings(receiver.manufacturer)
    return sendCached(request, reply, {
      cache,
      manufacturer: receiver.manufacturer,
      key: `receiver:${id}`,
      make: () => JSON.stringify(toReceiverDetail(receiver, alert_battery_threshold, deps.locations())),
    })
  })
}

function keyOf(response: string, manufacturer: string | undefined): string {
  return manufacturer === undefined ? response : `${response}:${manufacturer}`
}
