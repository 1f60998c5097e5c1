/** Notifications through the whole service: from an alert to a webhook. */

import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { now } from '../src/platform/clock.ts'
import { listNotificationChannels } from '../src/storage/notifications.ts'
import { openSecrets } from '../src/storage/secrets.ts'
import { startApp, until } from './support/app.ts'
import { openLive } from './support/live-client.ts'
import {
  addWebhook,
  channels,
  deliveries,
  rules,
  signIn,
  startSystem,
} from './support/notifications/notification-service.ts'
import { type ReceivedWebhook, startWebhookReceiver } from './support/notifications/webhook-receiver.ts'
import { withDatabase } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

function expectSignature({ headers, text }: ReceivedWebhook, secrets: readonly string[]): void {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = headers
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64')}`
  })
  expect(signature).toBe(signatures.join(' '))
}

const from = 'mics@venue.example'

describe.concurrent('notifications', () => {
  // Conformance: C-14.1, C-14.2.
  it('sends the alerts of 2 seconds to a webhook as one signed message, and lists the delivery', async () => {
    const { set, manufacturers } = await startSystem()
    const receiver = await startWebhookReceiver()
    const app = await startApp({ manufacturers })
    const admin = await signIn(app)
    const { id, secret } = await addWebhook(admin, receiver.url)
    const rule = await admin.post(rules, { name: 'All', notification_channel_ids: [id], send_cleared: true })
    expect(rule).toMatchObject({ status: 201, json: { when: 'always', min_severity: 'info', escalate: null } })
    await until('the receiver is known', async () => (await app.receivers()).length === 1)

    for (const channel of [1, 2]) set({ battery: 15 }, channel)
    const [raised] = await receiver.waitFor(1)
    if (raised === undefined) throw new Error('Nothing was received.')
    const open = (await app.get('/api/alerts/?state=open')).json
    expect(raised.body).toEqual({
      type: 'alert.raised',
      timestamp: expect.stringMatching(/Z$/),
      data: { alerts: expect.arrayContaining(open), more: 0 },
    })
    expect(open).toHaveLength(2)
    expectSignature(raised, [secret])

    for (const channel of [1, 2]) set({ battery: 90 }, channel)
    const [, cleared] = await receiver.waitFor(2)
    expect(cleared?.body).toMatchObject({ type: 'alert.cleared', data: { alerts: [{ state: 'cleared' }, {}] } })
    expect(cleared?.headers['webhook-id']).not.toBe(raised.headers['webhook-id'])

    const listed = await until('both are sent', async () => {
      const { json } = await admin.get(`${deliveries}?status=sent&channel_id=${id}`)
      return json.length === 2 && json
    })
    expect(listed[1]).toEqual({
      id: expect.any(Number),
      notification_channel_id: id,
      rule_id: rule.json.id,
      type: 'alert.raised',
      alert_ids: open.map((alert: { id: number }) => alert.id).sort(),
      status: 'sent',
      attempts: 1,
      last_error: null,
      created_at: expect.any(String),
      last_attempt_at: expect.any(String),
      next_attempt_at: null,
      sent_at: expect.any(String),
    })
  })

  // Conformance: C-9b.3.
  it('announces that channels, rules and deliveries changed, without their content', async () => {
    const app = await startApp()
    const admin = await signIn(app)
    const client = await openLive(app)
    const announced = () => client.messages.filter(({ type }) => type === 'notifications')
    const expectNext = async (work: () => Promise<unknown>) => {
      const before = announced().length
      await work()
      await until('the change is announced', () => announced().length > before)
    }
    const receiver = await startWebhookReceiver()
    let id = 0
    await expectNext(async () => {
      id = (await addWebhook(admin, receiver.url)).id
    })
    await expectNext(() => admin.post(rules, { name: 'All', notification_channel_ids: [id] }))
    await expectNext(() => admin.post(`${channels}${id}/test`))
    // The client adds the times at which it received a message.
    const fields = announced().map(({ at: _, sentAt: __, ...message }) => Object.keys(message))
    expect(new Set(fields.flat())).toEqual(new Set(['type', 'seq']))
  })

  // Conformance: C-14.13.
  it('encrypts and masks secrets, keeps them when the mask is sent back, and rejects unknown and missing fields', async () => {
    const app = await startApp()
    const admin = await signIn(app)
    const config = { url: 'https://ntfy.example', topic: 'rf', token: 'tk_secret' }
    const { status, json } = await admin.post(channels, { name: 'Crew', type: 'ntfy', config })
    const masked = { ...config, url: expect.stringContaining('ntfy.example'), token: '********' }
    expect([status, json]).toEqual([
      201,
      {
        id: 1,
        name: 'Crew',
        type: 'ntfy',
        config: masked,
        enabled: true,
        without_names: false,
        acknowledge_link: false,
        version: expect.any(Number),
      },
    ])
    const kept = await admin.patch(`${channels}1/`, { name: 'RF crew', config: { ...config, token: '********' } })
    expect(kept.json).toMatchObject({ name: 'RF crew', config: masked })
    const secrets = await openSecrets(app.dataDir)
    const [[row], [stored]] = await withDatabase(app, ({ read }) =>
      Promise.all([
        read.selectFrom('notification_channels').selectAll().execute(),
        listNotificationChannels(read, secrets),
      ]),
    )
    expect(JSON.stringify(row)).not.toContain('tk_secret')
    expect(stored?.secrets).toEqual({ token: 'tk_secret' })

    const slack = { name: 'Slack', type: 'slack', config: { url: 'https://hooks.slack.com/services/T0/B0/secret' } }
    expect((await admin.post(channels, slack)).json.config).toEqual({ url: '********' })
    for (const [body, details] of [
      [{ name: 'a', type: 'ntfy', config: { ...config, token: '********' } }, 'config.token: '],
      [{ name: 'a', type: 'ntfy', config: { url: config.url } }, 'config.topic: missing'],
      [{ name: 'a', type: 'ntfy', config: { ...config, extra: 1 } }, 'config.extra: unknown field'],
      [{ name: 'a', type: 'pager', config }, 'type: '],
      [{ type: 'ntfy', config }, 'name: '],
      [
        { name: 'a', type: 'webhook', config: { url: 'http://169.254.169.254/' } },
        'config: nothing is sent to 169.254.169.254',
      ],
      [
        { name: 'a', type: 'webhook', config: { url: `http://127.1:${app.port}/` } },
        'config: nothing is sent to 127.0.0.1',
      ],
    ] as const) {
      const rejected = await admin.post(channels, body)
      expect([rejected.status, rejected.json.details]).toEqual([400, expect.stringContaining(details)])
    }
    expect((await admin.patch(`${channels}4711/`, { name: 'a' })).status).toBe(404)
    const audit = (await admin.get('/api/admin/audit/?action=notification_channel.')).json
    expect(audit.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
      ['notification_channel.create', { name: 'Slack', type: 'slack' }],
      ['notification_channel.change', { changed: ['name'] }],
      ['notification_channel.create', { name: 'Crew', type: 'ntfy' }],
    ])
  })

  // Reliability: 3.8.6.
  it('asks for a secret again when the address to which it is sent changes', async () => {
    const app = await startApp()
    const admin = await signIn(app)
    const mail = {
      host: '127.0.0.1',
      port: 25,
      security: 'starttls',
      username: 'mics',
      password: 'x',
      from,
      to: [from],
    }
    for (const [type, config, change, secret] of [
      ['gotify', { url: 'http://127.0.0.1:9', token: 'x' }, { url: 'http://127.0.0.1:10' }, 'token'],
      ['gotify', { url: 'http://127.0.0.1:9', token: 'x' }, { url: 'http://127.0.0.2:9', token: '********' }, 'token'],
      ['ntfy', { url: 'https://127.0.0.1:9', topic: 'rf', token: 'x' }, { url: 'http://127.0.0.1:9' }, 'token'],
      ['telegram', { token: '1:x', chat_id: '1' }, { server: 'https://127.0.0.1:9' }, 'token'],
      ['apprise', { url: 'http://127.0.0.1:9', urls: 'a://b' }, { url: 'http://127.0.0.1' }, 'urls'],
      [
        'mqtt',
        { url: 'mqtts://127.0.0.1:9', topic: 'a', username: 'x', password: 'x' },
        { url: 'mqtt://127.0.0.1:9' },
        'password',
      ],
      ['email', mail, { host: 'localhost' }, 'password'],
      ['email', mail, { port: 26 }, 'password'],
      ['email', mail, { security: 'none' }, 'password'],
    ] as const) {
      const { id } = (await admin.post(channels, { name: type, type, config })).json
      const refused = await admin.patch(`${channels}${id}/`, { config: change })
      const expected = expect.stringContaining(`config.${secret}: enter it again`)
      expect([type, refused.status, refused.json.details]).toEqual([type, 400, expected])
      expect((await admin.patch(`${channels}${id}/`, { config: { ...change, [secret]: '1:y' } })).status).toBe(200)
      expect((await admin.patch(`${channels}${id}/`, { name: 'b', config: { [secret]: '********' } })).status).toBe(200)
    }
  })

  // Conformance: C-14.14.
  it('reports the response of a service to a test, and signs with both secrets after a rotation', async () => {
    const receiver = await startWebhookReceiver([204, 500])
    const app = await startApp()
    const admin = await signIn(app)
    const { id, secret } = await addWebhook(admin, receiver.url)
    expect(secret).toMatch(/^whsec_/)
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32)
    expect((await admin.get(`${channels}${id}/`)).json).not.toHaveProperty('secret')
    const duration_ms = expect.any(Number)
    const sent = await admin.post(`${channels}${id}/test`)
    expect([sent.status, sent.json]).toEqual([200, { ok: true, status: 204, response: null, error: null, duration_ms }])
    const rotated = await admin.post(`${channels}${id}/rotate`)
    expect(Date.parse(rotated.json.previous_until) - now()).toBeGreaterThan(23.9 * 3_600_000)
    const failed = await admin.post(`${channels}${id}/test`)
    expect([failed.status, failed.json]).toEqual([
      200,
      { ok: false, status: 500, response: 'responded 500', error: expect.stringContaining('500'), duration_ms },
    ])
    const [first, second] = receiver.received
    if (first === undefined || second === undefined) throw new Error('Nothing was received.')
    expect(first.body).toEqual({ type: 'test', timestamp: expect.any(String), data: { alerts: [], more: 0 } })
    expectSignature(first, [secret])
    expectSignature(second, [rotated.json.secret, secret])
    expect((await admin.get(deliveries)).json).toMatchObject([
      { type: 'test', status: 'failed', attempts: 1, rule_id: null, notification_channel_id: id },
      { type: 'test', status: 'sent', attempts: 1, rule_id: null, notification_channel_id: id },
    ])
    const unreachable = await addWebhook(admin, 'http://127.0.0.1:9/')
    const none = await admin.post(`${channels}${unreachable.id}/test`)
    expect([none.status, none.json]).toMatchObject([
      200,
      { ok: false, status: null, error: expect.stringMatching(/refused/i) },
    ])
  })

  // Conformance: C-14.15.
  it('hides addresses from operators and everything from viewers, and lets only administrators edit', async () => {
    const app = await startApp({ config: { require_login: true } })
    const admin = await signIn(app)
    const { id } = await addWebhook(admin, 'http://127.0.0.1:9/')
    await admin.post(`${channels}${id}/test`)
    await admin.post(rules, { name: 'All', notification_channel_ids: [id] })
    const operator = await tokenHeaders(app, 'operator')
    const viewer = await tokenHeaders(app, 'viewer')
    for (const path of [channels, rules, deliveries, `${channels}${id}/`, `${rules}1/`]) {
      expect((await app.get(path, viewer)).status, path).toBe(403)
      expect((await app.get(path)).status, path).toBe(401)
      const { status, bytes } = await app.get(path, operator)
      expect([status, String(bytes)]).toEqual([200, expect.not.stringContaining('127.0.0.1')])
    }
    expect(String((await admin.get(deliveries)).bytes)).toContain('127.0.0.1')
    for (const [method, path] of [
      ['POST', channels],
      ['PATCH', `${channels}${id}/`],
      ['DELETE', `${channels}${id}/`],
      ['POST', `${channels}${id}/test`],
      ['POST', `${channels}${id}/rotate`],
      ['POST', rules],
      ['PATCH', `${rules}1/`],
      ['DELETE', `${rules}1/`],
    ] as const) {
      expect((await app.send(method, path, { headers: operator })).status, path).toBe(403)
      expect((await app.send(method, path)).status, path).toBe(401)
    }
  })

  // Conformance: C-14.16.
  it('validates rules, and removes a deleted channel from them', async () => {
    const app = await startApp()
    const admin = await signIn(app)
    const [first, second] = [
      await addWebhook(admin, 'http://127.0.0.1:9/'),
      await addWebhook(admin, 'http://127.0.0.1:9/'),
    ]
    const ids = [first.id, second.id]
    const hours = { days: ['fri', 'sat'], from: '18:00', to: '01:00', time_zone: 'Europe/Berlin' }
    const escalate = { after_seconds: 60, notification_channel_ids: [second.id] }
    const fields = { name: 'Act 1', notification_channel_ids: ids, when: hours, min_severity: 'critical', escalate }
    const { status, json } = await admin.post(rules, fields)
    const defaults = {
      kinds: [],
      group_ids: [],
      manufacturers: [],
      sites: [],
      delay_seconds: 0,
      repeat_minutes: 0,
      send_cleared: false,
    }
    expect([status, json]).toEqual([
      201,
      { ...defaults, excluded_kinds: [], ...fields, id: json.id, version: json.version },
    ])
    expect((await admin.get(rules)).json).toEqual([json])
    for (const [change, details] of [
      [{ notification_channel_ids: [4711] }, 'notification_channel_ids: there is no notification channel 4711'],
      [
        { escalate: { ...escalate, notification_channel_ids: [4711] } },
        'escalate.notification_channel_ids: there is no',
      ],
      [{ escalate: { ...escalate, after_seconds: 0 } }, 'escalate'],
      [{ group_ids: [4711] }, 'group_ids: there is no group 4711'],
      [{ manufacturers: ['nobody'] }, 'manufacturers: there is no manufacturer nobody'],
      [{ kinds: ['thirst'] }, 'kinds'],
      [{ when: { ...hours, time_zone: 'Mars/Base' } }, 'when.time_zone: '],
      [{ when: { ...hours, from: '24:00' } }, 'when'],
      [{ when: { ...hours, days: ['someday'] } }, 'when'],
      [{ when: 'never' }, 'when'],
      [{ channel_ids: [1] }, 'channel_ids'],
    ] as const) {
      const rejected = await admin.patch(`${rules}${json.id}/`, change)
      expect([rejected.status, rejected.json.details]).toEqual([400, expect.stringContaining(details)])
    }
    for (const field of ['name', 'notification_channel_ids'] as const) {
      const { [field]: _, ...incomplete } = fields
      expect((await admin.post(rules, incomplete)).status).toBe(400)
    }
    expect((await admin.remove(`${channels}${second.id}/`)).status).toBe(204)
    const changed = {
      ...json,
      notification_channel_ids: [first.id],
      escalate: null,
      version: expect.any(Number),
    }
    expect((await admin.get(`${rules}${json.id}/`)).json).toEqual(changed)
    expect((await admin.remove(`${rules}${json.id}/`)).status).toBe(204)
    expect((await admin.remove(`${rules}${json.id}/`)).status).toBe(404)
  })
})
