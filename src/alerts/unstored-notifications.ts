/**
 * Sends messages about alerts that cannot be stored. The queue is only in memory: it is lost when the process ends, and is
 * not listed among the deliveries. Every process sends messages about its own alerts.
 */

import type { Alert } from '../domain/alerts/alert.ts'
import { createMessage } from '../domain/notifications/message.ts'
import {
  clearedNewsMs,
  type NewDelivery,
  planNotifications,
  type QueuedDelivery,
  windowMs,
} from '../domain/notifications/plan.ts'
import { evaluateTry, isExpired } from '../domain/notifications/retry.ts'
import type { SealedChannel } from '../storage/notifications.ts'
import type { Alerts } from './alerts.ts'
import { createMessageId } from './notification-queue.ts'
import { logUnlisted, type RetryTime, retryTime, type SendSubsystems } from './notification-sender.ts'
import { sendMessage } from './services/send-message.ts'

interface Delivery extends QueuedDelivery {
  readonly messageId: string
  readonly notification_channel_id: number
  alerts: QueuedDelivery['alerts']
  status: QueuedDelivery['status']
  attempts: number
  /** Epoch milliseconds; null if it is not retried. */
  nextAttemptAt: number | null
  isTrying: boolean
}

const checkEveryMs = 500

export class UnstoredNotifications {
  readonly #subsystems: SendSubsystems
  readonly #time: RetryTime
  /** The newest state of each alert, by id. Alerts that were cleared stay for `clearedNewsMs`. */
  readonly #alerts = new Map<number, Alert>()
  readonly #rounds = new Map<number, number>()
  #deliveries: Delivery[] = []
  #lastId = 0
  #timer: NodeJS.Timeout | undefined
  readonly #stop = new AbortController()

  constructor(alerts: Alerts, subsystems: SendSubsystems, time = retryTime) {
    this.#subsystems = subsystems
    this.#time = time
    alerts.changed.subscribe(({ alert, isStored }) => {
      if (isStored) return
      if (alerts.hasStored(alert.subject)) this.#forget(alert.id)
      else this.#changed(alert)
    })
  }

  close(): void {
    this.#stop.abort()
    clearTimeout(this.#timer)
  }

  #changed(alert: Alert): void {
    if (this.#alerts.get(alert.id)?.raised_at !== alert.raised_at) this.#forget(alert.id)
    this.#alerts.set(alert.id, alert)
    this.#check()
  }

  #forget(id: number): void {
    this.#alerts.delete(id)
    this.#rounds.delete(id)
    this.#keepAlerts((alertId) => alertId !== id)
  }

  #check(): void {
    clearTimeout(this.#timer)
    if (this.#stop.signal.aborted) return
    const { now } = this.#time
    for (const { id, cleared_at } of this.#alerts.values()) {
      if (cleared_at !== null && Math.abs(now() - cleared_at) > clearedNewsMs) this.#forget(id)
    }
    this.#plan()
    for (const delivery of this.#deliveries) {
      const { status, isTrying, created_at, nextAttemptAt } = delivery
      if (status !== 'pending' || isTrying) continue
      if (isExpired(created_at, now())) this.#end(delivery, 'expired', null)
      else if (nextAttemptAt !== null && now() >= nextAttemptAt) void this.#try(delivery)
    }
    if (this.#alerts.size > 0) this.#timer = setTimeout(() => this.#check(), checkEveryMs)
  }

  #plan(): void {
    const { lists, alertContext } = this.#subsystems
    const { notificationRules: rules, notificationChannels } = lists.current
    const plan = planNotifications({
      now: this.#time.now(),
      rules,
      enabledChannelIds: new Set(notificationChannels.flatMap(({ id, enabled }) => (enabled ? id : []))),
      alerts: [...this.#alerts.values()].map((alert) => ({
        ...alert,
        ...alertContext.surroundingsOf(alert),
        round: this.#rounds.get(alert.id) ?? 0,
      })),
      deliveries: this.#deliveries,
    })
    for (const { alert_id, round } of plan.rounds) this.#rounds.set(alert_id, round)
    for (const { delivery_id, alert_ids } of plan.withdraw) {
      this.#keepAlerts((alertId, { id }) => id !== delivery_id || !alert_ids.includes(alertId))
    }
    for (const { delivery_id, alerts } of plan.append) {
      const delivery = this.#deliveries.find(({ id }) => id === delivery_id)
      if (delivery === undefined) continue
      const others = delivery.alerts.filter(({ id }) => alerts.every((alert) => alert.id !== id))
      delivery.alerts = [...others, ...alerts]
    }
    for (const delivery of plan.create) this.#queue(delivery)
  }

  #queue(delivery: NewDelivery): void {
    const createdAt = this.#time.now()
    this.#deliveries.push({
      ...delivery,
      id: ++this.#lastId,
      messageId: createMessageId(),
      status: 'pending',
      attempts: 0,
      created_at: createdAt,
      nextAttemptAt: createdAt + windowMs,
      isTrying: false,
    })
  }

  /** Keeps these alerts of the deliveries, and the deliveries that still have alerts. */
  #keepAlerts(isKept: (alertId: number, delivery: Delivery) => boolean): void {
    for (const delivery of this.#deliveries) delivery.alerts = delivery.alerts.filter(({ id }) => isKept(id, delivery))
    this.#deliveries = this.#deliveries.filter(({ alerts }) => alerts.length > 0)
  }

  async #try(delivery: Delivery): Promise<void> {
    const { notificationChannels } = this.#subsystems.lists.current
    const channel = notificationChannels.find(({ id }) => id === delivery.notification_channel_id)
    if (channel?.enabled !== true) {
      this.#end(delivery, 'failed', 'The notification channel was removed or is disabled.')
      return
    }
    delivery.attempts += 1
    delivery.isTrying = true
    try {
      await this.#send(delivery, channel)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#end(delivery, 'failed', String(error))
    } finally {
      delivery.isTrying = false
    }
  }

  async #send(delivery: Delivery, sealed: SealedChannel): Promise<void> {
    const { secrets, outbound, publicUrl, alertContext, notificationCounters, log } = this.#subsystems
    const { now, random } = this.#time
    const alerts = delivery.alerts.flatMap(({ id }) => this.#alerts.get(id) ?? [])
    const channel = sealed.open(secrets)
    const message = createMessage({ ...delivery, id: delivery.messageId }, alerts, {
      now: now(),
      without_names: channel.without_names,
      marksOf: (alert) => alertContext.marksOf(alert),
      onUnlisted: logUnlisted(log),
    })
    const result = await sendMessage(channel, message, {
      destinations: outbound.destinations,
      publicUrl,
      signal: this.#stop.signal,
      now,
    })
    const { attempts, created_at: createdAt } = delivery
    const attempt = { attempts, createdAt, now: now(), retryAfterSeconds: result.retryAfterSeconds, random: random() }
    const { status, retryAt } = evaluateTry(result.outcome, attempt)
    delivery.nextAttemptAt = retryAt
    if (status === 'pending') notificationCounters.countRetry()
    else this.#end(delivery, status, result.error)
  }

  #end(delivery: Delivery, status: 'sent' | 'failed' | 'expired', error: string | null): void {
    const { notificationCounters: counters, log } = this.#subsystems
    delivery.status = status
    counters.countEnd(status)
    const fields = { channel: delivery.notification_channel_id, type: delivery.type, status, error }
    if (status === 'sent') log.info(fields, 'a notification about an alert that cannot be stored was sent')
    else log.warn(fields, 'a notification about an alert that cannot be stored was not delivered')
  }
}
