/**
 * Queues messages about alerts. Deliveries are stored in the transaction in which the alerts are, so that none is lost.
 * Without rules, nothing is read or written.
 */

import { randomBytes } from 'node:crypto'
import type { Alert } from '../domain/alerts/alert.ts'
import {
  clearedNewsMs,
  type NotifiableAlert,
  type NotificationPlan,
  type PlanInput,
  planInSteps,
  type QueuedDelivery,
  windowMs,
} from '../domain/notifications/plan.ts'
import type { NotificationRule } from '../domain/notifications/rule.ts'
import type { AlertSurroundings } from '../domain/notifications/surroundings.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { listAlertsById, listAlertsOpenSince } from '../storage/alerts.ts'
import type { Database, Reader, Tx } from '../storage/database.ts'
import {
  countDeliveryChange,
  extendDelivery,
  insertDelivery,
  listNotificationRounds,
  listQueuedDeliveries,
  saveNotificationRound,
  withdrawAlerts,
} from '../storage/notification-deliveries.ts'
import { nextRevision } from '../storage/revision.ts'

interface NotificationQueueDeps {
  readonly db: Database
  rules(): readonly NotificationRule[]
  notificationChannels(): readonly { readonly id: number; readonly enabled: boolean }[]
  surroundingsOf(alert: Alert): AlertSurroundings
  /** `nextAt`: the next time (epoch ms) at which something is due; null: none. */
  onPlanned(nextAt: number | null): void
  /** Epoch milliseconds. */
  now(): number
}

export class NotificationQueue {
  readonly #deps: NotificationQueueDeps

  constructor(deps: NotificationQueueDeps) {
    this.#deps = deps
  }

  get hasRules(): boolean {
    return this.#deps.rules().length > 0
  }

  get sendsCleared(): boolean {
    return this.#deps.rules().some(({ send_cleared }) => send_cleared)
  }

  /** Runs in the transaction that changed the alerts. */
  async queue(tx: Tx, alerts: readonly Alert[]): Promise<void> {
    if (alerts.length === 0 || !this.hasRules) return
    const input = await this.#read(tx.query, alerts)
    await this.#apply(tx, input, await planInSlices(input))
  }

  /** Returns when something is due next (epoch ms); null: none. Throws if `guard` does. */
  async queueDue(guard: (tx: Tx) => Promise<void>): Promise<number | null> {
    const { db } = this.#deps
    const planned = await planInSlices(await this.#readAll(db.read))
    const ids = listAlertIds(planned)
    if (ids.length === 0) return planned.nextAt
    return db.transaction(async (tx) => {
      // The alerts cannot change before this transaction ends.
      await nextRevision(tx, 'alerts')
      await guard(tx)
      const input = await this.#read(tx.query, await listAlertsById(tx.query, ids))
      const plan = await planInSlices(input)
      await this.#apply(tx, input, plan)
      return earliest(planned.nextAt, plan.nextAt)
    })
  }

  async #readAll(reader: Reader): Promise<PlanInput> {
    return this.#read(reader, await listAlertsOpenSince(reader, this.#deps.now() - clearedNewsMs))
  }

  async #read(reader: Reader, alerts: readonly Alert[]): Promise<PlanInput> {
    const { rules, notificationChannels, surroundingsOf, now } = this.#deps
    const ids = alerts.map(({ id }) => id)
    const rounds = await listNotificationRounds(reader, ids)
    const notifiable: NotifiableAlert[] = []
    for (const alert of alerts) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      notifiable.push({ ...alert, ...surroundingsOf(alert), round: rounds.get(alert.id) ?? 0 })
    }
    return {
      now: now(),
      rules: rules(),
      enabledChannelIds: new Set(notificationChannels().flatMap(({ id, enabled }) => (enabled ? id : []))),
      alerts: notifiable,
      deliveries: await listQueuedDeliveries(reader, ids, now() - windowMs),
    }
  }

  async #apply(tx: Tx, { now, deliveries }: PlanInput, plan: NotificationPlan): Promise<void> {
    for (const { alert_id, round } of plan.rounds) {
      await saveNotificationRound(tx, alert_id, round)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    for (const { delivery_id, alert_ids } of plan.withdraw) {
      await withdrawAlerts(tx, delivery_id, alert_ids, { reason: withdrawn })
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
    const create = [...plan.create]
    for (const { delivery_id, alerts } of plan.append) {
      if (await extendDelivery(tx, delivery_id, alerts)) continue
      create.push({ ...addressOf(deliveries, delivery_id), alerts })
    }
    for (const { alerts, ...address } of create) {
      const times = { created_at: now, next_attempt_at: now + windowMs }
      await insertDelivery(tx, { ...address, ...times, message_id: createMessageId() }, alerts)
    }
    if (plan.withdraw.length + plan.append.length + create.length > 0) await countDeliveryChange(tx)
    if (create.length > 0 || plan.nextAt !== null) tx.afterCommit(() => this.#deps.onPlanned(plan.nextAt))
  }
}

const withdrawn = 'Not sent: the alerts were acknowledged, snoozed or silenced.'

/** Plans in time slices, so that many alerts do not delay monitoring. */
async function planInSlices(input: PlanInput): Promise<NotificationPlan> {
  const steps = planInSteps(input)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (isTimeSliceUsed()) await yieldToEventLoop()
  }
}

function listAlertIds({ create, append, withdraw, rounds }: NotificationPlan): readonly number[] {
  const sent = [...create, ...append].flatMap(({ alerts }) => alerts.map(({ id }) => id))
  const withdrawn = withdraw.flatMap(({ alert_ids }) => alert_ids)
  return [...new Set([...sent, ...withdrawn, ...rounds.map(({ alert_id }) => alert_id)])]
}

function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** Only deliveries of rules are extended. */
function addressOf(deliveries: readonly QueuedDelivery[], id: number) {
  const found = deliveries.find((delivery) => delivery.id === id)
  if (found?.rule_id == null || found.notification_channel_id === null) throw new Error(`There is no delivery ${id}.`)
  return { rule_id: found.rule_id, notification_channel_id: found.notification_channel_id, type: found.type }
}

/** The id must not contain a dot, because dots separate the parts of what a webhook's signature signs. */
export function createMessageId(): string {
  return `msg_${randomBytes(16).toString('base64url')}`
}
