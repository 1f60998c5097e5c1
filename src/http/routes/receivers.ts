/** Routes for `GET /api/data.json`, the list of receivers and one receiver. */

import type { Location } from '../../contract/admin.ts'
import type * as live from '../../contract/live.ts'
import * as operations from '../../contract/operations/monitoring.ts'
import { toChannelBody, toReceiverDetail, toReceiverSummary, toReceiverWithoutChannels } from '../../domain/api.ts'
import { toDiscoveredDevices } from '../../domain/discovery-api.ts'
import type { DiscoveredRecord } from '../../domain/equipment/discovery.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { ContractServer } from '../server/contract.ts'
import { type ResponseCache, readPage, sendCached, toPage } from '../server/response.ts'
import { type Chunker, createChunker, type ResponseChunk, toChunk } from '../server/response-chunks.ts'

export interface ReceiverDeps {
  readonly receiverStore: ReceiverStore
  readonly cache: ResponseCache
  /** Returns the effective settings of a manufacturer, or the global ones. */
  settings(manufacturer: string | undefined): live.Settings
  groups(manufacturer: string | undefined): readonly live.Group[]
  locations(): readonly Location[]
  discovered(): readonly DiscoveredRecord[]
}

export function receiverRoutes(app: ContractServer, deps: ReceiverDeps): void {
  const { receiverStore, cache } = deps
  /** Chunkers by manufacturer; only kept for manufacturers that have receivers. */
  const chunkers = new Map<string | undefined, Chunker<Receiver>>()

  function dataJson(manufacturer: string | undefined): readonly ResponseChunk[] {
    const receivers = receiverStore.list(manufacturer)
    const chunker = chunkers.get(manufacturer) ?? createChunker(receiverJson)
    if (receivers.length > 0) chunkers.set(manufacturer, chunker)
    const found = deps
      .discovered()
      .filter((device) => manufacturer === undefined || device.manufacturer === manufacturer)
    const discovered = toDiscoveredDevices(found, receiverStore)
    const rest = { discovered, config: deps.settings(manufacturer), groups: deps.groups(manufacturer) }
    return [toChunk('{"receivers":['), ...chunker.cut(receivers), toChunk(`],${JSON.stringify(rest).slice(1)}`)]
  }

  for (const endpoint of [operations.getData, operations.getDataAlias]) {
    app.route({
      ...endpoint,
      handler: (request, reply) => {
        const { manufacturer } = request.query
        return sendCached(request, reply, {
          cache,
          manufacturer: manufacturer ?? null,
          key: keyOf('data', manufacturer),
          make: () => dataJson(manufacturer),
        })
      },
    })
  }

  app.route({
    ...operations.listReceivers,
    handler: (request, reply) => {
      const { manufacturer } = request.query
      const page = readPage(request.query)
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
    },
  })

  app.route({
    ...operations.getReceiver,
    handler: (request, reply) => {
      const { id } = request.params
      const { manufacturer } = request.query
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
    },
  })
}

function keyOf(response: string, manufacturer: string | undefined): string {
  return manufacturer === undefined ? response : `${response}:${manufacturer}`
}

/** Receiver objects are immutable, so their JSON can be cached by identity. */
const serialised = new WeakMap<Receiver, string>()
/** Channels are cached separately, because they often stay the same object when a receiver is replaced. */
const serialisedChannels = new WeakMap<Receiver['channels'], string>()

function receiverJson(receiver: Receiver): string {
  let json = serialised.get(receiver)
  if (json === undefined) {
    json = `${JSON.stringify(toReceiverWithoutChannels(receiver)).slice(0, -1)},"channels":${channelsJson(receiver.channels)}}`
    serialised.set(receiver, json)
  }
  return json
}

function channelsJson(channels: Receiver['channels']): string {
  let json = serialisedChannels.get(channels)
  if (json === undefined) {
    json = JSON.stringify(channels.map(toChannelBody))
    serialisedChannels.set(channels, json)
  }
  return json
}
