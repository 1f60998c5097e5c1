/** The handover from one shift to the next. */

import Type from 'typebox'
import { Alert, Silence } from './alerts.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { Event } from './history.ts'
import { BatteryChange } from './reports.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  listOf,
  named,
  nullable,
  oneOf,
  orNull,
  Paging,
  pagedOf,
  query,
  text,
  textOrNull,
  time,
  whole,
  wholeOrNull,
} from './schema.ts'
import { handoverChanges, handoverEvents } from './values.ts'

const value = (description: string) => orNull(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), description)

const happened = {
  at: time('When.'),
  by: textOrNull('Name of the user or token, or `local`; null: nobody.'),
  slot: wholeOrNull('Slot.'),
  title: textOrNull(
    'Title of the slot at that time; of a setting, the group or manufacturer; of an event without a slot, the receiver or manufacturer.',
  ),
}

const HandoverEvent = Type.Object(
  {
    ...happened,
    what: oneOf(handoverEvents, 'What happened.'),
    id: whole('Id of the event; of `battery_died`, the id of the alert.'),
    channel_id: wholeOrNull('Id of the channel.'),
    from: Type.Null({ description: 'Always null; only changes have values.' }),
    to: Type.Null({ description: 'Always null; only changes have values.' }),
    text: text('Text for users, in English.'),
  },
  { description: 'An event.' },
)
export type HandoverEvent = Body<typeof HandoverEvent>

const HandoverChange = Type.Object(
  {
    ...happened,
    what: oneOf(
      handoverChanges,
      '`moved`: from one slot to another, with what was entered; `equipment`: without it; `name`: of a performer; `frequency`: reported by the equipment; `frequency_plan`: the plan in force, also if it was edited; `setting`; the others are entries of the slot.',
    ),
    id: orNull(
      Type.Union([Type.Integer(), Type.String()]),
      'Id of the channel or placeholder, or of the performer (`name`); the key of a setting; the id of the plan.',
    ),
    from: value('The value before; null: none.'),
    to: value('The value after; null: none.'),
  },
  { description: 'A change.' },
)
export type HandoverChange = Body<typeof HandoverChange>

const FailedCheck = Type.Object(
  {
    show_id: whole('Id of the show.'),
    show: text('Title of the show.'),
    channel_id: whole('Id of the channel.'),
    slot: wholeOrNull('Slot.'),
    title: textOrNull('Title of the slot when it was checked.'),
    by: text('Name of the user or token that entered the result, or `local`.'),
    at: time('When the result was entered.'),
    note: textOrNull('Note.'),
  },
  { description: 'A channel that failed its last line check.' },
)

const HandoverNote = Type.Object(
  {
    at: time('When the period was closed.'),
    by: text('Name of the user or token, or `local`.'),
    note: text('The note.'),
  },
  { description: 'A note.' },
)

const listed = {
  open_alerts: listOf(Alert, 'Alerts that nobody has acknowledged or snoozed, the most severe first.'),
  acknowledged: listOf(Alert, 'Open alerts that are acknowledged or snoozed.'),
  silences: listOf(Silence, 'Silences that have not ended.'),
  failed_checks: listOf(
    FailedCheck,
    'Channels whose last line check failed, except those of shows that ended before the period.',
  ),
  will_not_last: listOf(
    BatteryChange,
    'Batteries that are nearly empty, or will not last until the planned end of the running show (without one, for two hours).',
  ),
  markers: listOf(Event, 'Markers, newest first.'),
  events: listOf(HandoverEvent, 'Dropouts, dead batteries, and receivers and sources that were offline, newest first.'),
  changes: listOf(HandoverChange, 'Changes of slots, cast, frequencies and settings, newest first.'),
}
export const handoverLists = Object.keys(listed) as (keyof typeof listed)[]

const period = {
  since: time('Start of the period.'),
  until: time('End of the period.'),
}
const notes = listOf(HandoverNote, 'Notes of the handovers that were closed in the period.')
const closed = { id: whole('Id of the handover.'), by: text('Name of the user or token that closed it, or `local`.') }

const contents = {
  ...period,
  ...listed,
  truncated: listOf(Type.Enum([...handoverLists]), 'The lists that were truncated to 200 items.'),
}

const Handover = named('Handover', 'Open problems, and events and changes of a period, for the next shift.', {
  ...contents,
  notes,
})
export type HandoverBody = Body<typeof Handover>
const HandoverContents = Type.Object(contents)
/** Without the notes. */
export type HandoverContents = Body<typeof HandoverContents>

const ClosedHandover = named('ClosedHandover', 'A handover, as it was when it was closed.', {
  ...closed,
  ...contents,
  notes: listOf(HandoverNote, 'The note with which it was closed; empty without one.'),
})

const HandoverSummary = named('HandoverSummary', 'A handover that was closed.', {
  ...closed,
  ...period,
  notes: ClosedHandover.properties.notes,
})

const HandoverQuery = query({
  since: Type.String({
    format: 'date-time',
    description:
      'Start of the period, such as 2026-05-01T18:00:00Z; default: the last handover; without one, 12 hours ago.',
  }),
})

const HandoverClosing = Type.Optional(
  body({ note: Type.Optional(nullable(boundedText(0, 10_000), 'text of at most 10000 characters')) }),
)

export const handoverOperations = operationsOf({
  getHandover: endpoint('GET', '/api/handover/', {
    ...about('Shows', 'Events and changes since the last handover, and open problems.'),
    querystring: HandoverQuery,
    response: { 200: Handover },
  }),

  closeHandover: endpoint('POST', '/api/handover/', {
    ...about('Shows', 'Closes the period since the last handover, and stores it with a note.'),
    body: HandoverClosing,
    response: { 201: ClosedHandover },
  }),

  listHandovers: endpoint('GET', '/api/handovers/', {
    ...about('Shows', 'Closed handovers, newest first.'),
    querystring: Paging,
    response: { 200: pagedOf(HandoverSummary) },
  }),

  getClosedHandover: endpoint('GET', '/api/handovers/:id/', {
    ...about('Shows', 'A handover, as it was when it was closed.'),
    params: ById,
    response: { 200: ClosedHandover },
  }),
})
