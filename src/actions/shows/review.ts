/** Reviews discovered devices and acknowledges movements. */

import type { Failure } from '../../contract/errors.ts'
import type { ReviewBody } from '../../contract/schema.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { QueueEntry } from '../../domain/equipment/discovery.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import {
  type Approval,
  approveEntry,
  type ReviewAction,
  reviewError,
  statusAfter,
} from '../../domain/equipment/review.ts'
import { throwIfAllFailed } from '../../domain/errors.ts'
import { createKnownReceivers, type KnownReceiverIndex } from '../../domain/identity/reconcile.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { acknowledgeMovements, findEntries, findMovements, type Reviewer, saveReview } from '../../storage/discovery.ts'
import { saveReceivers } from '../../storage/receivers.ts'
import { passSlotEntry } from '../../storage/slot-entries.ts'
import { placeChannels } from '../../storage/slots.ts'
import { createReceiver } from '../equipment/edit-receivers.ts'

const messages: Readonly<Record<ReviewAction, (count: number) => string>> = {
  approve: (count) => `Approved and imported ${count} device(s).`,
  reject: (count) => `Rejected ${count} device(s).`,
  mark_duplicate: (count) => `Marked ${count} device(s) as duplicate.`,
  reopen: (count) => `Reopened ${count} device(s).`,
}

/** Reviews all entries in one transaction. An entry to which the action cannot be applied is listed under `failed`. */
export async function reviewEntries(
  service: Service,
  actor: Actor,
  action: ReviewAction,
  ids: readonly number[],
): Promise<ReviewBody> {
  const uniqueIds = [...new Set(ids)]
  const failed = await service.ingest.change(async (tx, revision) => {
    const failures: Failure[] = []
    const found = await findEntries(tx.query, uniqueIds)
    // Each approval must also know the receivers that earlier approvals have created.
    const known = createKnownReceivers(service.receiverStore)
    for (const id of uniqueIds) {
      const { entry, report = null } = found.get(id) ?? {}
      const approval = entry && action === 'approve' ? approveEntry(entry, report, known, now()) : null
      const error = entry === undefined ? `There is no entry ${id}.` : reviewFailure(entry, action, approval)
      if (entry === undefined || error !== null) failures.push({ id, error: error ?? '' })
      else await decide({ tx, revision, known, actor, at: now() }, entry, action, approval)
    }
    return failures
  })
  throwIfAllFailed(uniqueIds, failed)
  const updated = uniqueIds.length - failed.length
  return { message: messages[action](updated), updated, failed }
}

export async function acknowledge(service: Service, actor: Actor, ids: readonly number[]) {
  const uniqueIds = [...new Set(ids)]
  const failed = await service.db.transaction(async (tx) => {
    const found = await findMovements(tx.query, uniqueIds)
    const done = new Set(await acknowledgeMovements(tx, uniqueIds, reviewerOf(actor)))
    for (const id of done) {
      await writeAudit(tx, { actor, action: 'movement.acknowledge', target: `movement ${id}`, result: 'ok' })
    }
    return uniqueIds
      .filter((id) => !done.has(id))
      .map((id) => ({
        id,
        error: found.has(id) ? `Movement ${id} has already been acknowledged.` : `There is no movement ${id}.`,
      }))
  })
  throwIfAllFailed(uniqueIds, failed)
  const updated = uniqueIds.length - failed.length
  return { message: `Acknowledged ${updated} movement(s).`, updated, failed } satisfies ReviewBody
}

function reviewFailure(entry: QueueEntry, action: ReviewAction, approval: Approval | null): string | null {
  if (approval === null) return reviewError(entry, action)
  return approval.kind === 'refuse' ? approval.error : null
}

interface Decision {
  readonly tx: Tx
  readonly revision: number
  readonly known: KnownReceiverIndex
  readonly actor: Actor
  readonly at: number
}

async function decide(decision: Decision, entry: QueueEntry, action: ReviewAction, approval: Approval | null) {
  const { tx, revision, actor, at } = decision
  const receiver = approval === null ? null : await importReceiver(decision, approval)
  await saveReview(tx, revision, entry.id, {
    status: receiver === null ? statusAfter[action] : 'imported',
    is_duplicate: action === 'mark_duplicate',
    existing_device: receiver?.id ?? entry.existing_device,
    reviewer: action === 'reopen' ? null : { ...reviewerOf(actor), at },
  })
  await writeAudit(tx, {
    actor,
    action: `queue.${action}`,
    target: `entry ${entry.id}`,
    result: 'ok',
    details: {
      manufacturer: entry.manufacturer,
      device: entry.api_device_id,
      ...(receiver !== null && { receiver: receiver.id, created: approval?.kind === 'create' }),
    },
  })
}

async function importReceiver(decision: Decision, approval: Approval): Promise<Receiver | null> {
  if (approval.kind === 'refuse') return null
  if (approval.kind === 'link') return approval.receiver
  const { tx, revision, known } = decision
  const { creation, replaces } = approval
  if (replaces === null) {
    const created = await createReceiver(tx, revision, creation)
    known.put(created)
    return created
  }
  // The upstream's id now belongs to the replacement device.
  const replaced = { ...replaces, api_device_id: null }
  await saveReceivers(tx, revision, [replaced])
  const created = await createReceiver(tx, revision, creation)
  const [after, before] = [withSlotsOf(created, replaced), withSlotsOf(replaced, created)]
  await placeChannels(tx, revision, [...after.channels, ...before.channels])
  for (const { channel, id } of before.channels) {
    const next = after.channels.find((candidate) => candidate.channel === channel)
    if (next !== undefined) await passSlotEntry(tx, id, next.id)
  }
  known.put(before)
  known.put(after)
  return after
}

/** Moves each channel to the slot of the channel with the same number on the other receiver. */
function withSlotsOf(receiver: Receiver, other: Receiver): Receiver {
  const slots = new Map(other.channels.map(({ channel, slot }) => [channel, slot]))
  const channels = receiver.channels.map((channel) => ({
    ...channel,
    slot: slots.get(channel.channel) ?? channel.slot,
  }))
  return { ...receiver, channels }
}

/** Returns the reviewer. A token and the command line have a name, but no user id. */
function reviewerOf({ kind, id, name }: Actor): Omit<Reviewer, 'at'> {
  return { id: kind === 'user' ? id : null, name }
}
