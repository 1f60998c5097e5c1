/** Streams of audio on the network, and of programs. */

import Type from 'typebox'
import {
  maxStreamChannels,
  searchSources as searchSourceList,
  streamEncodings,
  streamRates,
  streamSources,
} from '../domain/audio/audio-stream.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  boundedWhole,
  choiceOf,
  flag,
  id,
  LocalList,
  listOf,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  orNull,
  pagedOf,
  text,
  textOrNull,
  time,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'

const sources = [...streamSources]
const searchSources = [...searchSourceList]
const encodings = [...streamEncodings]

const StreamStatus = Type.Object(
  {
    packets: whole('Number of packets received, with duplicates.'),
    lost: whole('Number of packets that the network lost.'),
    reordered: whole('Number of packets that arrived after later ones.'),
    restarts: whole('How often the sender began again.'),
    jitter_ms: Type.Number({ description: 'Interarrival jitter in ms (RFC 3550).' }),
    last_packet_age: orNull(Type.Number(), 'Seconds since the last packet; null before the first.'),
    levels: orNull(
      listOf(Type.Number(), 'By channel.'),
      'Peak of each channel in dBFS over the last second; null while the stream is not received.',
    ),
    error: textOrNull('Why the stream cannot be received.'),
  },
  { description: 'Counted since the stream was joined.' },
)

export const AudioStreamRecord = named('AudioStream', 'A stream of audio.', {
  id,
  name: text('Name.'),
  source: oneOf(
    sources,
    'How it was found: announced (`sap`, `rtsp`, `nmos`), entered (`manual`), or a program of the configuration.',
  ),
  address: textOrNull('IPv4 address of the multicast group, or of this machine; null for a program.'),
  port: wholeOrNull('UDP port; null for a program.'),
  interface: textOrNull('Name or address of the interface on which it is received; null for all.'),
  encoding: oneOf(encodings, 'Samples of 16 or 24 bits.'),
  sample_rate: whole('Hz.'),
  channels: whole('Number of channels.'),
  labels: listOf(Type.String(), 'Names of the channels; empty if the announcement has none.'),
  enabled: flag('False: it is not received.'),
  announced: flag('False if it is in use but no longer announced.'),
  status: StreamStatus,
  version,
})
export type AudioStreamBody = Body<typeof AudioStreamRecord>

const address = Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,3}){3}$', description: 'an IPv4 address' })
const rateText = streamRates.join(', ')

/** Either a description, or all of the fields. */
const NewStream = body({
  sdp: Type.Optional(Type.String({ description: 'a description of at most 16 KiB (SDP)' })),
  name: Type.Optional(name),
  source: Type.Optional(choiceOf(['manual'])),
  address: Type.Optional(address),
  port: Type.Optional(boundedWhole(1, 65_535)),
  encoding: Type.Optional(choiceOf(encodings)),
  sample_rate: Type.Optional(Type.Enum([...streamRates], { description: `one of ${rateText}` })),
  channels: Type.Optional(boundedWhole(1, maxStreamChannels)),
  interface: Type.Optional(nullable(boundedText(1, 64), 'a name or address of an interface')),
})
export type NewStreamBody = Body<typeof NewStream>

const StreamChange = body({ name: Type.Optional(name), enabled: Type.Optional(trueOrFalse) })
export type StreamChangeBody = Body<typeof StreamChange>

const unavailable = { 503: ErrorResponse }
const streams = '/api/audio/streams/'

const AudioSearch = named('AudioSearch', 'How streams are sought on the network, and what cannot be used.', {
  listening: flag('Whether the configuration file permits listening (`listening`).'),
  searching: flag('Whether streams are sought: the configuration file has a section `audio`.'),
  interfaces: listOf(
    Type.Object({ name: text('Name.'), address: text('IPv4 address.') }),
    'The interfaces on which streams are sought.',
  ),
  received: whole('Number of announcements received since the search began (SAP).'),
  discarded: whole('Number of announcements that were not read, because more than 200 arrived in a second.'),
  found: whole('Number of streams in the list that were found.'),
  most_found: whole('Above this number, a new stream displaces one that was not announced for a minute.'),
  problems: listOf(
    Type.Object({
      source: oneOf(searchSources, 'The kind of search.'),
      address: text('The address that sent it, or that was searched.'),
      error: text('What is wrong.'),
      count: whole('How often it occurred.'),
      at: time('When it last occurred.'),
    }),
    'The last 20 of each kind of search, the latest first.',
  ),
})
export type AudioSearchBody = Body<typeof AudioSearch>

export const audioStreamOperations = operationsOf({
  getAudioSearch: endpoint('GET', '/api/audio/search/', {
    ...about('Audio', 'How streams are sought on the network, and which announcements cannot be used.'),
    response: { 200: AudioSearch, ...unavailable },
  }),

  listAudioStreams: endpoint('GET', streams, {
    ...about('Audio', 'The streams that are announced on the network, that were entered, and those of programs.'),
    querystring: LocalList,
    response: { 200: pagedOf(AudioStreamRecord), ...unavailable },
  }),

  addAudioStream: endpoint('POST', streams, {
    ...about('Audio', 'Adds a stream, from its description (SDP) or from its fields.'),
    body: NewStream,
    response: { 201: AudioStreamRecord, 409: ErrorResponse, ...unavailable },
  }),

  getAudioStream: endpoint('GET', `${streams}:id/`, {
    ...about('Audio', 'One stream. It is received for ten seconds after each request, so that it has levels.'),
    params: ById,
    response: { 200: AudioStreamRecord, ...unavailable },
  }),

  changeAudioStream: endpoint('PATCH', `${streams}:id/`, {
    ...about('Audio', 'Renames, enables or disables a stream.'),
    params: ById,
    body: StreamChange,
    response: { 200: AudioStreamRecord, 412: ErrorResponse, ...unavailable },
  }),

  removeAudioStream: endpoint('DELETE', `${streams}:id/`, {
    ...about('Audio', 'Deletes a stream. One that is still announced returns.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse, ...unavailable },
  }),
})
