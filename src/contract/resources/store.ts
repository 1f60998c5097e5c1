/** Incidents of the database. */

import { type Body, flag, named, text } from '../described.ts'

export const StoreAcknowledged = named('StoreAcknowledged', 'Whether there was an incident to acknowledge.', {
  acknowledged: flag('False if there was no incident.'),
  message: text('Message for users.'),
})
export type Acknowledged = Body<typeof StoreAcknowledged>
