/** Creates and removes silences of alerts. */

import type { Actor } from '../../domain/access/access.ts'
import type { AlertKind } from '../../domain/alerts/alert.ts'
import type { Silence } from '../../domain/alerts/silences.ts'
import { RequestError } from '../../domain/errors.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { deleteSilence, insertSilence, listSilences } from '../../storage/alerts.ts'
import { writeAudit } from '../../storage/audit.ts'

interface NewSilence {
  readonly channels?: readonly number[] | undefined
  readonly groups?: readonly number[] | undefined
  readonly kinds?: readonly AlertKind[] | undefined
  /** ISO 8601. */
  readonly until: string
  readonly reason?: string | undefined
}

const maxDays = 30

export async function addSilence(
  service: Service,
  actor: Actor,
  { channels = [], groups = [], kinds = [], until: end, reason = '' }: NewSilence,
): Promise<Silence> {
  const { db, receiverStore, lists } = service
  if (channels.length + groups.length + kinds.length === 0) {
    throw badRequest('channels: expected at least one channel, group or kind')
  }
  const channel = channels.find(
    (id) => !receiverStore.listFacts().some((receiver) => receiver.channels.some((known) => known.id === id)),
  )
  if (channel !== undefined) throw badRequest(`channels: there is no channel ${channel}`)
  const group = groups.find((id) => !lists.current.groups.some((known) => known.id === id))
  if (group !== undefined) throw badRequest(`groups: there is no group ${group}`)
  const created_at = now()
  const until = Date.parse(end)
  if (until <= created_at) throw badRequest('until: expected a time in the future')
  if (until > created_at + maxDays * 24 * 3_600_000)
    throw badRequest(`until: expected at most ${maxDays} days from now`)
  const silence = await db.transaction(async (tx) => {
    const inserted = await insertSilence(tx, { channels, groups, kinds, until, reason, by: actor.name, created_at })
    const details = { channels, groups, kinds, until: end, reason }
    await writeAudit(tx, { actor, action: 'silence.create', target: `silence ${inserted.id}`, result: 'ok', details })
    return inserted
  })
  await service.reload()
  return silence
}

export async function removeSilence(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Silence>,
): Promise<void> {
  const { db } = service
  await db.transaction(async (tx) => {
    const silence = (await listSilences(tx.query, now())).find((candidate) => candidate.id === id)
    if (silence !== undefined) requireVersion(silence, `silence ${id}`)
    if (!(await deleteSilence(tx, id, now()))) throw new RequestError('not_found', { subject: `silence ${id}` })
    await writeAudit(tx, { actor, action: 'silence.delete', target: `silence ${id}`, result: 'ok' })
  })
  await service.reload()
}

function badRequest(details: string): RequestError {
  return new RequestError('bad_request', { details })
}
