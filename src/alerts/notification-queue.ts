/**
 * Queues messages about alerts. Deliveries are stored in the transaction that stores the alerts, so that none is lost.
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
import type { StoredLists } from '../lists/stored-lists.ts'
import { now } from '../platform/clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
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
import type { AlertContext } from './alert-context.ts'

export class NotificationQueue {
  /** Deliveries were queued. Contains when something is due next (epoch ms); null if nothing is. */
  readonly planned = new Topic<number | null>()
  readonly #db: Database
  readonly #lists: StoredLists
  readonly #context: AlertContext
  readonly #now: () => number

  /** `clock` returns epoch milliseconds. */
  constructor(db: Database, lists: StoredLists, context: AlertContext, clock = now) {
    this.#db = db
    this.#lists = lists
    this.#context = context
    this.#now = clock
  }

  get hasRules(): boolean {
    return this.#lists.current.notificationRules.length > 0
  }

  get sendsCleared(): boolean {
    return this.#lists.current.notificationRules.some(({ send_cleared }) => send_cleared)
  }

  /** Runs in the transaction that changed the alerts. */
  async queue(tx: Tx, alerts: readonly Alert[]): Promise<void> {
    if (alerts.length === 0 || !this.hasRules) return
    const input = await this.#read(tx.query, alerts)
    await this.#apply(tx, input, await planInSlices(input))
  }

  /** Returns when something is due next (epoch ms); null if nothing is. Throws if `guard` does. */
  async queueDue(guard: (tx: Tx) => Promise<void>): Promise<number | null> {
    const planned = await planInSlices(await this.#readAll(this.#db.read))
    const ids = listAlertIds(planned)
    if (ids.length === 0) return planned.nextAt
    return this.#db.transaction(async (tx) => {
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
    return this.#read(reader, await listAlertsOpenSince(reader, this.#now() - clearedNewsMs))
  }

  async #read(reader: Reader, alerts: readonly Alert[]): Promise<PlanInput> {
    const ids = alerts.map(({ id }) => id)
    const rounds = await listNotificationRounds(reader, ids)
    const notifiable: NotifiableAlert[] = []
    for (const alert of alerts) {
      if (isTimeSliceUsed()) await yieldToEventLoop()
      notifiable.push({ ...alert, ...this.#context.surroundingsOf(alert), round: rounds.get(alert.id) ?? 0 })
    }
    const { notificationRules: rules, notificationChannels } = this.#lists.current
    const now = this.#now()
    return {
      now,
      rules,
      enabledChannelIds: new Set(notificationChannels.flatMap(({ id, enabled }) => (enabled ? id : []))),
      alerts: notifiable,
      deliveries: await listQueuedDeliveries(reader, ids, now - windowMs),
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
    if (create.length > 0 || plan.nextAt !== null) tx.afterCommit(() => this.planned.publish(plan.nextAt))
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

/** Contains no dot, because dots separate the signed parts of a webhook. */
export function createMessageId(): string {
  return `msg_${randomBytes(16).toString('base64url')}`
}
