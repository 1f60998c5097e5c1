/** The page Notifications says how alerts reach the device on which it is opened. */

import type { Page } from 'playwright-core'
import { describe, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { channels, rules, signIn } from '../support/notifications/notification-service.ts'

const browser = browserForTests()
const path = '/admin/notifications?tab=device'

const way = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title })
const expectWay = (page: Page, title: string, ...texts: readonly string[]) =>
  Promise.all(texts.map((text) => way(page, title).getByText(text, { exact: false }).first().waitFor()))

// Conformance: C-26.36.
describe.concurrent('this device', () => {
  it('says what a phone can get over HTTPS or on this machine, and turns it on', async () => {
    const app = await startApp()
    const admin = await signIn(app)
    const ntfy = { type: 'ntfy', config: { url: 'http://10.0.0.5:2586', topic: 'mics' } }
    const { id } = (await admin.post(channels, { name: 'RF crew', ...ntfy })).json
    const page = await browser.openAs(app, 'admin', path, phone)
    await expectWay(page, 'Sound', 'Off', 'Turn it on, then test the volume.')
    await expectWay(page, 'Screen stays on', 'Off', 'a locked phone plays no sound')
    await expectWay(page, 'Micwatch as an app', '“Add to Home Screen”')
    await expectWay(page, 'ntfy', 'Off', 'RF crew: disabled, or in no rule.')
    await expectWay(page, 'Email', 'Off', 'Add a channel for an email address')
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await eventually(() => findViolations(page)).toEqual([])

    await way(page, 'Sound').getByRole('button', { name: 'Sound off' }).click()
    await expectWay(page, 'Sound', 'Ready', 'Keep the page visible')
    await way(page, 'Screen stays on').getByRole('button', { name: 'Keep screen awake' }).click()
    await way(page, 'Screen stays on').locator('[aria-pressed=true]').waitFor()
    await admin.post(rules, { name: 'All', notification_channel_ids: [id] })
    await expectWay(page, 'ntfy', 'Ready', 'Sends to RF crew.')
    await way(page, 'ntfy').getByRole('link', { name: 'Channels' }).click()
    await page.getByRole('button', { name: 'QR code RF crew' }).waitFor()
  })

  it('asks for HTTPS where the browser requires it, and for a channel where it shows no notifications', async () => {
    const app = await startApp({ config: { server: { allowed_hosts: ['mics.example'] } } })
    const page = await browser.openAs(app, 'operator', path, phone)
    // As in browsers on phones.
    await page.addInitScript(() => {
      const { isSecureContext } = window
      const refuse = () => {
        throw new TypeError('Illegal constructor')
      }
      const missing = new Proxy(Notification, { construct: refuse })
      Object.defineProperty(window, 'Notification', { value: missing })
      const isPlain = sessionStorage.getItem('plain') !== null
      Object.defineProperty(window, 'isSecureContext', { value: isSecureContext && !isPlain })
    })
    await page.reload()
    await expectWay(page, 'Browser notifications', 'Not available', 'Browsers on phones show no notifications')
    await eventually(() => page.getByRole('button', { name: 'Alarm notifications' }).count()).toBe(0)

    await page.evaluate(() => sessionStorage.setItem('plain', 'true'))
    await page.reload()
    for (const title of ['Screen stays on', 'Browser notifications', 'Micwatch as an app']) {
      await expectWay(page, title, 'Not available', 'Open Micwatch over HTTPS')
    }
    await expectWay(page, 'Sound', 'Off')
    await eventually(() => findViolations(page)).toEqual([])
    await way(page, 'Screen stays on').getByRole('link', { name: 'Set up HTTPS' }).click()
    await page.getByRole('heading', { name: 'Security guide' }).waitFor()
  })
})
