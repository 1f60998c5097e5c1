import type { Actor } from '../../domain/access/access.ts'
import { findReceiverOf, type NotNow } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { saveNotNow } from '../../storage/channel-audio.ts'
import { requireLocal } from '../require-local.ts'

interface NotNowChange {
  readonly not_now: boolean
  /** ISO 8601. */
  readonly until?: string | null | undefined
}

/** Returns the id of the receiver. */
export async function setNotNow(service: Service, actor: Actor, id: number, change: NotNowChange): Promise<number> {
  const at = now()
  const until = readUntil(change, at)
  return service.ingest.change(async (tx, revision) => {
    const receiver = findReceiverOf(service.receiverStore.listAllFacts(), id)
    if (receiver === undefined) throw new RequestError('not_found', { subject: `channel ${id}` })
    requireLocal(receiver)
    const before = receiver.channels.find((channel) => channel.id === id)?.not_now ?? null
    if (!change.not_now && before === null) return receiver.id
    const after: NotNow | null = change.not_now ? { by: actor.name, since: before?.since ?? at, until } : null
    await saveNotNow(tx, revision, { channelId: id, notNow: after })
    const details = { before: before !== null, after: after !== null, ...(until !== null && { until: change.until }) }
    await writeAudit(tx, { actor, action: 'channel.not_now', target: `channel ${id}`, result: 'ok', details })
    return receiver.id
  })
}

function readUntil({ not_now, until = null }: NotNowChange, at: number): number | null {
  if (until === null) return null
  if (!not_now) throw new RequestError('bad_request', { details: 'until: only together with "not_now": true' })
  const time = Date.parse(until)
  if (time > at) return time
  throw new RequestError('bad_request', { details: 'until: expected a time in the future' })
}
