/** Notifications with real processes: killed between an alert and its message, and measured. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { noData } from '../src/domain/alerts/alert.ts'
import { configFor, createInstallation, deviceOf, startApp, startShure, until } from './support/app.ts'
import { raiseAlerts } from './support/internals.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'
import { timeLimit } from './support/time-limit.ts'
import { tokenHeaders } from './support/tokens.ts'

/** Starts a service that sends all alerts to a webhook. `lowerBattery` raises an alert. */
async function startService(url: string) {
  const shure = await startShure({ receivers: 1, channelsPerReceiver: 1 })
  const { id } = deviceOf(shure)
  const setBattery = (battery: number) => {
    shure.show.set(id, { battery, rf_level: -50, audio_level: -20 }, 1)
    shure.push.flush()
  }
  setBattery(90)
  const installation = await createInstallation({ manufacturers: [configFor(shure)] })
  const service = await installation.serve()
  const headers = await tokenHeaders(installation, 'admin')
  const webhook = { name: 'Crew', type: 'webhook', config: { url } }
  const { json: channel } = await service.post('/api/admin/notification-channels/', webhook, headers)
  const rule = { name: 'All', notification_channel_ids: [channel.id] }
  expect((await service.post('/api/admin/notification-rules/', rule, headers)).status).toBe(201)
  await until('the receiver is known', async () => (await service.receivers()).length === 1)
  return { installation, service, headers, lowerBattery: () => setBattery(15) }
}

describe.concurrent('a process that is killed between an alert and its message', () => {
  // Conformance: C-14.6, C-14.11.
  it.each([
    { survives: true, afterMs: 0 },
    { survives: true, afterMs: 2_100 },
    { survives: false, afterMs: 0 },
    { survives: false, afterMs: 1_000 },
    { survives: false, afterMs: 2_050 },
  ])(
    'loses nothing if it is killed $afterMs ms later, and another one runs: $survives',
    async ({ survives, afterMs }) => {
      const receiver = await startWebhookReceiver(['hang'])
      const { installation, service, headers, lowerBattery } = await startService(receiver.url)
      const survivor = survives ? await installation.serve() : null
      lowerBattery()
      const alert = await until('the alert is open', async () => (await service.get('/api/alerts/?state=open')).json[0])
      await pause(afterMs)
      service.kill('SIGKILL')
      await service.ended
      const killedAt = performance.now()
      const wasTried = receiver.received.length
      const next = survivor ?? (await installation.serve())
      await until(
        'the message about the alert is sent',
        async () => {
          const { json } = await next.get('/api/admin/notification-deliveries/?status=sent', headers)
          return json.some(({ alert_ids }: { alert_ids: number[] }) => alert_ids.includes(alert.id))
        },
        60_000,
      )
      if (survives && wasTried > 0) expect(performance.now() - killedAt).toBeLessThan(timeLimit(20_000))
      const about = receiver.received.filter(({ body }) =>
        body.data.alerts.some(({ id }: { id: number }) => id === alert.id),
      )
      expect(about.map(({ body }) => body.type)).toEqual(about.map(() => 'alert.raised'))
      expect(new Set(about.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    },
  )
})

// Conformance: C-14.17.
it('delivers alerts within 3 seconds at ten times 100 alerts a minute', async () => {
  const [receiver, hanging] = [await startWebhookReceiver(), await startWebhookReceiver([], 'hang')]
  const app = await startApp()
  const headers = await tokenHeaders(app, 'admin')
  const add = async (url: string) => {
    const webhook = { name: url, type: 'webhook', config: { url } }
    return (await app.post('/api/admin/notification-channels/', webhook, headers)).json.id
  }
  const ids = [await add(receiver.url), await add(hanging.url)]
  await app.post('/api/admin/notification-rules/', { name: 'All', notification_channel_ids: ids }, headers)
  const raisedAt = new Map<number, number>()
  for (let count = 0; count < 100; count++) {
    const cause = {
      ...{ subject: `test:${count}`, kind: 'rf_weak' as const, since: null, isInhibited: false, manufacturer: null },
      ...{ receiver_id: null, channel_id: null, data: noData },
    } as const
    const [alert] = await raiseAlerts(app, [cause])
    raisedAt.set(alert?.id ?? 0, Date.now())
    await pause(60)
  }
  const delivered = () =>
    receiver.received.flatMap(({ at, body }) => body.data.alerts.map(({ id }: { id: number }) => ({ id, at })))
  await until('all are delivered', () => delivered().length === 100)
  const seconds = delivered().map(({ id, at }) => (at - (raisedAt.get(id) ?? 0)) / 1000)
  expect(seconds.toSorted((a, b) => a - b)[98]).toBeLessThan(timeLimit(3))
  // One message contains the alerts of 2 seconds.
  const times = [...raisedAt.values()]
  const raisingSeconds = (Math.max(...times) - Math.min(...times)) / 1000
  expect(receiver.received.length).toBeLessThan(raisingSeconds / 2 + 7)
})
