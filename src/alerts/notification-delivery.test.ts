/** The queue and the sender of notifications: order, retries, expiry and restarts, on simulated time. */

import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { until } from '../../test/support/app.ts'
import { eventually } from '../../test/support/eventually.ts'
import { raiseAlerts, startNotifications } from '../../test/support/notifications/notification-kit.ts'
import { startWebhookReceiver } from '../../test/support/notifications/webhook-receiver.ts'
import { engines } from '../../test/support/store/databases.ts'
import { defaultRule } from '../domain/notifications/rule.ts'
import { acknowledgeAlert } from '../storage/alerts.ts'
import { pruneDeliveries } from '../storage/notification-deliveries.ts'

type Kit = Awaited<ReturnType<typeof startNotifications>>

/** Waits until the newest delivery was tried this often and the result is stored. */
function waitForTries(kit: Kit, attempts: number, status = 'pending') {
  return until(`${attempts} tries are stored`, async () => {
    const [delivery] = await kit.list()
    const isStored = delivery?.last_error !== null || delivery.status === 'sent'
    const isAhead = delivery?.next_attempt_at === null || (delivery?.next_attempt_at ?? 0) > kit.clock.now
    return delivery?.attempts === attempts && delivery.status === status && isStored && isAhead && delivery
  })
}

describe.concurrent.each(engines)('on %s', (engine) => {
  // Conformance: C-14.3, C-14.4.
  it('tries six times with growing pauses and the same webhook-id, and expires after 120 seconds', async () => {
    const receiver = await startWebhookReceiver([], 503)
    const kit = await startNotifications([receiver.url], engine)
    const start = kit.clock.now
    await kit.raise('a')
    kit.advance(1_000)
    await kit.raise('b')
    expect((await kit.list()).map(({ alert_ids, status }) => [alert_ids.length, status])).toEqual([[2, 'pending']])
    kit.advance(1_000)
    for (const [index, pauseMs] of [1_000, 5_000, 15_000, 30_000, 60_000].entries()) {
      const { next_attempt_at } = await waitForTries(kit, index + 1)
      expect(next_attempt_at).toBe(kit.clock.now + pauseMs)
      kit.advance(pauseMs)
    }
    expect(await waitForTries(kit, 6)).toMatchObject({ next_attempt_at: null, sent_at: null })
    kit.advance(start + 119_999 - kit.clock.now)
    expect(await waitForTries(kit, 6)).toBeDefined()
    kit.advance(1)
    const { last_error } = await waitForTries(kit, 6, 'expired')
    expect(last_error).toMatch(/503/)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1)
    expect(receiver.received).toHaveLength(6)
    const problem = await until('the failure is reported', () => kit.problem)
    expect(problem).toBe('Notifications could not be delivered to: Webhook 1.')
  })

  // Conformance: C-14.6.
  it('sends what an ended process did not finish again, with the same webhook-id', async () => {
    const receiver = await startWebhookReceiver(['hang'])
    const kit = await startNotifications([receiver.url], engine)
    await kit.raise('a')
    kit.advance(2_000)
    await receiver.waitFor(1)
    await kit.restart()
    const [first, second] = await receiver.waitFor(2)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.text).toBe(first?.text)
    expect(await waitForTries(kit, 2, 'sent')).toMatchObject({ last_error: null })
  })

  it('stores neither the alert nor its deliveries if one of them cannot be stored', async () => {
    const kit = await startNotifications(['http://127.0.0.1:9/'], engine)
    await kit.db.transaction((tx) => tx.query.schema.dropTable('notification_delivery_alerts').execute())
    await expect(kit.raise('a')).rejects.toThrow()
    expect([await kit.list(), kit.alerts.list()]).toEqual([[], []])
    const stored = await kit.db.read.selectFrom('alerts').select('id').execute()
    expect(stored).toEqual([])
  })
})

describe.concurrent('the sender', () => {
  it('sends the other alerts of a message if one cannot be listed', async () => {
    const receiver = await startWebhookReceiver()
    const kit = await startNotifications([receiver.url])
    const [broken] = await kit.raise('a', 'b')
    const first = JSON.stringify({ ...broken?.first, at: 'never' })
    await kit.db.transaction((tx) =>
      tx.query
        .updateTable('alerts')
        .set({ first })
        .where('id', '=', broken?.id ?? 0)
        .execute(),
    )
    kit.advance(2_000)
    const [request] = await receiver.waitFor(1)
    expect(JSON.parse(request?.text ?? '').data).toMatchObject({
      alerts: [{ message: expect.stringContaining('b') }],
      more: 1,
    })
    expect(kit.log).toMatchObject([{ fields: { alert: broken?.id }, message: 'an alert cannot be listed' }])
  })

  // Conformance: C-14.7.
  it('delivers to other channels while one hangs and another refuses connections', async () => {
    const [hanging, working] = [await startWebhookReceiver([], 'hang'), await startWebhookReceiver()]
    const kit = await startNotifications([hanging.url, 'http://127.0.0.1:9/', working.url])
    for (const count of [1, 2, 3]) {
      await kit.raise(`alert ${count}`)
      kit.advance(2_000)
      await working.waitFor(count)
    }
    // Its messages do not wait for each other.
    await eventually(() => hanging.received).toHaveLength(3)
    await until('the refused connection is reported', async () =>
      (await kit.list()).some(({ last_error }) => last_error?.includes('refused')),
    )
  })

  // Conformance: C-14.91.
  it('makes a few tries at once, and lets nothing expire untried while the service responds', async () => {
    const release = new AbortController()
    const slow = once(release.signal, 'abort').then(() => 204)
    const receiver = await startWebhookReceiver([204, ...Array.from({ length: 23 }, () => slow)])
    const kit = await startNotifications([receiver.url, 'http://127.0.0.1:9/'])
    const ofService = async () => (await kit.list()).filter(({ notification_channel_id: id }) => id === 1)
    for (let id = 2; id <= 24; id += 1)
      kit.rules.push({ ...defaultRule, id, name: `Rule ${id}`, notification_channel_ids: [1], version: 1 })
    await kit.raise('a')
    kit.advance(2_000)
    await receiver.waitFor(9)
    await until('the first message is sent', async () => (await ofService()).some(({ status }) => status === 'sent'))
    expect(receiver.received).toHaveLength(9)
    kit.advance(130_000)
    await until('the message to the other service expires', async () =>
      (await kit.list()).some(({ status }) => status === 'expired'),
    )
    release.abort()
    await receiver.waitFor(24)
    await until('all are sent', async () => (await ofService()).every(({ status }) => status === 'sent'))
  })

  // Conformance: C-14.5.
  it('waits as long as Retry-After asks, and gives up if that is too long', async () => {
    const retryAfter = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } })
    const receiver = await startWebhookReceiver([retryAfter(20), retryAfter(99)])
    const kit = await startNotifications([receiver.url])
    await kit.raise('a')
    kit.advance(2_000)
    expect(await waitForTries(kit, 1)).toMatchObject({ next_attempt_at: kit.clock.now + 20_000 })
    kit.advance(20_000)
    await waitForTries(kit, 2, 'expired')
  })

  // Conformance: C-14.5.
  it('sends no other message to a channel either while its Retry-After lasts, but to other channels', async () => {
    const held = await startWebhookReceiver([{ status: 429, headers: { 'retry-after': '30' } }])
    const other = await startWebhookReceiver()
    const kit = await startNotifications([held.url, other.url])
    await kit.raise('a')
    kit.advance(2_000)
    await until('the pause is stored', async () => (await kit.list()).some(({ last_error }) => last_error !== null))
    kit.advance(3_000)
    await kit.raise('b')
    kit.advance(2_000)
    await other.waitFor(2)
    kit.advance(24_999)
    await kit.raise('c')
    kit.advance(0)
    await until('a later message is queued', async () => (await kit.list()).length === 6)
    expect(held.received).toHaveLength(1)
    kit.advance(1)
    await held.waitFor(3)
  })

  // Conformance: C-14.8.
  it.each([400, 401, 302])('fails at once if a webhook responds with %i', async (status) => {
    const receiver = await startWebhookReceiver([{ status, headers: { location: 'http://127.0.0.1:9/' } }])
    const kit = await startNotifications([receiver.url])
    await kit.raise('a')
    kit.advance(2_000)
    const { last_error } = await waitForTries(kit, 1, 'failed')
    expect(last_error).toContain(String(status))
  })

  // Conformance: C-14.8.
  it('disables a webhook that responds with 410, with an audit entry and a log line', async () => {
    const receiver = await startWebhookReceiver([410])
    const kit = await startNotifications([receiver.url])
    await kit.raise('a')
    kit.advance(2_000)
    await waitForTries(kit, 1, 'failed')
    const audit = await kit.db.read.selectFrom('audit').select(['action', 'target', 'actor_name']).execute()
    expect(audit).toEqual([
      { action: 'notification_channel.disable', target: 'notification channel 1', actor_name: 'micwatch' },
    ])
    const message = 'notification channel disabled, because of status 410'
    await until('it is logged', () => kit.log.some((line) => line.message === message))
    await until('the sender knows', () => !kit.isEnabled(1))
    await kit.raise('b')
    expect(await kit.list()).toHaveLength(1)
  })

  // Conformance: C-14.9.
  it('sends nothing about an alert that is acknowledged before its message was sent', async () => {
    const receiver = await startWebhookReceiver()
    const kit = await startNotifications([receiver.url])
    const [alert] = await kit.raise('a', 'b')
    if (alert === undefined) throw new Error('Nothing was raised.')
    await kit.alerts.edit(async (tx, revision) => {
      const response = { by: 'Ann', at: kit.clock.now, note: null }
      const acknowledged = await acknowledgeAlert(tx, revision, alert, response)
      if (acknowledged === null) throw new Error('It was not acknowledged.')
      return { alert: acknowledged, isChanged: true }
    })
    kit.advance(2_000)
    const [message] = await receiver.waitFor(1)
    expect(message?.body.data.alerts.map(({ data }: { data: { name: string } }) => data.name)).toEqual(['b'])
  })

  // Conformance: C-14.40.
  it('escalates an alert after the delay of the rule although the first message cannot be delivered', async () => {
    const head = await startWebhookReceiver()
    const kit = await startNotifications(['http://127.0.0.1:9/', head.url])
    const escalate = { after_seconds: 30, notification_channel_ids: [2] }
    kit.rules[0] = {
      ...defaultRule,
      id: 1,
      name: 'Crew',
      notification_channel_ids: [1],
      delay_seconds: 10,
      escalate,
      version: 1,
    }
    await kit.raise('a')
    kit.advance(10_000)
    await until('the first message is queued', async () => (await kit.list()).length === 1)
    kit.advance(30_000)
    await until('the escalation is queued', async () => (await kit.list()).length === 2)
    kit.advance(2_000)
    const [message] = await head.waitFor(1)
    expect(message?.body.type).toBe('alert.escalated')
  })

  it('applies the delay of a rule to alerts that another process has raised', async () => {
    const receiver = await startWebhookReceiver()
    const kit = await startNotifications([receiver.url])
    kit.rules[0] = { ...defaultRule, id: 1, name: 'Crew', notification_channel_ids: [1], delay_seconds: 10, version: 1 }
    await raiseAlerts(await kit.openElsewhere(), 'a')
    await kit.alerts.load()
    // The rules are applied once a short pause for further changes is over, and again when the delay is.
    kit.advance(1_000)
    kit.advance(9_000)
    await until('the message is queued', async () => (await kit.list()).length === 1)
    kit.advance(2_000)
    await receiver.waitFor(1)
  })

  // Conformance: C-14.41.
  it('sends the end of an alert that was over before its message was delivered', async () => {
    const receiver = await startWebhookReceiver([503])
    const kit = await startNotifications([receiver.url])
    kit.rules[0] = {
      ...defaultRule,
      id: 1,
      name: 'Crew',
      notification_channel_ids: [1],
      send_cleared: true,
      version: 1,
    }
    const [alert] = await kit.raise('a')
    if (alert === undefined) throw new Error('No alert was raised.')
    kit.advance(2_000)
    await waitForTries(kit, 1)
    await kit.alerts.write([{ type: 'clear', alert, message: '' }])
    kit.advance(1_000)
    await waitForTries(kit, 2, 'sent')
    await until('the end is queued', async () => {
      kit.advance(250)
      return (await kit.list()).length === 2
    })
    kit.advance(2_000)
    const received = await receiver.waitFor(3)
    expect(received.map(({ body }) => body.type)).toEqual(['alert.raised', 'alert.raised', 'alert.cleared'])
  })

  // Conformance: C-14.3.
  it('lists at most 50 alerts in a message, and counts the others', async () => {
    const receiver = await startWebhookReceiver()
    const kit = await startNotifications([receiver.url])
    await kit.raise(...Array.from({ length: 120 }, (_, index) => `alert ${index}`))
    kit.advance(2_000)
    const [message] = await receiver.waitFor(1)
    expect([message?.body.data.alerts.length, message?.body.data.more]).toEqual([50, 70])
  })

  it('sends messages that were queued before the clock was set back', async () => {
    const receiver = await startWebhookReceiver()
    const kit = await startNotifications([receiver.url])
    await kit.raise('a')
    kit.advance(-100_000)
    kit.advance(0)
    await kit.raise('b')
    kit.advance(2_000)
    await receiver.waitFor(1)
    kit.advance(-3_600_000)
    await waitForTries(kit, 1, 'sent')
  })

  // Conformance: C-14.10.
  it('keeps deliveries for 30 days, at most as many as allowed, and those of open alerts', async () => {
    const receiver = await startWebhookReceiver()
    const kit = await startNotifications([receiver.url])
    const prune = (limits?: { ageMs: number; rows: number }) =>
      kit.db.transaction((tx) => pruneDeliveries(tx, kit.clock.now, limits))
    for (const subject of ['a', 'b', 'c', 'd']) {
      await kit.raise(subject)
      kit.clock.now += 11 * 24 * 3_600_000
    }
    const listAlertIds = async () => (await kit.list()).map(({ alert_ids }) => alert_ids[0])
    await prune()
    expect(await listAlertIds()).toEqual([4, 3, 2, 1])
    const [first, ...others] = kit.alerts.list()
    const clear = (alert: typeof first) => alert && kit.alerts.write([{ type: 'clear', alert, message: '' }])
    await clear(first)
    await prune()
    expect(await listAlertIds()).toEqual([4, 3, 2])
    for (const alert of others) await clear(alert)
    await prune({ ageMs: Number.MAX_SAFE_INTEGER, rows: 2 })
    expect(await listAlertIds()).toEqual([4, 3])
  })

  it('reads and writes nothing for an alert while there are no rules', async () => {
    const kit = await startNotifications(['http://127.0.0.1:9/'])
    kit.rules.length = 0
    await kit.db.transaction((tx) => tx.query.schema.dropTable('notification_deliveries').execute())
    expect(await kit.raise('a')).toHaveLength(1)
  })
})
