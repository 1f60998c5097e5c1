import Type from 'typebox'
import { Data } from './data.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  binary,
  body,
  boundedText,
  flag,
  id,
  idOf,
  listOf,
  NoContent,
  named,
  nullable,
  oneOf,
  optional,
  orNull,
  query,
  recordId,
  SiteReference,
  siteFilter,
  siteOfEvent,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { eventKinds, severities } from './values.ts'

export const Event = named('Event', 'Something that has happened, or a marker.', {
  id,
  time: time('When it happened or began.'),
  until: timeOrNull('When it ended; null: it has no duration, or it continues.'),
  kind: oneOf(eventKinds, 'What happened.'),
  severity: oneOf(severities, 'Severity.'),
  channel_id: wholeOrNull('Id of the channel; null: not about one channel.'),
  receiver_id: wholeOrNull('Id of the receiver.'),
  manufacturer: textOrNull('Code of the manufacturer.'),
  text: text('Text for users, in English.'),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Values that depend on `kind`. `open` is true while the event continues.',
  }),
  by: textOrNull('Name of the user or token, or `local`; null: the service itself.'),
  site: siteOfEvent,
  version: Type.Optional(whole('Only for markers of this installation: changes with every edit. It is the `ETag`.')),
})
export type EventBody = Body<typeof Event>

export const EventList = named('EventList', 'Events, newest first.', {
  results: listOf(Event, 'The events.'),
  next: textOrNull('Path and query of the following events; null: there are no more.'),
})
export type EventListBody = Body<typeof EventList>

const values = (description: string) =>
  Type.Array(Type.Union([Type.Integer(), Type.Null()]), { description: `${description}, for each step.` })

const HistoryChannel = named('HistoryChannel', 'The levels of one channel. All lists have the same length.', {
  id: whole('Id of the channel.'),
  state: text(
    'A letter for each step: `1` on, `m` muted, `0` transmitter off, `x` receiver offline, `-` not recorded.',
  ),
  rf: Type.Optional(Type.Object({ min: values('Lowest RF level in dBm'), max: values('Highest RF level in dBm') })),
  audio: Type.Optional(
    Type.Object({ max: values('Highest peak level in dBFS'), last: values('Last RMS level in dBFS') }),
  ),
  quality: Type.Optional(Type.Object({ min: values('Lowest link quality in percent') })),
  battery: Type.Optional(Type.Object({ last: values('Last battery level in percent') })),
  minutes: Type.Optional(Type.Object({ last: values('Last remaining battery time in minutes') })),
  weak_ms: values('Milliseconds of weak RF while a transmitter was on'),
})

export const HistoryLevels = named('HistoryLevels', 'Recorded levels of channels.', {
  from: time('Start of the first step.'),
  to: time('End of the range.'),
  step_seconds: whole('Length of a step in seconds.'),
  channels: listOf(HistoryChannel, 'In the order of the request.'),
  interrupted_sites: Type.Optional(
    listOf(SiteReference, 'Sites that could not be asked for missing levels. Absent if every site could be asked.'),
  ),
})
export type HistoryLevelsBody = Body<typeof HistoryLevels>

/** Slot records of earlier times are not recorded. */
const { slot_records: _, ...recordedData } = Data.properties

export const DataAtTime = named('DataAtTime', 'The state at an earlier time.', {
  ...recordedData,
  as_of: time('The requested second.'),
  recorded: flag('False in a gap of the recording: the last state before it, without levels.'),
  step_seconds: orNull(whole('Seconds.'), 'Length of the recorded step that contains the second.'),
})
export type DataAtTimeBody = Body<typeof DataAtTime>

const marker = {
  time: Type.Optional(Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })),
  until: Type.Optional(nullable(Type.String({ format: 'date-time' }), 'a time such as 2026-05-01T18:00:00Z')),
  channel_id: Type.Optional(nullable(recordId, 'the id of a channel')),
  text: boundedText(1, 500),
}
const NewMarker = body(marker)
const MarkerChange = body(optional(marker))

const exactTime = (description: string) =>
  Type.String({ format: 'date-time', description: `${description}, such as 2026-05-01T18:00:00Z.` })

const commaList = (description: string) => text(`${description}, separated by commas.`)

const historyRange = {
  channels: commaList('Ids of at most 100 channels'),
  from: exactTime('Start of the range'),
  to: exactTime('End of the range, exclusive'),
}

const HistoryQuery = Type.Object({
  ...historyRange,
  max_points: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 11_000, description: 'At most this many steps per channel; default 600.' }),
  ),
  series: Type.Optional(commaList('`rf`, `audio`, `quality`, `battery`, `minutes`; default all')),
})

const HistoryCsvQuery = Type.Object({
  ...historyRange,
  step: Type.Optional(oneOf(['1', '10', '60', '600', '3600'], 'Length of a step in seconds; default 1.')),
})

const HistoryTimeQuery = Type.Object({ time: exactTime('A whole second') })

const eventFilters = {
  from: exactTime('Only events that ended at or after this time'),
  to: exactTime('Only events that began at or before this time'),
  channel: commaList('Ids of channels, to return only their events and those of all channels'),
  receiver: idOf('Id of a receiver, to return only events about it and its channels.'),
  kind: commaList('Kinds of events'),
  site: siteFilter,
}

const EventQuery = query({
  ...eventFilters,
  limit: Type.Integer({ minimum: 1, description: 'How many events to return; default 100, at most 1000.' }),
  before: idOf('Id of an event, to return only the events that follow it in the list.'),
})

const EventCsvQuery = query(eventFilters)

export const historyOperations = operationsOf({
  getHistoryLevels: endpoint('GET', '/api/history/levels/', {
    ...about('History', 'Recorded levels of channels.'),
    querystring: HistoryQuery,
    response: { 200: HistoryLevels },
  }),

  getHistoryLevelsCsv: endpoint('GET', '/api/history/levels.csv', {
    ...about('History', 'Recorded levels of channels as CSV.'),
    querystring: HistoryCsvQuery,
    response: { 200: binary('text/csv', 'One row for each step of each channel.') },
  }),

  getHistoryAt: endpoint('GET', '/api/history/at/', {
    ...about('History', 'The state at an earlier second.'),
    querystring: HistoryTimeQuery,
    response: { 200: DataAtTime, 404: ErrorResponse },
  }),

  listEvents: endpoint('GET', '/api/events/', {
    ...about('History', 'Events, newest first.'),
    querystring: EventQuery,
    response: { 200: EventList },
  }),

  getEventsCsv: endpoint('GET', '/api/events.csv', {
    ...about('History', 'Events as CSV.'),
    querystring: EventCsvQuery,
    response: { 200: binary('text/csv', 'One row for each event.') },
  }),

  createMarker: endpoint('POST', '/api/markers/', {
    ...about('History', 'Adds a marker at a moment or over a range.'),
    body: NewMarker,
    response: { 201: Event },
  }),

  changeMarker: endpoint('PATCH', '/api/markers/:id/', {
    ...about('History', 'Changes the given fields of a marker.'),
    params: ById,
    body: MarkerChange,
    response: { 200: Event, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeMarker: endpoint('DELETE', '/api/markers/:id/', {
    ...about('History', 'Removes a marker.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),
})
