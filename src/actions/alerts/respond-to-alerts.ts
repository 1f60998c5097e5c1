/** Acknowledges and snoozes alerts. Both apply to all users. */

import type { Actor } from '../../domain/access/access.ts'
import type { Alert, SnoozeEnd } from '../../domain/alerts/alert.ts'
import { RequestError } from '../../domain/errors.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { acknowledgeAlert, findAlert, snoozeAlert } from '../../storage/alerts.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader } from '../../storage/database.ts'

/** Acknowledges an alert. Of an alert that is already acknowledged, the first acknowledgement stays. */
export async function acknowledge({ alerts }: Service, actor: Actor, id: number, note: string | null): Promise<Alert> {
  const at = now()
  if (alerts.unstored.find(id) !== undefined) {
    return alerts.unstored.respond(id, { acknowledged_by: actor.name, acknowledged_at: at, note })
  }
  return alerts.edit(async (tx, revision) => {
    const before = await openAlert(tx.query, id)
    const after = await acknowledgeAlert(tx, revision, id, { by: actor.name, at, note })
    if (after === null) return { alert: before, isChanged: false }
    await writeAudit(tx, { actor, action: 'alert.acknowledge', target: `alert ${id}`, result: 'ok', details: { note } })
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
