/** Alerts. */

import Type from 'typebox'
import { AlertData } from '../alert-data.ts'
import { alertKinds } from '../alert-kinds.ts'
import { type Body, listOf, named, oneOf, text, textOrNull, time, timeOrNull, wholeOrNull } from '../described.ts'
import { alertStates, severities } from '../values.ts'
import { id, siteOfAlert } from './common.ts'

/** The kinds as text, for descriptions. */
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
  acknowledged_by: textOrNull('Name of the user or token that acknowledged it, or `local`.'),
  acknowledged_at: timeOrNull('When it was acknowledged.'),
  note: textOrNull('Note of the user who acknowledged it.'),
  snoozed_by: textOrNull('Name of the user or token that snoozed it, or `local`.'),
  snoozed_at: timeOrNull('When it was snoozed.'),
  snoozed_until: textOrNull('When the snooze ends: a time, `cleared` or `show_end`.'),
  silenced: Type.Boolean({ description: 'Whether a silence applies to it.' }),
  site: siteOfAlert,
  data: AlertData,
  first: Type.Optional(AlertFirst),
})
export type AlertBody = Body<typeof Alert>

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
  },
)
export type SilenceBody = Body<typeof Silence>
