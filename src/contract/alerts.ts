import Type from 'typebox'
import { AlertData } from './alert-data.ts'
import { alertKinds } from './alert-kinds.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  boundedWhole,
  choiceOf,
  dayOrTime,
  distinctIds,
  flag,
  id,
  idOf,
  LocalList,
  listOf,
  manufacturerFilter,
  NoContent,
  NoFields,
  named,
  nullable,
  oneOf,
  pagedOf,
  paging,
  query,
  sameValue,
  siteFilter,
  siteOfAlert,
  text,
  textOrNull,
  time,
  timeOrNull,
  version,
  wholeOrNull,
} from './schema.ts'
import { alertStates, severities } from './values.ts'

export const alertKindList = alertKinds.map((kind) => `\`${kind}\``).join(', ')

export const AlertFirst = Type.Object(
  {
    at: time('When it was raised.'),
    kind: text('Kind.'),
    severity: oneOf(severities, 'Severity.'),
    message: text('Message.'),
    data: AlertData,
  },
  { description: 'The alert as it was raised; absent in installations of version 1.0.0.' },
)

const Acknowledgement = Type.Object(
  {
    at: time('When.'),
    by: text('Name of the user, token or notification channel, or `local`.'),
    note: textOrNull('Note of the user.'),
    severity: oneOf(severities, 'Severity of the alert at that time.'),
  },
  { description: 'An acknowledgement.' },
)

export const Alert = named('Alert', 'A condition that needs attention.', {
  id,
  manufacturer: textOrNull('Code of the manufacturer; null: the service itself.'),
  kind: text(`${alertKindList} …`),
  state: oneOf(alertStates, 'Whether it is open, snoozed, acknowledged or cleared.'),
  severity: oneOf(severities, 'Severity.'),
  message: text('Message for users, in English.'),
  channel_id: wholeOrNull('Id of the affected channel.'),
  receiver_id: wholeOrNull('Id of the affected receiver.'),
  raised_at: time('When it was raised.'),
  cleared_at: timeOrNull('When it was cleared.'),
  acknowledged_by: textOrNull(
    'Name of the user, token or notification channel (with its link) that acknowledged it, or `local`.',
  ),
  acknowledged_at: timeOrNull('When it was acknowledged.'),
  note: textOrNull('Note of the user who acknowledged it.'),
  acknowledgements: Type.Optional(
    listOf(
      Acknowledgement,
      'All acknowledgements, oldest first, including those that a user undid and those from before the alert got worse; absent in installations of version 1.0.0.',
    ),
  ),
  snoozed_by: textOrNull('Name of the user or token that snoozed it, or `local`.'),
  snoozed_at: timeOrNull('When it was snoozed.'),
  snoozed_until: textOrNull('When the snooze ends: a time, `cleared` or `show_end`.'),
  silenced: flag('Whether a silence applies to it.'),
  site: siteOfAlert,
  title_now: Type.Optional(
    text('Title of the channel now. Absent unless it has changed since the open alert was raised.'),
  ),
  data: AlertData,
  first: Type.Optional(AlertFirst),
})
export type AlertBody = Body<typeof Alert>

const AcknowledgeLink = named('AcknowledgeLink', 'An alert, and the link with which it can be acknowledged.', {
  notification_channel: text('Name of the notification channel that sent the link.'),
  expires_at: time('When the link expires. It also expires when the alert is cleared.'),
  alert: Alert,
})
export type AcknowledgeLinkBody = Body<typeof AcknowledgeLink>

const AcknowledgeToken = body({ token: boundedText(1, 100) })

export const Silence = named(
  'Silence',
  'Alerts that match make no sound and send nothing. Empty lists do not restrict.',
  {
    id,
    channels: listOf(Type.Integer(), 'Ids of channels.'),
    groups: listOf(Type.Integer(), 'Ids of groups of slots.'),
    kinds: listOf(Type.Enum([...alertKinds]), 'Kinds of alerts.'),
    until: time('When it ends.'),
    reason: text('Why.'),
    by: text('Name of the user or token that created it, or `local`.'),
    created_at: time('When it was created.'),
    version,
  },
)
export type SilenceBody = Body<typeof Silence>

const reason = boundedText(0, 500)

/** The body may be absent. */
const AlertAcknowledgement = Type.Optional(
  body({ note: Type.Optional(nullable(reason, 'text of at most 500 characters')) }),
)

/** Either `minutes` or `until`. */
const AlertSnooze = body({
  minutes: Type.Optional(boundedWhole(1, 10_080)),
  until: Type.Optional(oneOf(['cleared', 'show_end'], 'cleared or show_end')),
})

export const chosenKinds = Type.Optional(
  Type.Array(choiceOf(alertKinds), { uniqueItems: true, description: 'a list of distinct kinds of alerts' }),
)

/** At least one of the lists is not empty. */
const NewSilence = body({
  channels: Type.Optional(distinctIds),
  groups: Type.Optional(distinctIds),
  kinds: chosenKinds,
  until: Type.String({ format: 'date-time', description: 'a time such as 2030-12-31T00:00:00Z' }),
  reason: Type.Optional(reason),
})

const ByAlert = Type.Object({
  id: Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the alert.' }),
})

export const AlertQuery = query({
  state: oneOf([...alertStates, 'open'], 'Only alerts in this state; `open`: raised or snoozed.'),
  kind: oneOf(alertKinds, sameValue),
  channel: idOf('Id of a channel, to return only alerts about it.'),
  receiver: idOf('Id of a receiver, to return only alerts about it and its channels.'),
  from: dayOrTime('Raised at or after this time'),
  to: dayOrTime('Raised at or before this time'),
  manufacturer: manufacturerFilter,
  site: siteFilter,
  ...paging,
})

export const alertOperations = operationsOf({
  listAlerts: endpoint('GET', '/api/alerts/', {
    ...about('Monitoring', 'Open and cleared alerts, newest first; at most 1000 without paging.'),
    querystring: AlertQuery,
    response: { 200: pagedOf(Alert) },
  }),

  acknowledgeAlert: endpoint('POST', '/api/alerts/:id/acknowledge', {
    ...about('Monitoring', 'Acknowledges an alert for all users; the first acknowledgement counts.'),
    params: ByAlert,
    body: AlertAcknowledgement,
    response: { 200: Alert, 409: ErrorResponse },
  }),

  showAcknowledgeLink: endpoint('POST', '/api/acknowledge-link/', {
    ...about(
      'Monitoring',
      'The alert that a link in a message acknowledges. The token after `#` replaces the sign-in. A token that is not valid gives 404, an expired one 410, and 409 if the alert is cleared.',
    ),
    body: AcknowledgeToken,
    response: { 200: AcknowledgeLink, 404: ErrorResponse, 409: ErrorResponse, 410: ErrorResponse },
  }),

  useAcknowledgeLink: endpoint('POST', '/api/acknowledge-link/acknowledge', {
    ...about(
      'Monitoring',
      'Acknowledges an alert with the token of a link, for all users; the first acknowledgement counts.',
    ),
    body: AcknowledgeToken,
    response: { 200: AcknowledgeLink, 404: ErrorResponse, 409: ErrorResponse, 410: ErrorResponse },
  }),

  snoozeAlert: endpoint('POST', '/api/alerts/:id/snooze', {
    ...about('Monitoring', 'Snoozes an alert for all users.'),
    params: ByAlert,
    body: AlertSnooze,
    response: { 200: Alert, 409: ErrorResponse },
  }),

  unacknowledgeAlert: endpoint('POST', '/api/alerts/:id/unacknowledge', {
    ...about('Monitoring', 'Undoes the acknowledgement of an alert for all users; it stays in `acknowledgements`.'),
    params: ByAlert,
    body: NoFields,
    response: { 200: Alert, 409: ErrorResponse },
  }),

  unsnoozeAlert: endpoint('POST', '/api/alerts/:id/unsnooze', {
    ...about('Monitoring', 'Ends the snooze of an alert for all users, including that of a mute on purpose.'),
    params: ByAlert,
    body: NoFields,
    response: { 200: Alert, 409: ErrorResponse },
  }),

  markMutedOnPurpose: endpoint('POST', '/api/channels/:id/muted-on-purpose', {
    ...about(
      'Monitoring',
      'Marks the mute of a channel as on purpose: the alert `muted`, which is raised if necessary, is snoozed until the channel is unmuted.',
    ),
    params: ById,
    body: NoFields,
    response: { 200: Alert, 409: ErrorResponse },
  }),

  listSilences: endpoint('GET', '/api/silences/', {
    ...about('Monitoring', 'Silences in effect.'),
    querystring: LocalList,
    response: { 200: pagedOf(Silence) },
  }),

  addSilence: endpoint('POST', '/api/silences/', {
    ...about('Monitoring', 'Silences the matching alerts until a time.'),
    body: NewSilence,
    response: { 201: Silence },
  }),

  removeSilence: endpoint('DELETE', '/api/silences/:id/', {
    ...about('Monitoring', 'Ends a silence.'),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),
})
