import type { Receiver } from '../domain/equipment/receiver.ts'
import { RequestError } from '../domain/errors.ts'

/** Throws if a site monitors the receiver, because only that site can change it. `field`: the field of the request. */
export function requireLocal({ name, origin }: Receiver, field?: string): void {
  if (origin === undefined) return
  throw new RequestError('wrong_state', {
    subject: `${name} is monitored by the site ${origin.site.name}. It can only be changed there.`,
    ...(field !== undefined && { details: `${field}: can only be changed at the site` }),
  })
}
