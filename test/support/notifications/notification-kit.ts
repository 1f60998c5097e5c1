/** Runs the queue and the sender of notifications with a clock that tests set, on a real database and real sockets. */

import { NotificationQueue } from '../../../src/alerts/notification-queue.ts'
import { NotificationSender } from '../../../src/alerts/notification-sender.ts'
import { OpenAlerts } from '../../../src/alerts/open-alerts.ts'
import type { AlertMessage } from '../../../src/contract/messages.ts'
import type { AlertCause } from '../../../src/domain/alerts/alert.ts'
import { noData, toAlertMessage } from '../../../src/domain/alerts/alert.ts'
import { defaultRule, type NotificationRule } from '../../../src/domain/notifications/rule.ts'
import { createCounters, createNotificationCounters } from '../../../src/platform/counters.ts'
import type { LeaseManager } from '../../../src/sources/lease-manager.ts'
import { listDeliveries } from '../../../src/storage/notification-deliveries.ts'
import { insertNotificationChannel, listSealedChannels } from '../../../src/storage/notifications.ts'
import { openSecrets } from '../../../src/storage/secrets.ts'
import { createDestinations } from '../../../src/upstream/destinations.ts'
import { onTestEnd } from '../cleanup.ts'
import type { Engine } from '../store/databases.ts'
import { openStore } from '../store/helpers.ts'

const signingSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Holds every lease. */
const leaseManager: Pick<LeaseManager, 'runWhileHeld'> = {
  runWhileHeld: (_, signal, work) =>
    work({ signal, guard: async () => {}, idleMs: null, isExcess: () => false, release: () => {} }),
}

/** Starts a sender with a webhook for each URL, and one rule that sends all alerts to all of them. */
export async function startNotifications(urls: readonly string[], engine: Engine = 'sqlite') {
  const db = await openStore(engine)
  const secrets = await openSecrets('', 'ab'.repeat(32))
  const clock = { now: 1_800_000_000_000 }
  const now = () => clock.now
  for (const [index, url] of urls.entries()) {
    const signing = { secret: signingSecret, previous: null, previous_until: null }
    const channel = {
      name: `Webhook ${index + 1}`,
      type: 'webhook',
      enabled: true,
      config: { url },
      secrets: {},
      signing,
    } as const
    await db.transaction((tx) => insertNotificationChannel(tx, secrets, channel))
  }
  let channels = await listSealedChannels(db.read)
  const ids = channels.map(({ id }) => id)
  const rules: NotificationRule[] = [{ ...defaultRule, id: 1, name: 'All', notification_channel_ids: ids }]
  const published: AlertMessage[] = []
  const log: { readonly fields: object; readonly message: string }[] = []
  const write = (fields: object, message: string) => void log.push({ fields, message })
  const createQueue = (onPlanned: (nextAt: number | null) => void) =>
    new NotificationQueue({
      db,
      rules: () => rules,
      notificationChannels: () => channels,
      surroundingsOf: () => ({ isSilenced: false, isInhibited: false, groupIds: [], showStartedAt: null }),
      onPlanned,
      now,
    })
  const queue = createQueue((nextAt) => sender.planned(nextAt))
  const counters = createCounters()
  const createSender = () =>
    new NotificationSender({
      db,
      secrets,
      leaseManager,
      queue,
      counters: createNotificationCounters(createCounters()),
      kit: { destinations: createDestinations(), publicUrl: null },
      log: { debug: write, info: write, warn: write, error: write },
      notificationChannels: () => channels,
      isSilenced: () => false,
      async reload() {
        channels = await listSealedChannels(db.read)
      },
      now,
      random: () => 0.5,
    })
  let sender = createSender()
  let stop = new AbortController()
  let running = sender.run(stop.signal)
  const stopSender = () => {
    stop.abort()
    return running
  }
  onTestEnd(stopSender)
  const openAlerts = async (notificationQueue: NotificationQueue) => {
    const opened = new OpenAlerts({
      db,
      now,
      keepDays: () => 400,
      isSilenced: () => false,
      queueNotifications: (tx, changed) => notificationQueue.queue(tx, changed),
      onLoaded: () => sender.planSoon(),
    })
    opened.changed.subscribe(({ alert, hasOnlyOtherValues }) => {
      if (!hasOnlyOtherValues) published.push(toAlertMessage(alert))
    })
    await opened.open()
    return opened
  }
  const alerts = await openAlerts(queue)
  const list = () => listDeliveries(db.read, {}, { limit: 1000, offset: 0 })
  return {
    db,
    secrets,
    clock,
    rules,
    alerts,
    /** Opens the alerts of another process, which does not send. */
    openElsewhere: () => openAlerts(createQueue(() => {})),
    log,
    /** The messages about alerts. */
    published,
    counters,
    /** Raises an alert about each of these subjects. */
    raise: (...subjects: string[]) => raiseAlerts(alerts, ...subjects),
    advance(ms: number) {
      clock.now += ms
      sender.wake()
    },
    queueDue: () => queue.queueDue(async () => {}),
    /** Returns the deliveries, newest first. */
    list,
    isEnabled: (id: number) => channels.some((channel) => channel.id === id && channel.enabled),
    /** Ends the sender like a process that ends, and starts another one. */
    async restart() {
      await stopSender()
      stop = new AbortController()
      sender = createSender()
      running = sender.run(stop.signal)
    },
    get problem() {
      return sender.problem
    },
  }
}

/** Raises an alert about each of these subjects. */
export function raiseAlerts(alerts: OpenAlerts, ...subjects: string[]) {
  return alerts.write(subjects.map((subject) => ({ type: 'raise', cause: causeOf(subject) })))
}

function causeOf(subject: string): AlertCause {
  return {
    subject,
    kind: 'battery_low',
    severity: 'warning',
    message: `Battery low: ${subject}`,
    manufacturer: 'shure',
    receiver_id: 1,
    channel_id: 1,
    data: { ...noData, name: subject, slot: 1, battery: 18 },
  }
}
