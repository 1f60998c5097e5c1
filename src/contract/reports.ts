import Type from 'typebox'
import { Forecast } from './channels.ts'
import { checkedFields } from './checks.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { Event } from './history.ts'
import {
  type Body,
  ById,
  binary,
  flag,
  id,
  idOf,
  listOf,
  named,
  oneOf,
  orNull,
  query,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from './schema.ts'
import { Show } from './shows.ts'
import { changeReasons, checkResults, conditionStates } from './values.ts'

const number = (description: string) => Type.Number({ description })

const ReportedAlert = Type.Object(
  {
    id,
    kind: text('Kind of the alert.'),
    raised_at: time('When it was raised.'),
    happened_at: time(
      'When it happened: a death or loss when the last value was received, anything else when it was raised.',
    ),
    acknowledged_at: timeOrNull('When it was acknowledged.'),
    seconds_to_acknowledge: orNull(Type.Number(), 'Seconds from when it happened until it was acknowledged.'),
  },
  { description: 'An alert of the channel or its receiver.' },
)
export type ReportedAlert = Body<typeof ReportedAlert>

export const ReportedChannel = named('ReportedChannel', 'The report of one channel of a show.', {
  channel_id: whole('Id of the channel.'),
  slot: wholeOrNull('Slot; null: the channel was removed.'),
  title: textOrNull('Title at the end of the show; null: the channel was removed, and nothing is known of it.'),
  name: textOrNull('Name of the channel.'),
  performer: textOrNull('Name of the performer; several are joined by `; `.'),
  pack: textOrNull('Name of the transmitter; several are joined by `; `.'),
  is_recorded: flag(
    'False: nothing of it was recorded in the show, so its minutes, batteries and RF levels are unknown.',
  ),
  minutes_on: number('Minutes with a transmitter on, muted or not.'),
  battery_start: wholeOrNull('First battery level in percent.'),
  battery_end: wholeOrNull('Last battery level in percent.'),
  rf_lowest: wholeOrNull('Lowest RF level in dBm while a transmitter was on.'),
  rf_p1: wholeOrNull(
    'RF level in dBm that the lowest level of 1% of these seconds does not exceed; null if not every second is kept.',
  ),
  dropouts: Type.Object(
    {
      count: whole('How many.'),
      seconds: number('Together.'),
      longest_seconds: number('The longest one; 0: there was none.'),
      times: listOf(time('A time.'), 'When each began.'),
    },
    { description: 'RF dropouts.' },
  ),
  interference: whole('Number of times interference was detected.'),
  mutes: whole('Number of times it was muted, on purpose or not.'),
  mutes_on_purpose: whole('Number of mutes that were marked as on purpose. Their alerts are not listed.'),
  clipping: Type.Object(
    { count: whole('How often.'), seconds: number('Together.') },
    { description: 'Audio overloads.' },
  ),
  alerts: listOf(ReportedAlert, 'Alerts of the channel and its receiver, oldest first.'),
  markers: listOf(Event, 'Markers of the channel and of all channels, oldest first.'),
})
export type ReportedChannel = Body<typeof ReportedChannel>

const ReportedCheck = Type.Object(
  {
    ...checkedFields,
    result: orNull(oneOf(checkResults, 'The last result.'), 'The last result; null: not checked.'),
    by: textOrNull('Name of the user or token that entered the result, or `local`.'),
    at: timeOrNull('When the result was entered.'),
    note: textOrNull('Note.'),
  },
  { description: 'The line check of a slot, with the values at the time of the result.' },
)

const reportedChecks = listOf(
  ReportedCheck,
  'The slots of the show in ascending order, except those with the kind `blank`.',
)

export const CheckReport = named('CheckReport', 'The line check of a show.', { show: Show, slots: reportedChecks })
export type CheckReport = Body<typeof CheckReport>

export const ShowReport = named('ShowReport', 'The report of a show.', {
  show: Show,
  from: time('Start of the show.'),
  to: time('End of the show, or the current time while it runs.'),
  step_seconds: wholeOrNull(
    'Length of the recorded steps used: 1, or more where seconds are no longer kept; null: nothing is recorded.',
  ),
  channels: listOf(ReportedChannel, 'The channels of the show, by slot.'),
  checks: reportedChecks,
})
export type ShowReport = Body<typeof ShowReport>

export const CrewSheet = named('CrewSheet', 'Who wears what, by slot.', {
  show: orNull(Show, 'The show whose channels are listed; null: all channels.'),
  rows: listOf(
    Type.Object(
      {
        slot: whole('Slot.'),
        name: text('Title of the slot; may be empty.'),
        role: text('Role of the performer, else the notes about the performer; may be empty.'),
        pack: text('Name of the transmitter; may be empty.'),
        frequency: text('MHz with three decimals; may be empty.'),
        groups: listOf(Type.String(), 'Titles of the groups that have the slot.'),
      },
      { description: 'A channel or placeholder.' },
    ),
    'The channels and placeholders.',
  ),
})
export type CrewSheet = Body<typeof CrewSheet>

const CrewSheetQuery = query({ show: idOf('Id of a show, to return only its channels and placeholders.') })

export const BatteryChange = named('BatteryChange', 'A battery to change.', {
  channel_id: whole('Id of the channel.'),
  slot: whole('Slot.'),
  title: text('Title of the slot.'),
  pack: textOrNull('Name of the transmitter.'),
  model: textOrNull('Model of the transmitter; null while it is not received.'),
  battery_type: textOrNull('Chemistry or type of the battery.'),
  battery: wholeOrNull('Percent; the last known value while it is not received.'),
  minutes_left: wholeOrNull('Remaining run time in minutes.'),
  forecast: orNull(Forecast, 'Null if there is no basis, and while it is not received.'),
  reason: oneOf(
    changeReasons,
    '`will_not_last`: empty before that time; `nearly_empty`: low or empty, without a forecast; `unknown`: may be empty before that time.',
  ),
  state: oneOf(conditionStates, 'State of the channel.'),
  last_seen: timeOrNull('When the values were last received; null while they are current.'),
})
export type BatteryChange = Body<typeof BatteryChange>

export const BatteryList = named('BatteryList', 'The batteries to change so that all packs last until a time.', {
  before: time('The time until which they must last.'),
  changes: listOf(BatteryChange, 'By slot; those with the reason `unknown` last.'),
})
export type BatteryList = Body<typeof BatteryList>

const BatteryListQuery = query({
  before: Type.String({
    format: 'date-time',
    description:
      'The time until which the batteries must last, such as 2026-05-01T20:30:00Z; default: the planned end of the running show, else in two hours.',
  }),
})

export const reportOperations = operationsOf({
  getShowReport: endpoint('GET', '/api/shows/:id/report/', {
    ...about('Shows', 'The report of a running or ended show.'),
    params: ById,
    response: { 200: ShowReport, 409: ErrorResponse },
  }),

  getShowReportCsv: endpoint('GET', '/api/shows/:id/report.csv', {
    ...about('Shows', 'The report of a show as CSV.'),
    params: ById,
    response: { 200: binary('text/csv', 'One row for each channel.'), 409: ErrorResponse },
  }),

  getCheckReport: endpoint('GET', '/api/shows/:id/check-report/', {
    ...about('Shows', 'The line check of a show, by slot.'),
    params: ById,
    response: { 200: CheckReport },
  }),

  getCheckReportCsv: endpoint('GET', '/api/shows/:id/check-report.csv', {
    ...about('Shows', 'The line check of a show, as CSV.'),
    params: ById,
    response: { 200: binary('text/csv', 'One row for each slot.') },
  }),

  getCrewSheet: endpoint('GET', '/api/crew-sheet/', {
    ...about('Shows', 'Who wears what, by slot.'),
    querystring: CrewSheetQuery,
    response: { 200: CrewSheet, 404: ErrorResponse },
  }),

  getCrewSheetCsv: endpoint('GET', '/api/crew-sheet.csv', {
    ...about('Shows', 'Who wears what, by slot, as CSV.'),
    querystring: CrewSheetQuery,
    response: { 200: binary('text/csv', 'One row for each channel and placeholder.'), 404: ErrorResponse },
  }),

  getBatteryList: endpoint('GET', '/api/changes/', {
    ...about('Shows', 'The batteries to change now so that they last until a time, by slot.'),
    querystring: BatteryListQuery,
    response: { 200: BatteryList },
  }),

  getBatteryListCsv: endpoint('GET', '/api/changes.csv', {
    ...about('Shows', 'The batteries to change now so that they last until a time, as CSV.'),
    querystring: BatteryListQuery,
    response: { 200: binary('text/csv', 'One row for each battery.') },
  }),
})
