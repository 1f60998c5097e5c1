/** The help in a browser, from the pages and on its own. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure } from '../support/app.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

// Conformance: C-17.48.
it.concurrent('opens from the top bar, from the keyboard shortcuts and on a phone', async () => {
  const app = await startApp({ config: { server: { mount: '/venue' } } })
  const page = await open(app, '/')
  const index = `${app.url}/help/index.html`
  const menu = page.getByRole('navigation', { name: 'Pages' })
  await menu.getByRole('button', { name: 'More' }).click()
  await menu.getByRole('link', { name: 'Help' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(index)
  await page.getByRole('navigation', { name: 'Documents' }).getByRole('link', { name: 'Colours and states' }).click()
  await page.getByRole('heading', { name: 'Colours and states' }).waitFor()
  await page.getByRole('link', { name: 'Micwatch' }).first().click()
  await page.waitForURL(`${app.url}/`)

  // Shown once the page is connected. It listens to keys before.
  await page.getByRole('heading', { name: 'No systems configured' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByRole('link', { name: 'User guide' }).click()
  await page.waitForURL(index)

  const mobile = await open(app, '/', phone)
  await mobile.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'More' }).click()
  await mobile.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Help' }).click()
  await mobile.waitForURL(index)
  await mobile.getByRole('link', { name: 'All documents' }).click()
  await mobile.getByRole('link', { name: 'Kiosk screens' }).last().click()
  await mobile.getByRole('heading', { name: 'Kiosk screens' }).waitFor()
})

it.concurrent('has the status line, whose entries open the pages, with its form on a phone', async () => {
  const shure = await startShure({ receivers: 1 })
  shure.show.set(deviceOf(shure).id, { transmitter: true, battery: 4 }, 1)
  const app = await startApp({ config: { server: { mount: '/venue' } }, manufacturers: [configFor(shure)] })
  const page = await open(app, '/help/faq.html')
  await eventually(() => page.title()).toBe('(1) Questions and answers · Help · Micwatch')
  await page.getByRole('button', { name: '1 channel · 1 cause' }).click()
  await page.waitForURL(`${app.url}/?state=problems`)

  const mobile = await open(app, '/help/faq.html', phone)
  await mobile.getByRole('button', { name: '1 channel · 1 cause' }).click()
  await mobile.getByRole('link', { name: /open alert/ }).waitFor()
  await mobile.keyboard.press('Escape')
  await mobile.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Check' }).click()
  await mobile.waitForURL(`${app.url}/check`)
})

it.concurrent('says that the clock of the device is off', async () => {
  const app = await startApp()
  const page = await open(app, '/help/index.html')
  await page.addInitScript(() => {
    const now = Date.now
    Date.now = () => now() + 600_000
  })
  await page.reload()
  await page.getByText("The clock of this device is 10 min ahead of Micwatch's.").waitFor()
})

// Conformance: C-17.49.
it.concurrent.each(['light', 'dark'])('has no accessibility violations in the %s theme', async (theme) => {
  const app = await startApp()
  const page = await open(app, '/help/index.html', phone)
  for (const path of ['index', 'guide/monitor-and-wall', 'configuration']) {
    await page.goto(`${app.url}/help/${path}.html?theme=${theme}`)
    await page.locator('.status-line').waitFor()
    expect({ path, violations: await findViolations(page) }).toEqual({ path, violations: [] })
    expect({ path, isScrolling: await scrollsHorizontally(page) }).toEqual({ path, isScrolling: false })
  }
})

// Conformance: C-17.50.
it.concurrent('prints the document without navigation', async () => {
  const app = await startApp()
  const page = await open(app, '/help/guide/alerts.html', { colorScheme: 'dark' })
  await page.emulateMedia({ media: 'print', colorScheme: 'light' })
  await eventually(() => page.getByRole('navigation').count()).toBe(0)
  await eventually(() => page.getByRole('heading', { name: 'Alerts and sound' }).isVisible()).toBe(true)
})
