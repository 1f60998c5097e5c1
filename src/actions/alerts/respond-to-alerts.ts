/** Acknowledges and snoozes alerts, and undoes both, for all users. */

import type { Actor } from '../../domain/access/access.ts'
import { type Alert, isMutedOnPurpose, type SnoozeEnd } from '../../domain/alerts/alert.ts'
import { hasRow } from '../../domain/conditions/condition.ts'
import { findReceiverOf } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { toAlertEvent } from '../../domain/events/event-drafts.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import {
  acknowledgeAlert,
  endSnooze,
  findAlert,
  findOpenAlert,
  raiseAlert,
  snoozeAlert,
  unacknowledgeAlert,
} from '../../storage/alerts.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'

/** Acknowledges an alert. Of an alert that is already acknowledged, the first acknowledgement stays. */
export async function acknowledge({ alerts }: Service, actor: Actor, id: number, note: string | null): Promise<Alert> {
  const at = now()
  const unstored = alerts.unstored.find(id)
  if (unstored?.state === 'acknowledged') return unstored
  if (unstored !== undefined) {
    const by = actor.name
    const acknowledgements = [...unstored.acknowledgements, { at, by, note, severity: unstored.severity }]
    return alerts.unstored.respond(id, { acknowledged_by: by, acknowledged_at: at, note, acknowledgements })
  }
  return alerts.edit(async (tx, revision) => {
    const before = await openAlert(tx.query, id)
    const after = await acknowledgeAlert(tx, revision, before, { by: actor.name, at, note })
    if (after === null) return { alert: before, isChanged: false }
    await writeAudit(tx, { actor, action: 'alert.acknowledge', target: `alert ${id}`, result: 'ok', details: { note } })
    return { alert: after, isChanged: true }
  })
}

/** Undoes an acknowledgement, which stays in `acknowledgements`. */
export async function unacknowledge({ alerts }: Service, actor: Actor, id: number): Promise<Alert> {
  const notAcknowledged = () => new RequestError('wrong_state', { subject: `Alert ${id} is not acknowledged.` })
  const unstored = alerts.unstored.find(id)
  if (unstored !== undefined) {
    if (unstored.state !== 'acknowledged') throw notAcknowledged()
    return alerts.unstored.respond(id, { acknowledged_by: null, acknowledged_at: null, note: null })
  }
  return alerts.edit(async (tx, revision) => {
    const after = await unacknowledgeAlert(tx, revision, await openAlert(tx.query, id))
    if (after === null) throw notAcknowledged()
    await writeAudit(tx, { actor, action: 'alert.unacknowledge', target: `alert ${id}`, result: 'ok' })
    return { alert: after, isChanged: true }
  })
}

export interface Snooze {
  readonly minutes?: number | undefined
  readonly until?: 'cleared' | 'show_end' | undefined
}

/** Snoozes an alert, or changes its snooze. An acknowledged alert stays acknowledged. */
export async function snooze(service: Service, actor: Actor, id: number, { minutes, until }: Snooze): Promise<Alert> {
  const { alerts } = service
  if ((minutes === undefined) === (until === undefined)) {
    throw new RequestError('bad_request', { details: 'minutes: expected either minutes or until' })
  }
  const at = now()
  const endOf = (alert: Alert): SnoozeEnd => {
    if (until === 'show_end' && !alerts.context.hasRunningShow(alert)) {
      throw new RequestError('no_show_running', { subject: `alert ${id}` })
    }
    return until ?? at + (minutes ?? 0) * 60_000
  }
  const unstored = alerts.unstored.find(id)
  if (unstored?.state === 'acknowledged') return unstored
  if (unstored !== undefined) {
    const snoozed_until = endOf(unstored)
    return alerts.unstored.respond(id, { snoozed_by: actor.name, snoozed_at: at, snoozed_until })
  }
  return alerts.edit(async (tx, revision) => {
    const before = await openAlert(tx.query, id)
    const after = await snoozeAlert(tx, revision, id, { by: actor.name, at, until: endOf(before) })
    if (after === null) return { alert: before, isChanged: false }
    const details = minutes === undefined ? { until } : { minutes }
    await writeAudit(tx, { actor, action: 'alert.snooze', target: `alert ${id}`, result: 'ok', details })
    return { alert: after, isChanged: true }
  })
}

export async function unsnooze({ alerts }: Service, actor: Actor, id: number): Promise<Alert> {
  const notSnoozed = () => new RequestError('wrong_state', { subject: `Alert ${id} is not snoozed.` })
  const unstored = alerts.unstored.find(id)
  if (unstored !== undefined) {
    if (unstored.state !== 'snoozed') throw notSnoozed()
    return alerts.unstored.respond(id, { snoozed_by: null, snoozed_at: null, snoozed_until: null })
  }
  return alerts.edit(async (tx, revision) => {
    const before = await openAlert(tx.query, id)
    const after = before.state === 'snoozed' ? await endSnooze(tx, revision, before) : null
    if (after === null) throw notSnoozed()
    await writeAudit(tx, { actor, action: 'alert.unsnooze', target: `alert ${id}`, result: 'ok' })
    return { alert: after, isChanged: true }
  })
}

/** Snoozes the alert `muted` of a channel until the channel is unmuted. Raises it first if necessary. */
export function markMutedOnPurpose(service: Service, actor: Actor, channelId: number): Promise<Alert> {
  const { alerts, receiverStore } = service
  const receiver = findReceiverOf(receiverStore.listAllFacts(), channelId)
  const channel = receiver?.channels.find(({ id }) => id === channelId)
  if (receiver === undefined || channel === undefined) {
    throw new RequestError('not_found', { subject: `channel ${channelId}` })
  }
  const wrongState = (subject: string) => new RequestError('wrong_state', { subject })
  if (receiver.origin !== undefined) {
    throw wrongState(`Channel ${channelId} is of the site ${receiver.origin.site.name}. Mark its mute there.`)
  }
  if (!hasRow(channel.condition, 'muted')) throw wrongState(`Channel ${channelId} is not muted.`)
  const cause = alerts.muteCause(receiver, channel)
  if (cause === null) throw wrongState('The setting alert_muted_enabled turns the alert off. Turn it on first.')
  const at = now()
  return alerts.edit(async (tx, revision) => {
    const raised = await raiseAlert(tx, revision, cause, at)
    if (raised !== null) await insertEvents(tx, [toAlertEvent('alert_raised', raised, { time: at })])
    const before = raised ?? (await findOpenAlert(tx.query, cause.subject))
    if (before === undefined) throw wrongState(`Channel ${channelId} is not muted.`)
    const isMarked = before.state === 'acknowledged' || isMutedOnPurpose(before)
    const after = isMarked ? null : await snoozeAlert(tx, revision, before.id, { by: actor.name, at, until: 'cleared' })
    if (after === null) return { alert: before, isChanged: false }
    const target = `alert ${before.id}`
    await writeAudit(tx, { actor, action: 'alert.muted_on_purpose', target, result: 'ok' })
    return { alert: after, isChanged: true }
  })
}

/** Returns the alert. Throws if there is none, or if it is cleared. */
async function openAlert(reader: Reader, id: number): Promise<Alert> {
  const alert = await findAlert(reader, id)
  if (alert === undefined) throw new RequestError('not_found', { subject: `alert ${id}` })
  if (alert.site !== null) {
    throw new RequestError('wrong_state', {
      subject: `Alert ${id} is of the site ${alert.site.name}. Respond to it there.`,
    })
  }
  if (alert.state === 'cleared') throw new RequestError('alert_cleared', { subject: `Alert ${id}` })
  return alert
}
