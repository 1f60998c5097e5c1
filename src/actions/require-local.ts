import type { Receiver } from '../domain/equipment/receiver.ts'
import { RequestError } from '../domain/errors.ts'

/** Throws if a site monitors the receiver, because only that site can change it. */
export function requireLocal({ name, origin }: Receiver): void {
  if (origin === undefined) return
  throw new RequestError('wrong_state', {
    subject: `${name} is monitored by the site ${origin.site.name}. It can only be changed there.`,
  })
}
