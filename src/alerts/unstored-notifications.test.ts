/** Messages about alerts that cannot be stored, without a database, to real endpoints. */

import { describe, expect, it } from 'vitest'
import { until } from '../../test/support/app.ts'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { type ReceivedWebhook, startWebhookReceiver } from '../../test/support/notifications/webhook-receiver.ts'
import { type Alert, noResponse } from '../domain/alerts/alert.ts'
import { toAlertCause } from '../domain/alerts/compare-causes.ts'
import { toFaultCause } from '../domain/alerts/service-faults.ts'
import { defaultRule, type NotificationRule } from '../domain/notifications/rule.ts'
import { createCounters, createNotificationCounters } from '../platform/counters.ts'
import { Topic } from '../platform/topic.ts'
import type { SealedChannel } from '../storage/notifications.ts'
import { openSecrets } from '../storage/secrets.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { UnstoredNotifications } from './unstored-notifications.ts'

type Webhook = Awaited<ReturnType<typeof startWebhookReceiver>>

const startedAt = 1_800_000_000_000

/** Starts with a webhook for each URL and one rule, which sends to the first of them. */
async function start(urls: readonly string[], fields: Partial<NotificationRule> = {}) {
  const clock = { now: startedAt }
  const notificationChannels = urls.map((url, index): SealedChannel => {
    const channel = { id: index + 1, name: url, type: 'webhook', enabled: true } as const
    return {
      ...channel,
      open: () => ({
        ...channel,
        without_names: false,
        acknowledge_key: null,
        config: { url },
        secrets: {},
        signing: null,
        version: 1,
      }),
    }
  })
  const silenced = new Set<number>()
  const write = () => {}
  const alerts = { changed: new Topic<{ alert: Alert; isStored: boolean }>(), hasStored: () => false }
  const notificationRules = [{ ...defaultRule, id: 1, name: 'All', notification_channel_ids: [1], ...fields }]
  const subsystems = {
    secrets: await openSecrets('', 'ab'.repeat(32)),
    notificationCounters: createNotificationCounters(createCounters()),
    outbound: { destinations: createDestinations() },
    publicUrl: null,
    lists: { current: { notificationRules, notificationChannels } },
    alertContext: {
      surroundingsOf({ id }: Alert) {
        return { isSilenced: silenced.has(id), isInhibited: false, groupIds: [], showStartedAt: null }
      },
      marksOf: ({ id }: Alert) => ({ isSilenced: silenced.has(id) }),
    },
    log: { debug: write, info: write, warn: write, error: write },
  }
  const time = { now: () => clock.now, random: () => 0.5 }
  const notifications = new UnstoredNotifications(alerts as never, subsystems as never, time)
  const change = (alert: Alert) => alerts.changed.publish({ alert, isStored: false })
  onTestEnd(() => notifications.close())
  const raise = (id: number): Alert => {
    const cause = toAlertCause(toFaultCause('recording_stopped', 'The disk is full.'), null)
    const alert: Alert = {
      ...cause,
      ...noResponse,
      id,
      state: 'raised',
      raised_at: clock.now,
      cleared_at: null,
      first: { ...cause, at: clock.now },
      acknowledgements: [],
      site: null,
    }
    change(alert)
    return alert
  }
  /** Lets the clock run until this many messages were received. */
  const waitFor = async ({ received }: Webhook, count: number) => {
    await until(`${count} messages were received`, () => {
      clock.now += 500
      return received.length >= count
    })
    return received
  }
  return { change, clock, silenced, raise, waitFor }
}

function summarize(received: readonly ReceivedWebhook[]): readonly string[] {
  return received.map(({ body }) => `${body.type} ${body.data.alerts.map(({ id }: { id: number }) => id).join('+')}`)
}

// Conformance: C-14.19.
describe.concurrent('an alert that cannot be stored', () => {
  it('is sent once after 2 s, escalated, and no more once it is acknowledged', async () => {
    const [crew, head] = [await startWebhookReceiver(), await startWebhookReceiver()]
    const escalate = { after_seconds: 60, notification_channel_ids: [2] }
    const { change, clock, raise, waitFor } = await start([crew.url, head.url], { escalate, repeat_minutes: 60 })
    const alert = raise(-1)
    await waitFor(crew, 1)
    change(alert)
    clock.now += 60_000
    expect(summarize(await waitFor(head, 1))).toEqual(['alert.escalated -1'])
    change({ ...alert, state: 'acknowledged', acknowledged_at: clock.now })
    clock.now += 2 * 3_600_000
    raise(0)
    expect(summarize(await waitFor(crew, 2))).toEqual(['alert.raised -1', 'alert.raised 0'])
    expect(crew.received[0]?.body.data.alerts[0].data.error).toBe('The disk is full.')
  })

  it('is repeated, its end is sent, and it is sent again when it is raised again', async () => {
    const crew = await startWebhookReceiver()
    const { change, clock, raise, waitFor } = await start([crew.url], { repeat_minutes: 60, send_cleared: true })
    const alert = raise(0)
    await waitFor(crew, 1)
    clock.now += 3_600_000
    await waitFor(crew, 2)
    change({ ...alert, state: 'cleared', cleared_at: clock.now })
    await waitFor(crew, 3)
    raise(0)
    await waitFor(crew, 4)
    expect(summarize(crew.received)).toEqual([
      'alert.raised 0',
      'alert.repeated 0',
      'alert.cleared 0',
      'alert.raised 0',
    ])
    expect(new Set(crew.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4)
  })

  it('is sent together with another one, without the one that is silenced meanwhile', async () => {
    const crew = await startWebhookReceiver()
    const { silenced, raise, waitFor } = await start([crew.url])
    raise(0)
    raise(-1)
    silenced.add(-1)
    raise(-2)
    expect(summarize(await waitFor(crew, 1))).toEqual(['alert.raised 0+-2'])
  })

  it('is tried again with the same id while the service responds with 503', async () => {
    const crew = await startWebhookReceiver([503, 503])
    const { raise, waitFor } = await start([crew.url])
    raise(0)
    await waitFor(crew, 3)
    expect(new Set(crew.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })
})
