/** Events: everything that has happened, including the markers of users. */

import Type from 'typebox'
import { type Body, listOf, named, oneOf, text, textOrNull, time, timeOrNull, wholeOrNull } from '../described.ts'
import { eventKinds, severities } from '../values.ts'
import { id, siteOfEvent } from './common.ts'

export const Event = named('Event', 'Something that has happened, or a marker.', {
  id,
  time: time('When it happened or began.'),
  until: timeOrNull('When it ended; null: it has no duration, or it continues.'),
  kind: oneOf([...eventKinds], 'What happened.'),
  severity: oneOf([...severities], 'Severity.'),
  channel_id: wholeOrNull('Id of the channel; null: not about one channel.'),
  receiver_id: wholeOrNull('Id of the receiver.'),
  manufacturer: textOrNull('Code of the manufacturer.'),
  text: text('Text for users, in English.'),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Values that depend on `kind`. `open` is true while the event continues.',
  }),
  by: textOrNull('Name of the user or token, or `local`; null: the service itself.'),
  site: siteOfEvent,
})
export type EventBody = Body<typeof Event>

export const EventList = named('EventList', 'Events, newest first.', {
  results: listOf(Event, 'The events.'),
  next: textOrNull('Path and query of the following events; null: there are no more.'),
})
export type EventListBody = Body<typeof EventList>
