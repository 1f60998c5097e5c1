/** data.json, the list of receivers, one receiver. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Latest } from '../live/latest.ts'
import { type Group, toChannelBody, toReceiverDetail, toReceiverHead, toReceiverSummary } from '../model/api.ts'
import type { DiscoveredRecord } from '../model/discovery.ts'
import { toDiscoveredDevices } from '../model/discovery-api.ts'
import { Refusal } from '../model/errors.ts'
import type { Location } from '../model/location.ts'
import type { Receiver } from '../model/receiver.ts'
import type { Settings } from '../model/settings.ts'
import { type AnswerCache, type Query, readId, readPage, readParameter, sendCached, toPage } from './answer.ts'
import { type Cutter, createCutter, type Piece, toPiece } from './pieces.ts'

export interface ReceiverDeps {
  readonly latest: Latest
  readonly cache: AnswerCache
  /** The values in force for a manufacturer, or the global ones. */
  settings(manufacturer: string | undefined): Settings
  groups(manufacturer: string | undefined): readonly Group[]
  locations(): readonly Location[]
  discovered(): readonly DiscoveredRecord[]
}

export function receiverRoutes(app: FastifyInstance, deps: ReceiverDeps): void {
  const { latest, cache } = deps
  /** By manufacturer; only those that exist are worth remembering. */
  const cutters = new Map<string | undefined, Cutter<Receiver>>()

  function dataJson(manufacturer: string | undefined): readonly Piece[] {
    const receivers = latest.list(manufacturer)
    const cutter = cutters.get(manufacturer) ?? createCutter(receiverJson)
    if (receivers.length > 0) cutters.set(manufacturer, cutter)
    const found = deps.discovered().filter((one) => manufacturer === undefined || one.manufacturer === manufacturer)
    const discovered = toDiscoveredDevices(found, latest)
    const rest = { discovered, config: deps.settings(manufacturer), groups: deps.groups(manufacturer) }
    return [toPiece('{"receivers":['), ...cutter.cut(receivers), toPiece(`],${JSON.stringify(rest).slice(1)}`)]
  }

  const sendData = (request: FastifyRequest, reply: FastifyReply) => {
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    return sendCached(request, reply, {
      cache,
      manufacturer: manufacturer ?? null,
      key: keyOf('data', manufacturer),
      make: () => dataJson(manufacturer),
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
      // The page's links repeat the whole query, so every spelling of it is an answer of its own.
      key: page === null ? keyOf('receivers', manufacturer) : `page:${request.url}`,
      make: () => {
        const receivers = latest.list(manufacturer)
        if (page === null) return JSON.stringify(receivers.map(toReceiverSummary))
        const body = toPage(receivers, page, request.url)
        return JSON.stringify({ ...body, results: body.results.map(toReceiverSummary) })
      },
    })
  })

  app.get('/api/receivers/:id', (request, reply) => {
    const id = readId((request.params as { id: string }).id)
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    const receiver = latest.get(id)
    if (receiver === undefined || (manufacturer !== undefined && receiver.manufacturer !== manufacturer)) {
      throw new Refusal('not_found', { about: `receiver ${id}` })
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

function keyOf(answer: string, manufacturer: string | undefined): string {
  return manufacturer === undefined ? answer : `${answer}:${manufacturer}`
}

/** Receivers are replaced, never changed, so what one serialises to holds as long as it does. */
const serialised = new WeakMap<Receiver, string>()
/** The same of its channels, which stay when only the time passes. */
const serialisedChannels = new WeakMap<Receiver['channels'], string>()

function receiverJson(receiver: Receiver): string {
  let json = serialised.get(receiver)
  if (json === undefined) {
    json = `${JSON.stringify(toReceiverHead(receiver)).slice(0, -1)},"channels":${channelsJson(receiver.channels)}}`
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
