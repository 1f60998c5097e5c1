/** Notifications in a browser against a real service and a local webhook. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { NotificationDeliveryBody } from '../../src/contract/notifications.ts'
import { configFor, deviceOf, startApp, startShure, type TestApp, until } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  row,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { startFakeService } from '../support/browser/fake-service.ts'
import { buildAlert } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()
const path = '/admin/notifications'

/** Starts a webhook that responds with `status`, and records the types of the messages. */
async function startWebhook() {
  const types: string[] = []
  const hook = { status: 204, types, url: '' }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      types.push(JSON.parse(body).type)
      response.writeHead(hook.status).end(hook.status === 204 ? undefined : 'Out of <b>order</b>')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestEnd(() => {
    server.close()
  })
  hook.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return hook
}

async function addChannel(app: TestApp, name: string, url: string): Promise<number> {
  const body = { name, type: 'webhook', config: { url } }
  const { json } = await app.post('/api/admin/notification-channels/', body, await tokenHeaders(app, 'admin'))
  return json.id
}

/** Opens the form of a service. */
async function chooseService(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('button', { name: 'Add channel' }).click()
  await dialog(page).getByRole('button', { name }).click()
}

describe.concurrent('notifications', () => {
  // Conformance: C-14.81, C-14.82, C-14.83.
  it('sends an alert: a webhook is added and tested, a rule is accepted, and the delivery is listed', async () => {
    const hook = await startWebhook()
    const shure = await startShure()
    const app = await startApp({ manufacturers: [configFor(shure)] })
    const { id: device } = deviceOf(shure)
    await until('the device is known', () => app.receiver(device))
    const page = await browser.openAs(app, 'admin', `${path}?tab=rules`)
    await page.getByRole('heading', { name: 'Add a channel first' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Channels' }).click()
    await page.getByRole('heading', { name: 'No channels' }).waitFor()

    // A missing value and an address of Micwatch itself are reported at the field.
    await chooseService(page, /^Webhook/)
    await dialog(page).getByLabel('Name', { exact: true }).fill('<b>Show</b> control')
    await press(page, 'Save')
    await dialog(page).getByText('Enter a value.').waitFor()
    await dialog(page).getByLabel('Address').fill(app.url)
    await press(page, 'Save')
    await dialog(page).getByText('Nothing is sent to 127.0.0.1', { exact: false }).waitFor()
    await page.locator('input[name="config.url"][aria-invalid]:focus').waitFor()
    await dialog(page).getByLabel('Address').fill(hook.url)
    await page.keyboard.press('Enter')

    const secret = page.getByRole('region', { name: 'Secret of <b>Show</b> control' })
    await secret.getByRole('textbox', { name: 'Secret' }).waitFor()
    await eventually(() => secret.getByRole('textbox').inputValue()).toMatch(/^whsec_/)
    await eventually(() => findViolations(page)).toEqual([])
    await secret.getByRole('button', { name: 'Done' }).click()
    await rows(page).getByText('Not in any rule').waitFor()

    hook.status = 500
    await page.getByRole('button', { name: 'Test <b>Show</b> control' }).click()
    await dialog(page).getByText('status 500: Out of <b>order</b>', { exact: false }).waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    hook.status = 204
    await press(page, 'Test again')
    await dialog(page).getByText('Accepted').waitFor()
    await press(page, 'Close')
    await rows(page).getByText('Sent').waitFor()

    await page.getByRole('button', { name: 'Rules' }).click()
    await page.getByText('Critical alerts, to <b>Show</b> control; also when cleared').waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Add this rule' }).click()
    await messages(page).getByText('Critical alerts added.').waitFor()
    shure.show.set(device, { name: 'Y13 Nora', battery: 6, rf_level: -52, audio_level: -18, transmitter: true }, 1)
    await until('the webhook has the alert', () => hook.types.includes('alert.raised'))
    await page.getByRole('button', { name: 'Deliveries' }).click()
    const delivery = row(page, 'Alert raised')
    await delivery.getByText('Sent').waitFor({ timeout: 20_000 })
    await delivery.getByRole('link', { name: /^\d+ Y13 Nora: Battery critical$/ }).click()
    await page.waitForURL(/\/channels\/\d+\?span=600&to=/)
  })

  // Conformance: C-26.25.
  it('shows a QR code and a link with which phones subscribe to a topic of ntfy', async () => {
    const app = await startApp()
    const body = { name: 'RF crew', type: 'ntfy', config: { url: 'http://10.0.0.5:2586', topic: 'mics' } }
    await app.post('/api/admin/notification-channels/', body, await tokenHeaders(app, 'admin'))
    const page = await browser.openAs(app, 'admin', path)
    await page.getByRole('button', { name: 'QR code RF crew' }).click()
    await dialog(page).getByRole('img', { name: 'QR code for ntfy://10.0.0.5:2586/mics?secure=false' }).waitFor()
    const link = dialog(page).getByRole('link', { name: 'http://10.0.0.5:2586/mics' })
    await eventually(() => link.getAttribute('href')).toBe('http://10.0.0.5:2586/mics')
    await eventually(() => findViolations(page)).toEqual([])
    await press(page, 'Close')
    await eventually(() => dialog(page).count()).toBe(0)
  })

  // Conformance: C-14.84, C-14.85.
  it('edits a rule in its form, and explains invalid values', async () => {
    const app = await startApp()
    await app.post('/api/group/', { title: 'Act 1', slots: [1] })
    const hook = await startWebhook()
    await addChannel(app, 'RF crew', hook.url)
    await addChannel(app, 'Head of sound', hook.url)
    const page = await browser.openAs(app, 'admin', `${path}?tab=rules`)
    await page.getByRole('button', { name: 'Add rule' }).click()
    const form = dialog(page)
    const sentence = (text: string) => form.getByText(text, { exact: true }).waitFor()
    await sentence('Critical alerts, to no channel; also when cleared')
    await form.getByLabel('Name').fill('Act 1')
    await press(page, 'Save')
    await form.getByText('Choose at least one channel.').waitFor()
    await form.getByRole('group', { name: 'Send to' }).getByLabel('RF crew').check()
    await form.getByLabel('Act 1', { exact: true }).check()
    await form.getByLabel('When', { exact: true }).selectOption('During shows')
    await form.getByLabel('Also send when an alert has cleared').uncheck()
    await form.getByLabel('Escalate').check()
    await form.getByRole('group', { name: 'Then send to' }).getByLabel('Head of sound').check()
    await sentence(
      'Critical alerts of group Act 1, during shows, to RF crew; after 1 min unacknowledged to Head of sound',
    )
    await press(page, 'Save')
    await messages(page).getByText('Act 1 added.').waitFor()
    await page
      .getByRole('list', { name: 'Rules' })
      .getByText(
        'Critical alerts of group Act 1, during shows, to RF crew; after 1 min unacknowledged to Head of sound',
      )
      .waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Edit Act 1' }).click()
    await form.getByLabel('Wait before sending').fill('soon')
    await press(page, 'Save')
    await form.getByText('Expected a whole number from 0 to 86400.').waitFor()
    await form.getByLabel('Wait before sending').fill('30')
    await form.getByLabel('When', { exact: true }).selectOption('On days and at hours')
    await form.getByLabel('To', { exact: true }).fill('02:00')
    await form.getByText('Ends on the following day.').waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu']) await form.getByLabel(day).uncheck()
    await form.getByLabel('Time zone').selectOption('Europe/Berlin')
    await press(page, 'Save')
    await messages(page).getByText('Act 1 saved.').waitFor()
    const { json } = await app.get('/api/admin/notification-rules/', await tokenHeaders(app, 'admin'))
    expect(json).toMatchObject([
      {
        ...{ name: 'Act 1', min_severity: 'critical', group_ids: [1], delay_seconds: 30, repeat_minutes: 0 },
        when: { days: ['fri', 'sat', 'sun'], from: '17:00', to: '02:00', time_zone: 'Europe/Berlin' },
        escalate: { after_seconds: 60, notification_channel_ids: [2] },
      },
    ])

    // A rule with a disabled channel says so.
    await page.getByRole('button', { name: 'Channels' }).click()
    await page.getByRole('button', { name: 'Disable RF crew' }).click()
    await row(page, 'RF crew').getByText('Disabled').waitFor()
    await page.getByRole('button', { name: 'Rules' }).click()
    await page.getByText('RF crew is disabled and receives nothing.').waitFor()
    await page.getByRole('button', { name: 'Edit Act 1' }).click()
    await eventually(() => form.getByLabel('To', { exact: true }).inputValue()).toBe('02:00')
    await eventually(() => form.getByLabel('Fri').isChecked()).toBe(true)
    await eventually(() => form.getByLabel('Mon').isChecked()).toBe(false)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Channels' }).click()
    await page.getByRole('button', { name: 'Delete RF crew' }).click()
    await form.getByText('These rules no longer send to it: Act 1.').waitFor()
    await press(page, 'Delete')
    await page.getByRole('button', { name: 'Rules' }).click()
    await page.getByText('It sends nothing, because it has no channel.').waitFor()
  })

  // Conformance: C-14.86.
  it('keeps a stored secret unless it is replaced, and shows a new secret of a webhook once', async () => {
    const app = await startApp()
    const page = await browser.openAs(app, 'admin', path)
    await chooseService(page, /^Email/)
    await dialog(page).getByLabel('Encryption').selectOption('TLS (usually port 465)')
    await eventually(() => dialog(page).getByLabel('Port').inputValue()).toBe('465')
    await dialog(page).getByLabel('Port').fill('2525')
    await dialog(page).getByLabel('Encryption').selectOption('None (only on your own network)')
    await dialog(page).getByLabel('Encryption').selectOption('TLS (usually port 465)')
    await eventually(() => dialog(page).getByLabel('Port').inputValue()).toBe('2525')
    await dialog(page).getByLabel('Port').fill('465')
    await dialog(page).getByLabel('Mail server').fill('localhost')
    await dialog(page).getByLabel('User name').fill('rf')
    await dialog(page).getByLabel('Password (optional)').fill('a secret')
    await dialog(page).getByLabel('Sender').fill('rf@example.com')
    await dialog(page).getByLabel('Recipients').fill('ana@example.com, nobody')
    await press(page, 'Save')
    await dialog(page).locator('textarea[aria-invalid]').waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    await dialog(page).getByLabel('Recipients').fill('ana@example.com\nkim@example.com')
    await press(page, 'Save')
    await messages(page).getByText('Email added.', { exact: false }).waitFor()
    await row(page, 'ana@example.com · kim@example.com').waitFor()

    await page.getByRole('button', { name: 'Edit Email' }).click()
    await eventually(() => dialog(page).getByLabel('Password (optional)').inputValue()).toBe('********')
    await dialog(page).getByLabel('Port').fill('2465')
    await dialog(page).getByText('Enter it again, because the address has changed.').waitFor()
    await press(page, 'Save')
    await dialog(page).getByText('Enter a value.').waitFor()
    await dialog(page).getByLabel('Port').fill('465')
    await dialog(page).getByLabel('Sender').fill('mics@example.com')
    await press(page, 'Save')
    await messages(page).getByText('Email saved.').waitFor()
    const admin = await tokenHeaders(app, 'admin')
    const list = async () => (await app.get('/api/admin/notification-channels/', admin)).json
    await eventually(() => list()).toMatchObject([
      { config: { port: 465, from: 'mics@example.com', password: '********', username: 'rf' } },
    ])

    await addChannel(app, 'Hook', 'http://127.0.0.1:9/')
    await page.reload()
    await page.getByRole('button', { name: 'Rotate secret Hook' }).click()
    await press(page, 'Rotate secret')
    const secret = page.getByRole('region', { name: 'Secret of Hook' })
    await secret.getByText('messages are also signed with the previous secret', { exact: false }).waitFor()
    await secret.getByRole('button', { name: 'Done' }).click()
    await eventually(() => page.content()).not.toContain('whsec_')
  })

  // Conformance: C-14.87, C-14.88.
  it('shows operators everything without addresses and buttons, and viewers nothing', async () => {
    const app = await startApp({ config: { server: { host: '0.0.0.0' } } })
    await addChannel(app, 'RF crew', 'http://127.0.0.1:9/secret-path')
    const page = await browser.openAs(app, 'operator', path, phone)
    await row(page, 'RF crew').getByText('Webhook').waitFor()
    await page.getByText('Requires the administrator role.').waitFor()
    await eventually(() => page.getByRole('button', { name: /^(Add|Test|Edit|Disable|Rotate|Delete)/ }).count()).toBe(0)
    await eventually(() => page.content()).not.toContain('secret-path')
    await eventually(() => findViolations(page)).toEqual([])
    const viewer = await browser.openAs(app, 'viewer', path)
    await viewer.getByRole('heading', { name: 'No permission' }).waitFor()
    await eventually(() => viewer.getByRole('link', { name: 'Notifications' }).count()).toBe(0)
  })

  // Conformance: C-14.89, C-14.90.
  it('keeps delivery filters in the URL, describes each status, and fits 320 px', async () => {
    const service = await startFakeService('')
    onTestEnd(() => service.close())
    const at = '2026-11-23T19:00:00.000Z'
    const delivery = (id: number, fields: Partial<NotificationDeliveryBody>): NotificationDeliveryBody => ({
      ...{ id, notification_channel_id: 1, rule_id: null, type: 'alert.raised', alert_ids: [1], status: 'sent' },
      ...{ attempts: 1, last_error: null, created_at: at, last_attempt_at: at, next_attempt_at: null, sent_at: null },
      ...fields,
    })
    const refused = 'Connection refused by smtp.example.com:587.'
    const deliveries = [
      delivery(4, { status: 'pending', attempts: 3, last_error: refused, next_attempt_at: at }),
      delivery(3, { status: 'expired', attempts: 6, last_error: refused, alert_ids: [1, 2, 3, 4, 5, 99] }),
      delivery(2, { status: 'failed', last_error: 'The address no longer exists.', type: 'test', alert_ids: [] }),
      delivery(1, { sent_at: at, notification_channel_id: null, type: 'alert.cleared' }),
    ]
    const pageOf = (results: readonly unknown[]) => ({ count: results.length, next: null, previous: null, results })
    const permissions = ['read', 'inspect', 'inspect_notifications', 'operate']
    Object.assign(service.data.responses, {
      '/api/auth/session': { kind: 'user', name: 'ana', role: 'operator', permissions, csrf_token: null },
      '/api/admin/notification-channels/': [
        { id: 1, name: 'Head of sound', type: 'email', config: {}, enabled: false },
        { id: 2, name: 'RF crew', type: 'ntfy', config: {}, enabled: true },
      ],
      '/api/admin/notification-rules/': [],
      '/api/admin/notification-deliveries/': (query: URLSearchParams) => {
        const [status, channel] = [query.get('status'), query.get('channel_id')]
        if (query.get('page_size') === '1') return pageOf(channel === '1' ? deliveries.slice(1, 2) : [])
        return pageOf(deliveries.filter((item) => status === null || item.status === status))
      },
      '/api/alerts/': pageOf([1, 2, 3, 4, 5].map((id) => buildAlert({ id, channel_id: null }))),
      '/api/discovery/pending/': pageOf([]),
      '/api/movements/unacknowledged/': pageOf([]),
      '/api/admin/realtime-connections/': pageOf([]),
    })
    const page = await browser.open(service, '/admin', { viewport: { width: 320, height: 700 } })
    await page.getByRole('link', { name: 'Head of sound is disabled: the last notification was not delivered' }).click()
    await page.waitForURL(`${service.url}${path}?tab=deliveries&channel_id=1`)
    await row(page, 'Trying again').getByText('3 attempts. Next attempt at', { exact: false }).waitFor()
    await row(page, 'Expired').getByText('Not delivered within 2 minutes. 6 attempts.').waitFor()
    await row(page, 'Expired').getByText('2 more alerts').waitFor()
    await row(page, 'Expired').getByRole('link', { name: '1 earlier alert' }).waitFor()
    await row(page, 'Failed').getByText('The address no longer exists.').waitFor()
    await row(page, 'deleted channel').getByText('Alert cleared').waitFor()
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await eventually(() => findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Filters (1)' }).click()
    await page.getByLabel('Status').selectOption('Failed')
    await page.waitForURL(`${service.url}${path}?tab=deliveries&channel_id=1&status=failed`)
    await eventually(() => rows(page).count()).toBe(1)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await eventually(() => rows(page).count()).toBe(4)
  })
})
