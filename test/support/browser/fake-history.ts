/** The history of the fake service: levels that are computed, events and markers. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Errors } from 'typebox/schema'
import {
  type DataAtTimeBody,
  type EventBody,
  EventList,
  HistoryLevels,
  type HistoryLevelsBody,
} from '../../../src/contract/history.ts'
import { tierSteps } from '../../../src/domain/history/tiers.ts'

/** A message about an event, without its number. */
type EventMessage =
  | { readonly type: 'event' | 'event_changed'; readonly event: EventBody }
  | { readonly type: 'event_deleted'; readonly id: number }

export interface FakeHistory {
  /** Epoch seconds of the first record; nothing was recorded before. */
  since: number
  /** Weak RF while the transmitter was on; `at` in epoch seconds. */
  dropouts: { channelId: number; at: number; ms: number }[]
  /** Times with another state than on, in epoch seconds; `-` is a gap. Without a channel, of all. */
  states: { channelId?: number; from: number; to: number; letter: string }[]
  events: EventBody[]
  /** The state at every earlier time. */
  earlier: Pick<DataAtTimeBody, 'receivers' | 'assignments'>
  /** If set, levels are refused with this text. */
  error: string | null
  /** Sites that could not be asked for levels. */
  interruptedSites: { readonly code: string; readonly name: string }[]
  /** Delay of the responses with levels. */
  delayMs: number
  /** The queries for levels that were received, and how many were cancelled. */
  readonly queries: URLSearchParams[]
  readonly cancelled: number
  /** Handles a request to the history. Returns false for other requests. */
  handle(request: IncomingMessage, response: ServerResponse, mount: string): boolean
}

export function createFakeHistory(send: (message: EventMessage) => void): FakeHistory {
  let cancelled = 0
  const history: FakeHistory = {
    ...{ since: 0, dropouts: [], states: [], events: [], error: null, interruptedSites: [], delayMs: 0, queries: [] },
    earlier: { receivers: [], assignments: [] },
    get cancelled() {
      return cancelled
    },
    handle(request, response, mount) {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
      const path = pathname.slice(mount.length)
      const json = (body: unknown, status = 200) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (path === '/api/history/levels/') {
        history.queries.push(searchParams)
        response.on('close', () => {
          clearTimeout(timer)
          if (!response.writableEnded) cancelled += 1
        })
        const respond = () =>
          history.error === null ? json(levels(history, searchParams)) : json({ error: history.error }, 400)
        const timer = setTimeout(respond, history.delayMs)
        return true
      }
      if (path === '/api/history/at/') {
        const time = Date.parse(searchParams.get('time') ?? '') / 1_000
        json(
          time < history.since ? { error: 'There is no record of this time.', status: 404 } : history.earlier,
          time < history.since ? 404 : 200,
        )
        return true
      }
      if (path === '/api/events/') {
        json(listEvents(history.events, searchParams))
        return true
      }
      if (!path.startsWith('/api/markers/')) return false
      void changeMarkers(history, request, path, send).then((body) =>
        body === null ? response.writeHead(204).end() : json(body, request.method === 'POST' ? 201 : 200),
      )
      return true
    },
  }
  return history
}

/** Returns an event with these fields. */
export function buildEvent(fields: Pick<EventBody, 'id' | 'time' | 'kind'> & Partial<EventBody>): EventBody {
  const rest = {
    severity: 'info',
    channel_id: null,
    receiver_id: null,
    manufacturer: null,
    text: '',
    by: null,
    site: null,
  } as const
  return { until: null, data: {}, ...rest, ...fields }
}

function levels(history: FakeHistory, query: URLSearchParams): HistoryLevelsBody {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? '') / 1_000) as [number, number]
  const maxPoints = Number(query.get('max_points') ?? 600)
  const ids = (query.get('channels') ?? '').split(',').map(Number)
  if (ids.length > 100 || ids.length * maxPoints > 100_000) throw new Error(`Too many levels: ${query}`)
  if (to > Date.now() / 1_000 + 60) throw new Error(`A time in the future: ${query}`)
  const countOf = (step: number) => Math.ceil((to - Math.floor(from / step) * step) / step)
  const step = tierSteps.find((step) => countOf(step) <= maxPoints) ?? 3600
  const start = Math.floor(from / step) * step
  const count = countOf(step)
  const body: HistoryLevelsBody = {
    ...{ from: new Date(start * 1_000).toISOString(), to: new Date(to * 1_000).toISOString(), step_seconds: step },
    channels: ids.map((id) => levelsOf(history, { id, start, step, count })),
    ...(history.interruptedSites.length > 0 && { interrupted_sites: history.interruptedSites }),
  }
  const [isValid, errors] = Errors(HistoryLevels, body)
  if (!isValid) throw new Error(JSON.stringify(errors.slice(0, 3)))
  return body
}

interface Part {
  readonly id: number
  readonly start: number
  readonly step: number
  readonly count: number
}

function levelsOf(history: FakeHistory, { id, start, step, count }: Part): HistoryLevelsBody['channels'][number] {
  const steps = Array.from({ length: count }, (_, index) => {
    const from = start + index * step
    const weakMs = history.dropouts
      .filter(({ channelId, at }) => channelId === id && at >= from && at < from + step)
      .reduce((sum, { ms }) => sum + ms, 0)
    const other = history.states.find(
      (state) => (state.channelId ?? id) === id && from + step / 2 >= state.from && from + step / 2 < state.to,
    )
    const isRecorded = from + step > history.since && from < Date.now() / 1_000 - 2
    const letter = isRecorded ? (other?.letter ?? '1') : '-'
    const wave = Math.round(
      8 * Math.sin((from + id * 977) / (step * 9)) + 4 * Math.sin((from + id * 31) / (step * 2.3)),
    )
    const isOn = letter === '1' || letter === 'm'
    return {
      ...{ letter, weakMs: isOn ? weakMs : 0, rfMin: isOn ? (weakMs > 0 ? -97 : -66 + wave) : null },
      ...{ rfMax: isOn ? -58 + wave : null, audio: letter === '1' ? -22 + wave : null },
      battery: isOn ? Math.max(5, 100 - Math.floor(((from / 60) % 600) / 6.5)) : null,
    }
  })
  return {
    ...{ id, state: steps.map(({ letter }) => letter).join(''), weak_ms: steps.map(({ weakMs }) => weakMs) },
    rf: { min: steps.map(({ rfMin }) => rfMin), max: steps.map(({ rfMax }) => rfMax) },
    audio: { max: steps.map(({ audio }) => audio), last: steps.map(({ audio }) => audio) },
    quality: { min: steps.map(() => null) },
    battery: { last: steps.map(({ battery }) => battery) },
    minutes: { last: steps.map(({ battery }) => battery && battery * 4) },
  }
}

function listEvents(all: readonly EventBody[], query: URLSearchParams) {
  const kinds = query.get('kind')?.split(',')
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
  const results = all
    .filter(({ kind }) => kinds === undefined || kinds.includes(kind))
    .filter(({ time, until }) => Date.parse(time) <= to && Date.parse(until ?? time) >= from)
    .toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time) || b.id - a.id)
  const body = { results, next: null }
  const [isValid, errors] = Errors(EventList, body)
  if (!isValid) throw new Error(JSON.stringify(errors.slice(0, 3)))
  return body
}

async function changeMarkers(
  history: FakeHistory,
  request: IncomingMessage,
  path: string,
  send: (message: EventMessage) => void,
): Promise<EventBody | null> {
  const body: Partial<EventBody> = JSON.parse((await text(request)) || '{}')
  const id = Number(path.split('/')[3] || 1 + Math.max(0, ...history.events.map((event) => event.id)))
  const before = history.events.find((event) => event.id === id)
  history.events = history.events.filter((event) => event !== before)
  if (request.method === 'DELETE') {
    send({ type: 'event_deleted', id })
    return null
  }
  const base = { id, time: new Date().toISOString(), kind: 'marker', receiver_id: null, by: 'local' } as const
  const event = { ...buildEvent(base), ...before, ...body }
  history.events.push(event)
  send({ type: before === undefined ? 'event' : 'event_changed', event })
  return event
}
