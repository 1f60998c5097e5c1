/** The line check of a show: results that users enter, and readings of the same channels. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  choiceOf,
  flagOrNull,
  id,
  idOf,
  named,
  nullable,
  oneOf,
  orNull,
  pagedOf,
  paging,
  query,
  recordId,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { checkResults, encryptions } from './values.ts'

const channel_id = whole('Id of the channel.')

export const Check = named('Check', 'A check of one channel for a show.', {
  id,
  show_id: whole('Id of the show.'),
  channel_id,
  began_at: timeOrNull('When it began; null if only the result was entered.'),
  time: timeOrNull('When the result was entered; null until then.'),
  result: orNull(oneOf(checkResults, 'The result.'), 'The result; null until it is entered.'),
  note: textOrNull('Note.'),
  by: text('Name of the user or token, or `local`.'),
})
export type CheckBody = Body<typeof Check>

const Sees = named('Sees', 'Current readings of the channel; null: unknown.', {
  transmitter_on: flagOrNull(
    'Whether a transmitter is received; null while the receiver is offline or its data are stale.',
  ),
  battery: wholeOrNull('Battery level in percent.'),
  minutes_left: wholeOrNull('Remaining battery time in minutes.'),
  lasts: flagOrNull('Whether the battery lasts until the planned end of the show.'),
  rf_lowest: wholeOrNull(
    'The lowest RF level in dBm while a transmitter was on, in the seconds since the check of this channel began.',
  ),
  dropouts: wholeOrNull('Number of RF dropouts since the check of this channel began.'),
  audio_heard: flagOrNull(
    'Whether audio above -60 dBFS is received, or was received since the check of this channel began.',
  ),
  encryption: orNull(oneOf(encryptions, 'Encryption of the link.'), 'Encryption of the link.'),
  frequency: textOrNull('Frequency in MHz with three decimal places.'),
  frequency_planned: textOrNull(
    'Planned frequency in MHz with three decimal places: in the frequency plan in force; for a slot that it does not have, in the scene that was recalled last, else at the start of the show.',
  ),
  frequency_plan: orNull(
    Type.Object({ id, title: text('Title.') }),
    'The frequency plan in force, if it has the slot.',
  ),
})
export type Sees = Body<typeof Sees>

const LastResult = named('LastResult', 'The last result that was entered for a channel.', {
  result: oneOf(checkResults, 'The result.'),
  note: textOrNull('Note.'),
  time: time('When it was entered.'),
  by: text('Name of the user or token, or `local`.'),
})

export const ChannelCheck = named('ChannelCheck', 'The line check of one channel.', {
  channel_id,
  began_at: timeOrNull('When the check of this channel last began.'),
  sees: Sees,
  last: orNull(LastResult, 'The last result; null: the channel is not checked.'),
})
export type ChannelCheckBody = Body<typeof ChannelCheck>

/** The fields of a slot that are stored with its check. */
export const checkedFields = {
  slot: whole('Slot.'),
  title: textOrNull('Title of the slot.'),
  pack: textOrNull('Name of the transmitter.'),
  battery: wholeOrNull('Battery level in percent.'),
  rf_lowest: wholeOrNull('The lowest RF level of the walk in dBm, while a transmitter was on.'),
  dropouts: wholeOrNull('Number of RF dropouts of the walk.'),
}
const CheckedState = Type.Object(checkedFields)
export type CheckedState = Body<typeof CheckedState>

const CheckBegin = body({ channel_id: recordId })

const NewCheck = body({
  channel_id: recordId,
  result: choiceOf(checkResults),
  note: Type.Optional(nullable(boundedText(0, 500), 'text of at most 500 characters')),
})

const CheckQuery = query({ channel: idOf('Id of a channel, to return only its check.'), ...paging })

export const checkOperations = operationsOf({
  listChecks: endpoint('GET', '/api/shows/:id/checks/', {
    ...about('Shows', 'The line check of each channel of a show, by slot.'),
    params: ById,
    querystring: CheckQuery,
    response: { 200: pagedOf(ChannelCheck) },
  }),

  createCheck: endpoint('POST', '/api/shows/:id/checks/', {
    ...about('Shows', 'Enters the result of the line check of a channel.'),
    params: ById,
    body: NewCheck,
    response: { 201: Check, 409: ErrorResponse },
  }),

  beginCheck: endpoint('POST', '/api/shows/:id/checks/begin', {
    ...about('Shows', 'Begins the check of a channel: its lowest RF level and its dropouts count from now.'),
    params: ById,
    body: CheckBegin,
    response: { 200: Check, 409: ErrorResponse },
  }),
})
