/** Links in messages that acknowledge an alert without signing in. */

import { describe, expect, it } from 'vitest'
import { createAcknowledgeToken } from '../src/alerts/acknowledge-links.ts'
import type { NotifiedAlert } from '../src/domain/notifications/message.ts'
import { listNotificationChannels } from '../src/storage/notifications.ts'
import { openSecrets } from '../src/storage/secrets.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { expectError } from './support/expect-error.ts'
import { channels, rules, signIn, startSystem } from './support/notifications/notification-service.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'
import { createTestDatabase, engines, withDatabase } from './support/store/databases.ts'

const secret_key = 'ab'.repeat(32)
const publicUrl = 'https://mics.example'

/** Starts a service whose alerts are sent to a webhook with links. */
async function startService({ config = {}, engine = 'sqlite' as (typeof engines)[number], fields = {} } = {}) {
  const { set, manufacturers } = await startSystem()
  const receiver = await startWebhookReceiver()
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const server = { public_url: publicUrl, host: '0.0.0.0', ...(config as { server?: object }).server }
  const options = { manufacturers, databaseUrl: database.url, config: { secret_key, ...config, server } }
  const app = await startApp(options)
  const admin = await signIn(app)
  const channel = { name: 'RF crew', type: 'webhook', config: { url: receiver.url }, acknowledge_link: true, ...fields }
  const { id } = (await admin.post(channels, channel)).json
  await admin.post(rules, { name: 'All', notification_channel_ids: [id], send_cleared: true })
  await until('the receiver is known', async () => (await admin.get('/api/data.json')).json.receivers.length === 1)
  return { set, receiver, options, app, admin, id: id as number }
}

/** The alerts of a message that was received. */
async function alertsOf(receiver: { waitFor(count: number): Promise<readonly { body: unknown }[]> }, count = 1) {
  const received = await receiver.waitFor(count)
  const message = received[count - 1]
  if (message === undefined) throw new Error('Nothing was received.')
  return (message.body as { data: { alerts: readonly NotifiedAlert[] } }).data.alerts
}

const tokenOf = (url: string | undefined) => url?.split('#')[1] ?? ''
const show = (app: Pick<TestApp, 'post'>, token: string) => app.post('/api/acknowledge-link/', { token })
const use = (app: Pick<TestApp, 'post'>, token: string) => app.post('/api/acknowledge-link/acknowledge', { token })

// Conformance: C-26.33.
describe.concurrent('a link that acknowledges an alert', () => {
  it('shows the alert and acknowledges it as the notification channel, once, without signing in', async () => {
    const { set, receiver, app, admin, id: channel } = await startService()
    expect((await app.get('/api/alerts/')).status).toBe(401)
    set({ battery: 15 })
    const [sent] = await alertsOf(receiver)
    expect(sent?.acknowledge_url).toMatch(/^https:\/\/mics\.example\/acknowledge#[\w-]+[\da-f]$/)
    const token = tokenOf(sent?.acknowledge_url)

    const shown = await show(app, token)
    const [open] = (await admin.get('/api/alerts/?state=open')).json
    expect(shown).toMatchObject({ status: 200, json: { notification_channel: 'RF crew', alert: open } })
    const validMs = Date.parse(shown.json.expires_at) - Date.parse(open.raised_at)
    expect([validMs > 11.9 * 3_600_000, validMs < 12.1 * 3_600_000]).toEqual([true, true])
    expect(open.state).toBe('raised')

    const used = await use(app, token)
    const { id } = open
    expect(used).toMatchObject({
      status: 200,
      json: { alert: { id, state: 'acknowledged', acknowledged_by: 'RF crew', note: null } },
    })
    expect((await use(app, token)).json).toEqual(used.json)
    expect((await show(app, token)).json).toEqual(used.json)
    const audited = (await admin.get('/api/admin/audit/?action=alert.acknowledge')).json
    expect(audited).toMatchObject([
      { actor: { kind: 'notification_channel', id: channel, name: 'RF crew' }, target: `alert ${id}`, result: 'ok' },
    ])
    expect(audited[0].actor.address).toBe('127.0.0.1')

    set({ battery: 90 })
    await until('the alert is cleared', async () => (await admin.get('/api/alerts/?state=cleared')).json.length === 1)
    for (const response of [await show(app, token), await use(app, token)]) {
      expectError(response, 409)
      expect(response.json.error).toBe(`Alert ${id} is already cleared.`)
    }
  })

  it('reveals no names if its notification channel leaves them out', async () => {
    const { set, receiver, app } = await startService({ fields: { without_names: true } })
    set({ battery: 15 })
    const [sent] = await alertsOf(receiver)
    const { json } = await show(app, tokenOf(sent?.acknowledge_url))
    const { acknowledge_url: _, ...alert } = sent ?? {}
    expect(json.alert).toEqual(alert)
    expect(json.alert.data.title).toBe(null)
  })

  it('is refused in the same way if it was altered, switched off or sent by a removed channel', async () => {
    const { set, receiver, app, admin, id } = await startService()
    set({ battery: 15 })
    const [sent] = await alertsOf(receiver)
    const token = tokenOf(sent?.acknowledge_url)
    const [channel, alert, expiresAt, signature] = token.split('-')
    const expectWrong = async (...tokens: readonly string[]) => {
      for (const wrong of tokens) {
        for (const response of [await show(app, wrong), await use(app, wrong)]) {
          expect([wrong, response.status, response.json]).toEqual([
            wrong,
            404,
            { error: 'This link is not valid.', status: 404 },
          ])
        }
      }
    }
    await expectWrong(
      'guess',
      `${Number(channel) + 1}-${alert}-${expiresAt}-${signature}`,
      `${channel}-${Number(alert) + 1}-${expiresAt}-${signature}`,
      `${channel}-${alert}-${Number(expiresAt) + 1}-${signature}`,
      `${channel}-${alert}-${expiresAt}-${'0'.repeat(32)}`,
    )
    expectError(await use(app, ''), 400)

    expect((await admin.patch(`${channels}${id}/`, { name: 'Crew', enabled: false })).json.acknowledge_link).toBe(true)
    expect((await show(app, token)).status).toBe(200)
    await admin.patch(`${channels}${id}/`, { acknowledge_link: false })
    await expectWrong(token)
    await admin.patch(`${channels}${id}/`, { acknowledge_link: true })
    await expectWrong(token)
    const [, ...changes] = (await admin.get('/api/admin/audit/?action=notification_channel.change')).json.reverse()
    for (const { details } of changes) expect(details).toEqual({ changed: ['acknowledge_link'] })
    await admin.remove(`${channels}${id}/`)
    await expectWrong(token)
    expect((await admin.get('/api/alerts/?state=open')).json).toHaveLength(1)
  })

  it('expires', async () => {
    const { set, receiver, app, admin } = await startService()
    set({ battery: 15 })
    const [sent] = await alertsOf(receiver)
    const secrets = await openSecrets('', secret_key)
    const [channel] = await withDatabase(app, ({ read }) => listNotificationChannels(read, secrets))
    if (sent === undefined || channel === undefined) throw new Error('There is no alert.')
    const signed = { id: sent.id, raised_at: Date.parse(sent.raised_at) }
    const [expired, valid] = [-1_000, 60_000].map((ms) => createAcknowledgeToken(channel, signed, Date.now() + ms))
    for (const response of [await show(app, expired ?? ''), await use(app, expired ?? '')]) {
      expectError(response, 410)
      expect(response.json.error).toBe('This link has expired.')
    }
    expect((await admin.get('/api/alerts/?state=open')).json).toHaveLength(1)
    expect((await use(app, valid ?? '')).status).toBe(200)
  })

  it('is in no message by default, without server.public_url, or about the end of an alert', async () => {
    const { set, receiver, app, admin, id } = await startService({ config: { server: { public_url: null } } })
    expect((await admin.get('/api/health/')).json.public_url).toBe(null)
    set({ battery: 15 })
    const [sent] = await alertsOf(receiver)
    expect(sent).not.toHaveProperty('acknowledge_url')
    expect((await admin.get(`${channels}${id}/`)).json.acknowledge_link).toBe(true)

    const linked = await startService()
    expect((await linked.admin.get('/api/health/')).json.public_url).toBe(publicUrl)
    linked.set({ battery: 15 })
    const [raised] = await alertsOf(linked.receiver)
    linked.set({ battery: 90 })
    const [cleared] = await alertsOf(linked.receiver, 2)
    expect(raised).toHaveProperty('acknowledge_url')
    expect(cleared).not.toHaveProperty('acknowledge_url')

    const body = { name: 'Plain', type: 'webhook', config: { url: receiver.url } }
    expect((await admin.post(channels, body)).json.acknowledge_link).toBe(false)
    expectError(await app.post(channels, { ...body, acknowledge_link: true }), 401)
  })

  it.each(engines)('is valid in other processes, after a restart and below a mount prefix (%s)', async (engine) => {
    const server = { mount: '/micwatch' }
    const { set, receiver, options, app } = await startService({ engine, config: { server } })
    set({ battery: 15 })
    const [sent] = await alertsOf(receiver)
    expect(sent?.acknowledge_url).toMatch(/^https:\/\/mics\.example\/micwatch\/acknowledge#/)
    const token = tokenOf(sent?.acknowledge_url)
    const other = await startApp({ ...options, servesOnly: true })
    const otherClient = other.withBasePath('/micwatch')
    expect((await otherClient.get('/acknowledge')).status).toBe(200)
    expect((await show(otherClient, token)).status).toBe(200)
    await app.close()
    await other.close()
    const next = (await startApp(options)).withBasePath('/micwatch')
    expect((await use(next, token)).json.alert).toMatchObject({ id: sent?.id, acknowledged_by: 'RF crew' })
  })

  it('counts towards the rate limit of its address', async () => {
    const { app } = await startService({ config: { rate_limit: { max_requests: 20, window_seconds: 60 } } })
    const statuses = await Promise.all(
      Array.from({ length: 40 }, () => show(app, 'guess').then(({ status }) => status)),
    )
    expect(new Set(statuses)).toEqual(new Set([404, 429]))
  })
})
