/** Begins the line checks of channels, and enters their results. */

import type { CheckedState } from '../../contract/checks.ts'
import type { AuditAction, CheckResult } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { type Check, requireNotEnded } from '../../domain/checks.ts'
import { findReceiverOf } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import type { EventDraft } from '../../domain/events/event.ts'
import { toCheckEvent } from '../../domain/events/event-drafts.ts'
import { toCheckedState } from '../../domain/reports/check-report.ts'
import { listChannelsOfShow } from '../../domain/shows.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import { nextRevision } from '../../storage/revision.ts'
import { findOpenCheck, findShow, insertCheck, saveCheck } from '../../storage/shows.ts'
import { listChannelSlots, listGroups } from '../../storage/slots.ts'
import { getShow } from './edit-shows.ts'
import { readLineCheck } from './read-line-check.ts'

interface CheckedChannel {
  readonly show_id: number
  readonly channel_id: number
}

/** Begins the check of a channel. A check that was begun and has no result begins again. */
export function beginCheck(service: Service, actor: Actor, checked: CheckedChannel): Promise<Check> {
  return edit(service, async (tx, revision) => {
    await requireChannel(tx, checked)
    const open = await findOpenCheck(tx.query, checked)
    const begun = {
      ...checked,
      began_at: now(),
      checked_at: null,
      result: null,
      note: null,
      by: actor.name,
      checked: null,
    }
    const check = open === undefined ? await insertCheck(tx, revision, begun) : { ...begun, id: open.id }
    if (open !== undefined) await saveCheck(tx, revision, check)
    await audit(tx, actor, 'check.begin', check)
    return check
  })
}

export interface CheckEntry extends CheckedChannel {
  readonly result: CheckResult
  readonly note: string | null
}

/** Enters the result of a check, which need not have begun, with the state of the channel. */
export async function addCheck(service: Service, actor: Actor, entry: CheckEntry, client: string): Promise<Check> {
  const { result, note, ...channel } = entry
  const checked = await readCheckedState(service, channel, client)
  return edit(service, async (tx, revision) => {
    await requireChannel(tx, channel)
    const open = await findOpenCheck(tx.query, channel)
    const checked_at = now()
    const ended = { ...channel, began_at: open?.began_at ?? null, checked_at, result, note, by: actor.name, checked }
    const check = open === undefined ? await insertCheck(tx, revision, ended) : { ...ended, id: open.id }
    if (open !== undefined) await saveCheck(tx, revision, check)
    await audit(tx, actor, 'check.create', check)
    await insertEvents(tx, listEvents(service, { ...check, checked_at }))
    return check
  })
}

/** Null if the channel is unknown. */
async function readCheckedState(
  service: Service,
  { show_id, channel_id }: CheckedChannel,
  client: string,
): Promise<CheckedState | null> {
  const { receiverStore, slotRecords } = service
  const receiver = findReceiverOf(receiverStore.listFacts(), channel_id)
  const channel = receiver?.channels.find(({ id }) => id === channel_id)
  if (receiver === undefined || channel === undefined) return null
  const [reading] = await readLineCheck(service, getShow(service, show_id), client, new Set([channel_id]))
  const named = { slot: channel.slot, title: slotRecords.titleOf(receiver, channel).title }
  return reading === undefined ? null : toCheckedState(named, channel, reading)
}

/** Runs a change. Changes that are requested at once, in several processes too, run one after the other. */
async function edit(
  { db, announcements, events }: Service,
  work: (tx: Tx, revision: number) => Promise<Check>,
): Promise<Check> {
  const check = await db.transaction(async (tx) => work(tx, await nextRevision(tx, 'checks')))
  await announcements.load()
  await events.load()
  return check
}

/** Throws a RequestError unless the show exists, has not ended and has the channel. */
async function requireChannel(tx: Tx, { show_id, channel_id }: CheckedChannel): Promise<void> {
  const show = await findShow(tx.query, show_id)
  if (show === undefined) throw new RequestError('not_found', { subject: `show ${show_id}` })
  const channels = listChannelsOfShow(show, await listChannelSlots(tx.query), await listGroups(tx.query))
  if (!channels.includes(channel_id)) {
    throw new RequestError('bad_request', { details: `channel_id: channel ${channel_id} is not part of the show` })
  }
  requireNotEnded(show)
}

/** Returns the event of a check; none if the channel was removed meanwhile. */
function listEvents(
  { receiverStore, slotRecords }: Service,
  check: Check & { readonly checked_at: number },
): EventDraft[] {
  return receiverStore.listFacts().flatMap((receiver) => {
    const channel = receiver.channels.find(({ id }) => id === check.channel_id)
    return channel === undefined ? [] : toCheckEvent(check, slotRecords.nameChannel(receiver, channel))
  })
}

function audit(tx: Tx, actor: Actor, action: AuditAction, { show_id, channel_id, result, note }: Check) {
  const details = { channel: channel_id, ...(result !== null && { result, note }) }
  return writeAudit(tx, { actor, action, target: `show ${show_id}`, result: 'ok', details })
}
