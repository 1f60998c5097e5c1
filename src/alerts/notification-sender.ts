/**
 * Sends queued messages, in the process that holds the lease. Each notification channel has a few tries at a time, so a
 * service that does not respond delays only its own messages.
 */

import type { Alert } from '../domain/alerts/alert.ts'
import type { NotificationChannel } from '../domain/notifications/channel.ts'
import { createMessage, type NotificationMessage, selectAlerts } from '../domain/notifications/message.ts'
import { evaluateTry, expiryMs, isExpired } from '../domain/notifications/retry.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import type { NotificationCounters } from '../platform/counters.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import { pause } from '../platform/wait.ts'
import type { LeaseHandle, LeaseManager } from '../sources/lease-manager.ts'
import { listAlertsById } from '../storage/alerts.ts'
import type { Database } from '../storage/database.ts'
import {
  beginAttempt,
  countDeliveryChange,
  type DeliveryFields,
  expireDeliveries,
  findOldestPending,
  finishDelivery,
  hasClearedAlert,
  listPendingDeliveries,
  listSeverities,
  pruneDeliveries,
  saveRetry,
} from '../storage/notification-deliveries.ts'
import { findNotificationChannel } from '../storage/notifications.ts'
import type { Secrets } from '../storage/secrets.ts'
import { createAcknowledgeUrl } from './acknowledge-links.ts'
import type { AlertContext } from './alert-context.ts'
import { disableGone } from './gone-channel.ts'
import type { NotificationQueue } from './notification-queue.ts'
import { sendMessage } from './services/send-message.ts'
import type { SendResult } from './services/service.ts'

/** The subsystems of `Service` that send messages. */
export interface SendSubsystems {
  readonly secrets: Secrets
  readonly outbound: Outbound
  /** `server.public_url`. */
  readonly publicUrl: string | null
  readonly lists: StoredLists
  readonly alertContext: AlertContext
  readonly notificationCounters: NotificationCounters
  readonly log: Log
}

interface Subsystems extends SendSubsystems {
  readonly db: Database
  readonly leaseManager: LeaseManager
  readonly notificationQueue: NotificationQueue
}

export interface RetryTime {
  /** Epoch milliseconds. */
  now(): number
  /** From 0 to 1; spreads retries. */
  random(): number
}

export const retryTime: RetryTime = { now, random: Math.random }

const leaseName = 'notifications'
/** Deliveries that other processes queue are found this often. */
const checkEveryMs = 500
const maxTries = 64
const maxTriesOfChannel = 8
/** Changes are collected for this long before the rules are applied to all alerts. */
const debounceMs = 250
const pruneEveryMs = 10_000
const retrySaveMs = 1_000
const maxHoldMs = 3_600_000

export function logUnlisted(log: Log) {
  return ({ id }: Alert, error: unknown) => log.warn({ alert: id, error: String(error) }, 'an alert cannot be listed')
}

interface Attempt {
  readonly delivery: DeliveryFields
  readonly channel: NotificationChannel
  readonly message: NotificationMessage
}

export class NotificationSender {
  /** A notification channel was disabled, because its address no longer exists. */
  readonly channelDisabled = new Topic()
  readonly #subsystems: Subsystems
  readonly #time: RetryTime
  readonly #tries = new Map<number, number>()
  readonly #responding = new Set<number>()
  readonly #failing = new Set<number>()
  /** When the pauses that services asked for end (epoch ms), by notification channel. */
  readonly #holds = new Map<number, number>()
  /** The next time (epoch ms) at which the rules are applied to all alerts. */
  #planAt = Number.POSITIVE_INFINITY
  #pruneAt = 0
  #wake = new AbortController()
  #hasFailed = false

  constructor(subsystems: Subsystems, time = retryTime) {
    this.#subsystems = subsystems
    this.#time = time
    subsystems.notificationQueue.planned.subscribe((nextAt) => this.#planned(nextAt))
  }

  /** The notification channels whose last message failed; null if there are none. */
  get problem(): string | null {
    const { notificationChannels } = this.#subsystems.lists.current
    const names = notificationChannels.flatMap(({ id, name }) => (this.#failing.has(id) ? name : []))
    return names.length === 0 ? null : `Notifications could not be delivered to: ${names.join(', ')}.`
  }

  wake(): void {
    // Another call would create another error with a stack trace.
    if (!this.#wake.signal.aborted) this.#wake.abort()
  }

  /** Applies the rules to all alerts soon. */
  planSoon(): void {
    this.#planAt = Math.min(this.#planAt, this.#time.now() + debounceMs)
    this.wake()
  }

  tested(channelId: number, isSent: boolean): void {
    if (!isSent) return
    this.#failing.delete(channelId)
    this.#holds.delete(channelId)
    this.wake()
  }

  /** Sends while this process holds the lease, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#subsystems.leaseManager.runWhileHeld(leaseName, signal, async (lease) => {
      const tries = new Set<Promise<void>>()
      this.#planAt = this.#time.now()
      lease.signal.addEventListener('abort', () => this.wake(), { once: true })
      while (!lease.signal.aborted) {
        this.#wake = new AbortController()
        await pause(await this.#check(lease, tries), this.#wake.signal)
      }
      await Promise.all(tries)
      this.#failing.clear()
      this.#responding.clear()
    })
  }

  #planned(nextAt: number | null): void {
    this.#planAt = Math.min(this.#planAt, nextAt ?? Number.POSITIVE_INFINITY)
    this.wake()
  }

  /** Returns how long to wait for the next check. */
  async #check(lease: LeaseHandle, tries: Set<Promise<void>>): Promise<number> {
    const { lists, log } = this.#subsystems
    if (lists.current.notificationChannels.length === 0) return checkEveryMs
    try {
      await this.#planWhenDue(lease)
      await this.#endOld(lease)
      const waitMs = await this.#beginDue(lease, tries)
      this.#hasFailed = false
      return Math.max(1, Math.min(checkEveryMs, waitMs, this.#planAt - this.#time.now()))
    } catch (error) {
      if (!this.#hasFailed && !lease.signal.aborted) {
        log.warn({ error: String(error) }, 'notifications could not be read')
      }
      this.#hasFailed = true
      this.#planAt = Math.min(this.#planAt, this.#time.now())
      return retrySaveMs
    }
  }

  async #planWhenDue({ guard }: LeaseHandle): Promise<void> {
    const { notificationQueue: queue } = this.#subsystems
    if (this.#time.now() < this.#planAt) return
    this.#planAt = Number.POSITIVE_INFINITY
    if (!queue.hasRules) return
    const nextAt = await queue.queueDue(guard)
    this.#planAt = Math.min(this.#planAt, nextAt ?? Number.POSITIVE_INFINITY)
  }

  async #endOld({ guard }: LeaseHandle): Promise<void> {
    const { db, notificationCounters: counters } = this.#subsystems
    const { now } = this.#time
    if (performance.now() >= this.#pruneAt) {
      await db.transaction((tx) => pruneDeliveries(tx, now()))
      this.#pruneAt = performance.now() + pruneEveryMs
    }
    const oldest = await findOldestPending(db.read)
    if (oldest === null || !isExpired(oldest, now())) return
    const expired = await db.transaction(async (tx) => {
      await guard(tx)
      const limits = { before: now() - expiryMs, after: now() + expiryMs }
      const ended = await expireDeliveries(tx, {
        ...limits,
        except: [...this.#tries.keys()],
        responding: [...this.#responding],
      })
      if (ended.length > 0) await countDeliveryChange(tx)
      return ended
    })
    for (const { id, notification_channel_id: channel } of expired) {
      counters.countEnd('expired')
      this.#reportFailure(channel, id, 'expired')
    }
  }

  /** In milliseconds. */
  async #beginDue(lease: LeaseHandle, tries: Set<Promise<void>>): Promise<number> {
    const { db } = this.#subsystems
    const { now } = this.#time
    if (this.#tries.size >= maxTries) return checkEveryMs
    const busy = [...new Set(this.#tries.values())].filter((channel) => this.#isBusy(channel))
    const without = [...busy, ...this.#listHeld()]
    const pending = await listPendingDeliveries(db.read, { without, limit: 200 })
    if (lease.signal.aborted) return 0
    for (const { id, notification_channel_id, next_attempt_at } of pending) {
      // A time after the expiry was stored before the clock was set back.
      const waitMs = (next_attempt_at ?? 0) - now()
      if (waitMs > 0 && waitMs <= expiryMs) return waitMs
      if (notification_channel_id === null || this.#tries.has(id) || this.#isBusy(notification_channel_id)) continue
      if (this.#tries.size >= maxTries) break
      this.#tries.set(id, notification_channel_id)
      const trying = this.#try(id, lease).finally(() => {
        this.#tries.delete(id)
        tries.delete(trying)
        this.wake()
      })
      tries.add(trying)
    }
    return checkEveryMs
  }

  #isBusy(channelId: number): boolean {
    return [...this.#tries.values()].filter((id) => id === channelId).length >= maxTriesOfChannel
  }

  #listHeld(): readonly number[] {
    const now = this.#time.now()
    // The clock was set back if a pause is longer than allowed.
    for (const [id, until] of this.#holds) if (until <= now || until > now + maxHoldMs) this.#holds.delete(id)
    return [...this.#holds.keys()]
  }

  /** Stores the result, however long that takes, because the message must not be sent again. */
  async #try(id: number, lease: LeaseHandle): Promise<void> {
    const { outbound, publicUrl, log } = this.#subsystems
    try {
      const attempt = await this.#begin(id, lease)
      if (attempt === null) return
      const { delivery, channel, message } = attempt
      const result = await sendMessage(channel, message, {
        destinations: outbound.destinations,
        publicUrl,
        signal: lease.signal,
        now: this.#time.now,
      })
      await this.#saveUntilStored(lease.signal, () => this.#save(delivery, channel, result))
    } catch (error) {
      // The next check or another process tries it again.
      if (lease.signal.aborted) return
      log.warn({ delivery: id, error: String(error) }, 'a notification could not be sent')
      await pause(retrySaveMs, lease.signal)
    }
  }

  /** Counts the try. Returns null if there is nothing to send. */
  async #begin(id: number, { guard }: LeaseHandle): Promise<Attempt | null> {
    const { db, secrets, publicUrl, alertContext, log } = this.#subsystems
    const { now } = this.#time
    return db.transaction(async (tx) => {
      await guard(tx)
      const delivery = await beginAttempt(tx, id, now())
      if (delivery === undefined) return null
      const channel = await findNotificationChannel(tx.query, secrets, delivery.notification_channel_id ?? 0)
      if (channel?.enabled !== true) {
        const error = `The notification channel ${channel === undefined ? 'was removed' : 'is disabled'}.`
        await finishDelivery(tx, id, { status: 'failed', error })
        await countDeliveryChange(tx)
        return null
      }
      const all = await listSeverities(tx.query, id)
      const alerts = await listAlertsById(
        tx.query,
        selectAlerts(all).map((alert) => alert.id),
      )
      await countDeliveryChange(tx)
      const marksOf = (alert: Alert) => alertContext.marksOf(alert)
      const { without_names } = channel
      const link = { channel, publicUrl, sentAt: delivery.created_at }
      const acknowledgeUrlOf = (alert: Alert) => createAcknowledgeUrl(link, alert)
      const shown = { without_names, marksOf, acknowledgeUrlOf }
      const context = { now: now(), total: all.length, ...shown, onUnlisted: logUnlisted(log) }
      const message = createMessage({ ...delivery, id: delivery.message_id }, alerts, context)
      return { delivery, channel, message }
    })
  }

  async #saveUntilStored(signal: AbortSignal, save: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await save()
      } catch (error) {
        this.#subsystems.log.warn({ error: String(error) }, 'the result of a notification could not be stored')
        if (!(await pause(retrySaveMs, signal))) return
      }
    }
  }

  async #save(delivery: DeliveryFields, channel: NotificationChannel, result: SendResult): Promise<void> {
    const { db, notificationQueue, notificationCounters: counters, log } = this.#subsystems
    const { now, random } = this.#time
    const { id, attempts, created_at: createdAt } = delivery
    const { outcome, error, retryAfterSeconds } = result
    if (retryAfterSeconds !== null) {
      this.#holds.set(channel.id, now() + Math.min(retryAfterSeconds * 1000, maxHoldMs))
    }
    if (outcome === 'retry') this.#responding.delete(channel.id)
    else this.#responding.add(channel.id)
    const attempt = { attempts, createdAt, now: now(), retryAfterSeconds, random: random() }
    const { status, retryAt } = evaluateTry(outcome, attempt)
    const isClearedSent = await db.transaction(async (tx) => {
      if (result.isGone) await disableGone(tx, channel, log)
      if (status === 'pending') {
        await saveRetry(tx, id, { error: error ?? '', next_attempt_at: retryAt })
      } else {
        await finishDelivery(tx, id, { status, error, ...(status === 'sent' && { sent_at: now() }) })
      }
      await countDeliveryChange(tx)
      return status === 'sent' && notificationQueue.sendsCleared && hasClearedAlert(tx.query, id)
    })
    if (isClearedSent) this.planSoon()
    if (status === 'pending') {
      counters.countRetry()
      return
    }
    counters.countEnd(status)
    if (status === 'sent') this.#reportSuccess(channel.id, now() - createdAt)
    else this.#reportFailure(channel.id, id, status)
    if (result.isGone) this.channelDisabled.publish()
  }

  #reportSuccess(channelId: number, latencyMs: number): void {
    const { notificationCounters: counters, log } = this.#subsystems
    counters.observeLatency(latencyMs / 1000)
    if (this.#failing.delete(channelId)) log.info({ channel: channelId }, 'notifications are delivered again')
  }

  #reportFailure(channelId: number | null, delivery: number, status: 'failed' | 'expired'): void {
    if (channelId === null) return
    if (!this.#failing.has(channelId)) {
      this.#subsystems.log.warn({ channel: channelId, delivery, status }, 'a notification could not be delivered')
    }
    this.#failing.add(channelId)
  }
}
