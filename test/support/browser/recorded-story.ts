/** Recorded levels and events for the fake service: a story that a test describes as a function of the time. */

import type { DataAtTimeBody, EventBody, HistoryLevelsBody } from '../../../src/contract/history.ts'
import type { StateLetter } from '../../../src/domain/history/columns.ts'
import { tierSteps } from '../../../src/domain/history/tiers.ts'
import { dataOf, type FakeService } from './fake-service.ts'

/** One recorded second of a channel. */
export interface FakeSecond {
  readonly letter: StateLetter
  readonly rf?: number
  readonly audio?: number
  readonly battery?: number
}

export interface FakeStory {
  /** Called with epoch seconds. */
  secondOf(channelId: number, at: number): FakeSecond
  readonly events?: readonly EventBody[]
}

/** Lets the service respond as if it had recorded this story. */
export function setHistory(service: FakeService, { secondOf, events = [] }: FakeStory): void {
  const { responses } = service.data
  responses['/api/history/levels/'] = (query: URLSearchParams) => levelsOf(query, secondOf)
  responses['/api/history/at/'] = (query: URLSearchParams): DataAtTimeBody => {
    const at = Date.parse(query.get('time') ?? '') / 1_000
    const isRecorded = service.data.receivers.some(({ channels }) =>
      channels.some(({ id }) => secondOf(id, at).letter !== '-'),
    )
    return { ...dataOf(service.data), as_of: query.get('time') ?? '', recorded: isRecorded, step_seconds: 1 }
  }
  responses['/api/events/'] = (query: URLSearchParams) => ({ results: eventsOf(query, events), next: null })
}

export function levelsOf(query: URLSearchParams, secondOf: FakeStory['secondOf']): HistoryLevelsBody {
  const [from, to] = [query.get('from'), query.get('to')].map((time) => Date.parse(time ?? '') / 1_000) as [
    number,
    number,
  ]
  const most = Number(query.get('max_points') ?? 600)
  const step = tierSteps.find((seconds) => (to - Math.floor(from / seconds) * seconds) / seconds <= most) ?? 3_600
  const start = Math.floor(from / step) * step
  const count = Math.ceil((to - start) / step)
  const channels = (query.get('channels') ?? '').split(',').map((id) => {
    const steps = Array.from({ length: count }, (_, index) => secondOf(Number(id), start + index * step))
    const values = (name: 'rf' | 'audio' | 'battery') => steps.map((second) => second[name] ?? null)
    const [rf, audio] = [values('rf'), values('audio')]
    return {
      id: Number(id),
      state: steps.map(({ letter }) => letter).join(''),
      rf: { min: rf, max: rf.map((level) => (level === null ? null : level + 4)) },
      audio: { max: audio, last: audio.map((level) => (level === null ? null : level - 6)) },
      quality: { min: steps.map(() => null) },
      battery: { last: values('battery') },
      minutes: { last: steps.map(() => null) },
      weak_ms: steps.map(({ letter }) => (letter === '-' ? null : 0)),
    }
  })
  const iso = (at: number) => new Date(at * 1_000).toISOString()
  return { from: iso(start), to: iso(start + count * step), step_seconds: step, channels }
}

/** Returns the events that overlap the range, newest first. */
export function eventsOf(query: URLSearchParams, events: readonly EventBody[]): EventBody[] {
  const limit = (name: string, otherwise: number) => {
    const text = query.get(name)
    return text === null ? otherwise : Date.parse(text)
  }
  const [from, to] = [limit('from', Number.NEGATIVE_INFINITY), limit('to', Number.POSITIVE_INFINITY)]
  const channel = query.get('channel')
  return events
    .filter(({ time, until }) => Date.parse(until ?? time) >= from && Date.parse(time) <= to)
    .filter(({ channel_id }) => channel === null || channel_id === null || String(channel_id) === channel)
    .toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time))
    .slice(0, Number(query.get('limit') ?? 100))
}

let lastId = 0

/** Creates an event of channel 1. */
export function eventAt(at: number, kind: EventBody['kind'], values: Partial<EventBody> = {}): EventBody {
  lastId += 1
  return {
    ...{ id: lastId, time: new Date(at).toISOString(), until: null, kind, severity: 'info', channel_id: 1 },
    ...{ receiver_id: 1, manufacturer: 'shure', text: `H01 Singer 1: ${kind}`, data: {}, by: null, site: null },
    ...values,
  }
}
