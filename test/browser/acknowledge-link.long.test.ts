/** The page of a link that acknowledges an alert, and the form of its notification channel. */

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startApp, type TestApp, until } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { channels, rules, signIn, startSystem } from '../support/notifications/notification-service.ts'
import { startWebhookReceiver } from '../support/notifications/webhook-receiver.ts'

const browser = browserForTests()

/** Starts a service with an alert about slot 1, and returns the page of its link. */
async function startService(config: object = {}) {
  const { set, manufacturers } = await startSystem()
  const receiver = await startWebhookReceiver()
  const server = { public_url: 'https://mics.example', host: '0.0.0.0' }
  const app = await startApp({ manufacturers, config: { server, ...config } })
  const admin = await signIn(app)
  const channel = { name: 'RF crew', type: 'webhook', config: { url: receiver.url }, acknowledge_link: true }
  const { id } = (await admin.post(channels, channel)).json
  await admin.post(rules, { name: 'All', notification_channel_ids: [id] })
  await until('the receiver is known', async () => (await admin.get('/api/data.json')).json.receivers.length === 1)
  await admin.put('/api/slots/1/', { performer_name: 'Nora' })
  set({ battery: 15 })
  const [message] = await receiver.waitFor(1)
  const link: string = message?.body.data.alerts[0].acknowledge_url ?? ''
  const path = link.replace('https://mics.example', '')
  return { app, admin, set, path }
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const posts = (app: TestApp, page: Page) => {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url().slice(app.url.length))
  })
  return sent
}

// Conformance: C-26.35.
describe.concurrent('the page of a link that acknowledges an alert', () => {
  it('asks with the alert as it is now, and acknowledges it with one press, without a sign-in', async () => {
    const { app, admin, set, path } = await startService()
    set({ battery: 8 })
    await until('the alert is critical', async () => {
      return (await admin.get('/api/alerts/?state=open')).json[0]?.severity === 'critical'
    })
    const page = await browser.open(app, path, phone)
    const sent = posts(app, page)
    await heading(page, 'Acknowledge this alert?')
    await page.getByText('Battery critical').waitFor()
    await page.getByText('1 Nora', { exact: true }).waitFor()
    await page.getByText('in the name of the notification channel RF crew', { exact: false }).waitFor()
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await eventually(() => findViolations(page)).toEqual([])
    expect((await admin.get('/api/alerts/?state=open')).json).toHaveLength(1)

    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await heading(page, 'Acknowledged')
    await page.getByText('Acknowledged by RF crew').waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    expect(sent.filter((address) => address.endsWith('/acknowledge'))).toEqual(['/api/acknowledge-link/acknowledge'])
    expect((await admin.get('/api/alerts/?state=acknowledged')).json).toMatchObject([{ acknowledged_by: 'RF crew' }])

    // The link of an acknowledged alert names the actor.
    await page.reload()
    await heading(page, 'Acknowledged')
    await page.getByText('Acknowledged by RF crew').waitFor()
    await eventually(() => page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
  })

  it('says why a link is refused', async () => {
    const { app, admin, set, path } = await startService()
    const page = await browser.open(app, `${path.slice(0, -4)}0000`, phone)
    await heading(page, 'This link is not valid')
    await eventually(() => page.getByText('Nora').count()).toBe(0)
    await eventually(() => findViolations(page)).toEqual([])
    // Only the fragment changes, so the browser does not reload the page.
    await page.goto(app.url + path)
    await heading(page, 'Acknowledge this alert?')
    set({ battery: 90 })
    await until('the alert is cleared', async () => (await admin.get('/api/alerts/?state=cleared')).json.length === 1)
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await heading(page, 'This alert is cleared')
    await page.goto(`${app.url}/acknowledge`)
    await heading(page, 'This link is not valid')
  })

  it('is offered in the form of a channel, which says what it allows and which setting is missing', async () => {
    const app = await startApp()
    const page = await browser.openAs(app, 'admin', '/admin/notifications')
    await page.getByRole('button', { name: 'Add channel' }).click()
    await dialog(page)
      .getByRole('button', { name: /^Webhook/ })
      .click()
    const link = dialog(page).getByLabel('Acknowledge link')
    await eventually(() => link.isChecked()).toBe(false)
    await dialog(page).getByText('Anyone who has a message', { exact: false }).waitFor()
    await dialog(page).getByText('set server.public_url in the configuration file', { exact: false }).waitFor()
    await dialog(page).getByLabel('Name', { exact: true }).fill('RF crew')
    await dialog(page).getByLabel('Address').fill('http://127.0.0.1:9/hook')
    await link.check()
    await press(page, 'Save')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Edit RF crew' }).click()
    await eventually(() => link.isChecked()).toBe(true)
    await link.uncheck()
    await press(page, 'Save')
    await messages(page).getByText('RF crew saved.').waitFor()
    const admin = await signIn(app)
    expect((await admin.get(channels)).json).toMatchObject([{ acknowledge_link: false }])

    const linked = await startApp({ config: { server: { public_url: 'https://mics.example' } } })
    const other = await browser.openAs(linked, 'admin', '/admin/notifications')
    await other.getByRole('button', { name: 'Add channel' }).click()
    await dialog(other)
      .getByRole('button', { name: /^Webhook/ })
      .click()
    await dialog(other).getByText('Anyone who has a message', { exact: false }).waitFor()
    await eventually(() => dialog(other).getByText('server.public_url', { exact: false }).count()).toBe(0)
  })
})
