/** Captures: files with everything that the service exchanges with a device. */

import Type from 'typebox'
import { captureEnds, captureMinutes } from '../domain/captures.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { type Body, ById, binary, body, boundedText, id, named, oneOf, orNull, text, time, whole } from './schema.ts'

const ended = oneOf(
  captureEnds,
  'Why it ended: `time`: its time is over; `stopped`: by a user; `size`: it reached 16 MiB; `source_changed`: the settings of the source were changed.',
)

const Capture = named('Capture', 'A recording of what the service exchanges with a device or system.', {
  id,
  address: text('Address of the source.'),
  started_at: time('When it began.'),
  ends_at: time('When it ends, or has ended.'),
  ended: orNull(ended, 'Why it ended; null while it is running.'),
  lines: whole('Number of recorded messages and reports.'),
  bytes: whole('Size of what was recorded.'),
})
export type CaptureBody = Body<typeof Capture>

const NewCapture = body({
  address: boundedText(1, 1024),
  minutes: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: captureMinutes.most,
      description: `a number of minutes above 0, up to ${captureMinutes.most}`,
    }),
  ),
})

export const captureOperations = operationsOf({
  startCapture: endpoint('POST', '/api/captures/', {
    ...about(
      'Administration',
      `Records what this service exchanges with a source, on its own connections, for ${captureMinutes.usual} minutes by default.`,
    ),
    body: NewCapture,
    response: { 201: Capture, 404: ErrorResponse, 409: ErrorResponse },
  }),

  getCapture: endpoint('GET', '/api/captures/:id/', {
    ...about('Administration', 'One capture, until an hour after it has ended.'),
    params: ById,
    response: { 200: Capture },
  }),

  stopCapture: endpoint('POST', '/api/captures/:id/stop', {
    ...about('Administration', 'Ends a capture before its time.'),
    params: ById,
    response: { 200: Capture },
  }),

  getCaptureFile: endpoint('GET', '/api/captures/:id/file', {
    ...about(
      'Administration',
      'The file of a capture that has ended, with replacements for names, serial numbers, addresses and passwords.',
    ),
    params: ById,
    response: { 200: binary('application/x-ndjson', 'JSON Lines.'), 409: ErrorResponse },
  }),
})
