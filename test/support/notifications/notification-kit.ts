/** Runs the queue and the sender of notifications with a clock that tests set, on a real database and real sockets. */

import { NotificationQueue } from '../../../src/alerts/notification-queue.ts'
import { NotificationSender } from '../../../src/alerts/notification-sender.ts'
import { OpenAlerts } from '../../../src/alerts/open-alerts.ts'
import type { AlertMessage } from '../../../src/contract/messages.ts'
import type { AlertCause } from '../../../src/domain/alerts/alert.ts'
import { noData, toAlertMessage } from '../../../src/domain/alerts/alert.ts'
import { defaultRule, type NotificationRule } from '../../../src/domain/notifications/rule.ts'
import { createCounters, createNotificationCounters } from '../../../src/platform/counters.ts'
import type { SharedLease } from '../../../src/sources/lease-manager.ts'
import { listDeliveries } from '../../../src/storage/notification-deliveries.ts'
import { insertNotificationChannel, listSealedChannels } from '../../../src/storage/notifications.ts'
import { openSecrets } from '../../../src/storage/secrets.ts'
import { createDestinations } from '../../../src/upstream/destinations.ts'
import { onTestEnd } from '../cleanup.ts'
import type { Engine } from '../store/databases.ts'
import { openStore } from '../store/helpers.ts'

const signingSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Holds every lease. */
const leaseManager = {
  runWhileHeld: (_: string, signal: AbortSignal, work: (lease: SharedLease) => Promise<void>) =>
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
      without_names: false,
      acknowledge_key: null,
      config: { url },
      secrets: {},
      signing,
    } as const
    await db.transaction((tx) => insertNotificationChannel(tx, secrets, channel))
  }
  let channels = await listSealedChannels(db.read)
  const ids = channels.map(({ id }) => id)
  const reload = async () => {
    channels = await listSealedChannels(db.read)
  }
  const rules: NotificationRule[] = [{ ...defaultRule, id: 1, name: 'All', notification_channel_ids: ids, version: 1 }]
  const published: AlertMessage[] = []
  const log: { readonly fields: object; readonly message: string }[] = []
  const write = (fields: object, message: string) => void log.push({ fields, message })
  const lists = {
    current: {
      notificationRules: rules,
      get notificationChannels() {
        return channels
      },
    },
  } as never
  const alertContext = {
    surroundingsOf: () => ({ isSilenced: false, isInhibited: false, groupIds: [], showStartedAt: null }),
    marksOf: () => ({ isSilenced: false }),
  } as never
  const createQueue = () => new NotificationQueue(db, lists, alertContext, now)
  const notificationQueue = createQueue()
  const counters = createCounters()
  const createSender = () => {
    const subsystems = {
      db,
      secrets,
      leaseManager,
      notificationQueue,
      notificationCounters: createNotificationCounters(createCounters()),
      outbound: { destinations: createDestinations() },
      publicUrl: null,
      log: { debug: write, info: write, warn: write, error: write },
      lists,
      alertContext,
    }
    const created = new NotificationSender(subsystems as never, { now, random: () => 0.5 })
    created.channelDisabled.subscribe(() => void reload())
    return created
  }
  let sender = createSender()
  let stop = new AbortController()
  let running = sender.run(stop.signal)
  const stopSender = () => {
    stop.abort()
    return running
  }
  onTestEnd(stopSender)
  const openAlerts = async (queue: NotificationQueue) => {
    const settings = { get: () => ({ HISTORY_MINUTES_DAYS: 400 }) } as never
    const opened = new OpenAlerts(db, queue, alertContext, settings, now)
    opened.loaded.subscribe(() => sender.planSoon())
    opened.changed.subscribe(({ alert, hasOnlyOtherValues }) => {
      if (!hasOnlyOtherValues) published.push(toAlertMessage(alert))
    })
    await opened.open()
    return opened
  }
  const alerts = await openAlerts(notificationQueue)
  const list = () => listDeliveries(db.read, {}, { limit: 1000, offset: 0 })
  return {
    db,
    secrets,
    clock,
    rules,
    alerts,
    /** Opens the alerts of another process, which does not send. */
    openElsewhere: () => openAlerts(createQueue()),
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
    queueDue: () => notificationQueue.queueDue(async () => {}),
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
