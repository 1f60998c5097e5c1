/** The audit log. */

import Type from 'typebox'
import { type Body, named, oneOf, text, textOrNull, time, timeOrNull, whole, wholeOrNull } from '../described.ts'
import { actorKinds, auditResults } from '../values.ts'
import { id } from './common.ts'

export const Audit = named('AuditRecord', 'An action that was performed or attempted.', {
  id,
  at: time('Time of the action.'),
  count: whole(
    'How often the action was performed since `at`. Minor actions that are repeated are merged into one record.',
  ),
  last_at: timeOrNull('Time of the last repetition; null without repetitions.'),
  actor: Type.Object(
    {
      kind: oneOf(actorKinds, 'How the actor was authenticated.'),
      id: wholeOrNull('Id of the user or token.'),
      name: text('Name of the user or token.'),
      address: textOrNull('Client address of the request.'),
    },
    { description: 'Who performed the action.' },
  ),
  action: text('Name of the action, such as `queue.approve`.'),
  target: text('The affected object.'),
  result: oneOf(auditResults, 'Result.'),
  request_id: textOrNull('Id of the request; an error response contains it in the header `X-Request-Id`.'),
  details: Type.Record(Type.String(), Type.Unknown(), { description: 'What changed, without secrets.' }),
})
export type AuditBody = Body<typeof Audit>
