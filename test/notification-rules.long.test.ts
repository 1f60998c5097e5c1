/** Notification rules in the whole service: shows, groups, silences, escalation and more general problems. */

import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { startApp, until, withoutPush } from './support/app.ts'
import { openAlerts, raiseAlerts } from './support/internals.ts'
import {
  addWebhook,
  deliveries,
  rules,
  signIn,
  startSystem,
  summarize,
} from './support/notifications/notification-service.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'

type Webhook = Awaited<ReturnType<typeof startWebhookReceiver>>

/** Starts a service with one receiver of two channels in the slots 1 and 2, and a webhook without a rule. */
async function start({ hasPush = true } = {}) {
  const system = await startSystem()
  if (!hasPush) withoutPush(system.shure)
  const app = await startApp({ manufacturers: system.manufacturers })
  const admin = await signIn(app)
  const crew = await startWebhookReceiver()
  const { id } = await addWebhook(admin, crew.url)
  await until('the receiver is known', async () => (await app.receivers()).length === 1)
  await until('the subscription is connected', () => !hasPush || system.shure.push.connections > 0)
  const addRule = async (fields: object) => {
    const rule = { name: 'Rule', notification_channel_ids: [id], kinds: ['battery_low'], ...fields }
    expect((await admin.post(rules, rule)).status).toBe(201)
  }
  const addGroup = async (slots: number[]): Promise<number> =>
    (await admin.post('/api/group/', { title: 'Act 1', slots })).json.id
  const alerts = async () => (await app.get('/api/alerts/?state=open&kind=battery_low')).json
  /** Sets a low battery, and waits until this number of alerts is open. */
  const lowerBattery = async (channel: number, count = 1) => {
    system.set({ battery: 15 }, channel)
    return until('the alert is open', async () => (await alerts()).length === count && (await alerts())[0])
  }
  return { ...system, app, admin, crew, addRule, addGroup, lowerBattery }
}

/** Expects exactly these messages once the last of them has arrived. */
async function expectMessages(crew: Webhook, expected: readonly string[]): Promise<void> {
  expect(summarize(await crew.waitFor(expected.length))).toEqual(expected)
}

describe.concurrent('a rule', () => {
  // Conformance: C-14.31, C-14.39.
  it('for a group during shows sends the open alerts of the group when a show begins', async () => {
    const { admin, crew, addRule, addGroup, lowerBattery } = await start()
    await addRule({ group_ids: [await addGroup([2])], when: 'during_shows' })
    await lowerBattery(1)
    await lowerBattery(2, 2)
    const show = (await admin.post('/api/shows/', { title: 'Matinee' })).json
    expect(crew.received).toEqual([])
    await admin.post(`/api/shows/${show.id}/start`)
    await expectMessages(crew, ['alert.raised 2'])
  })

  // Conformance: C-14.31.
  it('sends an open alert when its slot moves into the group of the rule', async () => {
    const { admin, crew, addRule, addGroup, lowerBattery } = await start()
    await addRule({ group_ids: [await addGroup([7])] })
    const { channel_id } = await lowerBattery(1)
    expect((await admin.put('/api/slots/', { moves: [{ channel_id, slot: 7 }] })).status).toBe(200)
    const [message] = await crew.waitFor(1)
    expect(message?.body.data.alerts).toMatchObject([{ channel_id }])
  })

  // Conformance: C-14.40.
  it('escalates alerts that nobody acknowledges', async () => {
    const { admin, crew, addRule, lowerBattery } = await start()
    const head = await startWebhookReceiver()
    const { id } = await addWebhook(admin, head.url)
    await addRule({ escalate: { after_seconds: 1, notification_channel_ids: [id] } })
    await lowerBattery(1)
    await expectMessages(head, ['alert.escalated 1'])
    await expectMessages(crew, ['alert.raised 1'])
  })

  // Conformance: C-14.36.
  it('sends alerts that are still open when a silence ends', async () => {
    const { admin, crew, addRule, lowerBattery } = await start()
    const silence = {
      kinds: ['battery_low'],
      until: new Date(now() + 3_600_000).toISOString(),
      reason: 'Changeover',
    }
    const { json } = await admin.post('/api/silences/', silence)
    await addRule({})
    await lowerBattery(1)
    await until('the alert is silenced', async () => (await lowerBattery(1)).silenced)
    expect((await admin.remove(`/api/silences/${json.id}/`)).status).toBe(204)
    await expectMessages(crew, ['alert.raised 1'])
  })

  // Conformance: C-11.5.
  it('sends an alert whose delay ended while its source failed as soon as the source responds', async () => {
    const { app, admin, shure, crew, addRule, lowerBattery } = await start()
    // The alert about the source would make the rules be applied again.
    await admin.post('/api/config/', { key: 'alert_upstream_failing_enabled', value: 'false' })
    await addRule({ delay_seconds: 15 })
    const { raised_at } = await lowerBattery(1)
    const failures = async () => (await app.get('/api/health/')).json.vendor_api.consecutive_failures
    shure.setFault({ type: 'status', status: 500 }, { path: /\/devices/ })
    await until('a cycle has failed', async () => (await failures()) > 0)
    await until('the delay is over', () => now() > Date.parse(raised_at) + 16_000)
    expect(crew.received).toEqual([])
    shure.setFault(null)
    await expectMessages(crew, ['alert.raised 1'])
  })
})

describe('a rule', () => {
  // Conformance: C-14.21.
  it('sends an open alert of a receiver that is offline as soon as the receiver is back', async () => {
    const { app, admin, shure, id, crew, addRule, lowerBattery } = await start({ hasPush: false })
    const setOnline = async (online: boolean) => {
      shure.show.set(id, { online })
      await until(`the receiver is online: ${online}`, async () => (await app.receivers())[0]?.is_active === online)
    }
    // The alert about the receiver would make the rules be applied again.
    await admin.post('/api/config/', { key: 'alert_receiver_offline_enabled', value: 'false' })
    await lowerBattery(1)
    const alert = await until('the service has announced the alert', () => openAlerts(app)[0])
    await setOnline(false)
    // The simulator removes the transmitter before it reports the receiver as offline, which ends the alert.
    await raiseAlerts(app, [{ ...alert, since: null, isInhibited: false }])
    await addRule({})
    const addedAt = performance.now()
    await until('the rule was applied', () => performance.now() > addedAt + 4_000)
    const open = (await app.get('/api/alerts/?state=open')).json
    expect(open).toMatchObject([{ kind: 'battery_low', channel_id: alert.channel_id }])
    expect((await admin.get(deliveries)).json).toEqual([])
    await setOnline(true)
    const [message] = await crew.waitFor(1)
    expect(message?.body).toMatchObject({ type: 'alert.raised', data: { alerts: [{ id: open[0].id }] } })
  })

  // Conformance: C-14.34, C-14.35.
  it('repeats an alert until it is acknowledged', async () => {
    const { app, crew, addRule, lowerBattery } = await start()
    await addRule({ repeat_minutes: 1 })
    const { id } = await lowerBattery(1)
    await expectMessages(crew, ['alert.raised 1', 'alert.repeated 1'])
    const ids = crew.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(2)
    expect((await app.post(`/api/alerts/${id}/acknowledge`, {})).status).toBe(200)
    const acknowledgedAt = performance.now()
    await until('another minute has passed', () => performance.now() > acknowledgedAt + 65_000, 70_000)
    await lowerBattery(2)
    await expectMessages(crew, ['alert.raised 1', 'alert.repeated 1', 'alert.raised 2'])
  })
})
