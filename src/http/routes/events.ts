/** Routes for events and markers. */

import { addMarker, changeMarker, type MarkerRecord, removeMarker } from '../../actions/shows/edit-markers.ts'
import { historyOperations } from '../../contract/history.ts'
import { type EventKind, eventKinds } from '../../contract/values.ts'
import { byteOrderMark } from '../../domain/csv.ts'
import { RequestError } from '../../domain/errors.ts'
import { eventCsvHeading, toEventBody, toEventLine } from '../../domain/events/event.ts'
import type { Service } from '../../service.ts'
import { type EventFilter, findEvent, hasEventOfChannel, listEvents, readEvents } from '../../storage/events.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { sendCsv, toTime } from '../server/response.ts'

const defaultLimit = 100
const maxLimit = 1000

export function eventRoutes(app: ContractServer, service: Service): void {
  const { db } = service

  app.route({
    ...historyOperations.listEvents,
    handler: async ({ query, url }) => {
      const limit = Math.min(query.limit ?? defaultLimit, maxLimit)
      const after = query.before === undefined ? undefined : await findEvent(db.read, query.before)
      if (query.before !== undefined && after === undefined)
        throw badRequest(`before: there is no event ${query.before}`)
      const filter = await readFilter(service, query)
      const found = await listEvents(db.read, filter, { limit: limit + 1, after })
      const results = found.slice(0, limit)
      const last = found.length > limit ? results.at(-1) : undefined
      return { results: results.map(toEventBody), next: last === undefined ? null : toNext(url, last.id) }
    },
  })

  app.route({
    ...historyOperations.getEventsCsv,
    handler: async (request, reply) => {
      const filter = await readFilter(service, request.query)
      return sendCsv(request, reply, 'events.csv', toCsv(service, filter))
    },
  })

  app.route({
    ...historyOperations.createMarker,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toEventBody(await addMarker(service, actor, body))
    },
  })

  app.route({
    ...historyOperations.changeMarker,
    handler: async (request) => {
      const { actor, params, body } = request
      return toEventBody(
        await changeMarker(service, actor, params.id, body, ifMatch<MarkerRecord>(request, toEventBody)),
      )
    },
  })

  app.route({
    ...historyOperations.removeMarker,
    handler: async (request, reply) => {
      await removeMarker(service, request.actor, request.params.id, ifMatch<MarkerRecord>(request, toEventBody))
      return reply.code(204).send(null)
    },
  })
}

interface FilterQuery {
  readonly from?: string
  readonly to?: string
  readonly channel?: string
  readonly receiver?: number
  readonly kind?: string
  readonly site?: string
}

async function readFilter(service: Service, query: FilterQuery): Promise<EventFilter> {
  const { from, to, channel, receiver, kind, site } = query
  return {
    from: toTime(from),
    to: toTime(to),
    receiver,
    site,
    channels: channel === undefined ? undefined : await readChannels(service, channel),
    kinds: kind === undefined ? undefined : readKinds(kind),
  }
}

/** A removed channel is known as long as it has events. */
async function readChannels({ db, receiverStore }: Service, list: string): Promise<EventFilter['channels']> {
  const receiverOf = new Map(
    receiverStore.listAllFacts().flatMap((receiver) => receiver.channels.map(({ id }) => [id, receiver])),
  )
  const ids = new Set<number>()
  const receivers = new Set<number>()
  const sites = new Set<string | null>()
  for (const item of list.split(',')) {
    const id = /^[1-9]\d{0,15}$/.test(item) ? Number(item) : Number.NaN
    if (!Number.isSafeInteger(id)) throw badRequest('channel: expected ids of channels, separated by commas')
    const receiver = receiverOf.get(id)
    if (receiver !== undefined) receivers.add(receiver.id)
    else if (!(await hasEventOfChannel(db.read, id))) throw badRequest(`channel: there is no channel ${id}`)
    sites.add(receiver?.origin?.site.code ?? null)
    ids.add(id)
  }
  return { ids: [...ids], receivers: [...receivers], sites: [...sites] }
}

function readKinds(list: string): readonly EventKind[] {
  const kinds = new Set<EventKind>()
  for (const item of list.split(',')) {
    const kind = eventKinds.find((known) => known === item)
    if (kind === undefined)
      throw badRequest(`kind: unknown event kind ${item}; expected event kinds separated by commas`)
    kinds.add(kind)
  }
  return [...kinds]
}

function toNext(url: string, before: number): string {
  const [path = '', query] = url.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('before', String(before))
  return `${path}?${parameters}`
}

async function* toCsv({ db }: Service, filter: EventFilter): AsyncIterable<string> {
  yield byteOrderMark + eventCsvHeading
  for await (const events of readEvents(db.read, filter)) yield events.map(toEventLine).join('')
}

function badRequest(details: string): RequestError {
  return new RequestError('bad_request', { details })
}
