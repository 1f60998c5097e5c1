/** Alerts. */

import { type Body, named, oneOf, text, textOrNull, time, timeOrNull, wholeOrNull } from '../described.ts'
import { alertKinds, alertStates, severities } from '../values.ts'
import { id } from './common.ts'

/** The kinds as text, for descriptions. */
export const alertKindList = alertKinds.map((kind) => `\`${kind}\``).join(', ')

export const Alert = named('Alert', 'A condition that needs attention.', {
  id,
  manufacturer: textOrNull('Code of the manufacturer.'),
  kind: text(`${alertKindList} …`),
  state: oneOf(alertStates, 'Whether it is still active.'),
  severity: oneOf(severities, 'Severity.'),
  message: text('Message for users.'),
  channel_id: wholeOrNull('Id of the affected channel.'),
  receiver_id: wholeOrNull('Id of the affected receiver.'),
  raised_at: time('When it was raised.'),
  cleared_at: timeOrNull('When it was cleared.'),
})
export type AlertBody = Body<typeof Alert>
