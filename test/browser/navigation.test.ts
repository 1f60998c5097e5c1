/** Navigation and unknown pages in a browser against a real service. */

import type { Route } from 'playwright-core'
import { expect, it } from 'vitest'
import { configFor, startApp, startShure, until } from '../support/app.ts'
import { browserForTests, dialog, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const { open, openAs } = browserForTests()

it.concurrent('returns a not-found page to browsers and an error object to programs', async () => {
  const app = await startApp({ config: { server: { mount: '/venue' } } })
  const page = await open(app, '/')
  const response = await page.goto(`${app.url}/no/such/page?x=1`)
  expect(response?.status()).toBe(404)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'Back to the monitor' }).click()
  await page.waitForURL(`${app.url}/`)

  const html = { accept: 'text/html,*/*' }
  const responses = await Promise.all([
    app.get('/no/such/page'),
    app.get('/api/no-such-thing', html),
    app.get('/api/receivers/99999/', html),
    app.send('DELETE', '/no/such/page', { headers: html }),
  ])
  for (const { status, json } of responses) expect({ status, error: json.status }).toEqual({ status: 404, error: 404 })
})

it.concurrent('reaches every page with at most two presses from the bar at the bottom of a phone', async () => {
  const app = await startApp()
  const page = await open(app, '/', { ...phone, viewport: { width: 320, height: 640 } })
  const bar = page.getByRole('navigation', { name: 'Pages' })
  for (const path of ['/', '/about', '/nowhere']) {
    await page.goto(app.url + path)
    await bar.getByRole('button', { name: 'More' }).click()
    await eventually(() => findViolations(page)).toEqual([])
    await bar.getByRole('link', { name: 'Wall' }).click()
    await page.waitForURL(`${app.url}/wall`)
    await page.goBack()
    await eventually(() => scrollsHorizontally(page)).toBe(false)
  }
  await bar.getByRole('link', { name: 'Alerts' }).click()
  await page.waitForURL(`${app.url}/alerts`)
  await bar.getByRole('link', { name: 'Check' }).click()
  await page.waitForURL(`${app.url}/check`)
  const heights = await page.evaluate<number[]>(
    `[...document.querySelectorAll('.status-line > button, .bottom-bar > *, .top-bar :is(a, button)')]
      .filter((element) => element.checkVisibility())
      .map((element) => element.getBoundingClientRect().height)`,
  )
  expect(heights.length).toBeGreaterThan(5)
  for (const height of heights) expect(height).toBeGreaterThanOrEqual(44)
  expect((await page.locator('.status-line').boundingBox())?.height).toBeLessThan(100)
})

it.concurrent('has menus of at most eight entries', async () => {
  const app = await startApp()
  const page = await openAs(app, 'admin', '/')
  const bar = page.getByRole('navigation', { name: 'Pages' })
  await bar.getByRole('link', { name: 'Admin' }).waitFor()
  await eventually(() => bar.locator('> a').count()).toBeLessThanOrEqual(8)
  await page.getByRole('heading', { name: 'No systems configured' }).waitFor()
  for (const menu of await page.locator('button[popovertarget]').all()) {
    await menu.click()
    const entries = page.locator('[popover]:popover-open :is(a, button, select)')
    await eventually(() => entries.count()).toBeGreaterThan(0)
    await eventually(() => entries.count()).toBeLessThanOrEqual(8)
    await page.keyboard.press('Escape')
  }
})

it.concurrent('opens the pages, slots, people and actions that the role permits from the command palette', async () => {
  const shure = await startShure({ receivers: 1, channelsPerReceiver: 2 })
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('both slots are known', async () => (await app.get('/api/slots/')).json.length === 2)
  await app.put('/api/slots/2/', { performer_name: 'Nora' })
  await app.post('/api/performers/', { name: 'Ida Lang' })
  const page = await openAs(app, 'operator', '/about')
  const options = dialog(page).getByRole('option')
  await page.getByRole('banner').getByRole('button', { name: 'Search' }).click()
  await page.getByRole('option', { name: 'Monitor Page' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.type('nora')
  await eventually(() => options.allInnerTexts()).toEqual([expect.stringMatching(/^2 Nora/)])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: '2 Nora' }).waitFor()

  await page.keyboard.press('Control+k')
  await page.keyboard.type('ida')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/admin/performers')
  await page.keyboard.press('Meta+k')
  await page.keyboard.type('token')
  await page.getByText('Nothing found').waitFor()
  await page.keyboard.press('Escape')
  await page.goto(app.url)
  await page.locator('.card').first().waitFor()
  // Text that is typed while the palette loads is kept, and triggers no shortcut of the page.
  const requests: Route[] = []
  await page.route('**/assets/palette-*.js', (route) => void requests.push(route))
  await page.keyboard.press('Control+k')
  await dialog(page).getByRole('textbox').waitFor()
  await page.keyboard.type('arra')
  await eventually(() => requests.length).toBe(1)
  await requests[0]?.continue()
  await page.getByRole('option', { name: 'Arrange' }).waitFor()
  await page.keyboard.type('nge')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Done' }).waitFor()
})

it.concurrent('has one tab stop for each region, and moves inside it with the arrow keys', async () => {
  const shure = await startShure({ receivers: 2, channelsPerReceiver: 4 })
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const page = await openAs(app, 'admin', '/')
  await eventually(() => page.locator('.card').count()).toBe(8)
  for (const region of ['.pages', '.cards']) {
    await eventually(() => page.locator(`${region} [tabindex="0"]`).count(), region).toBe(1)
  }
  await page.getByRole('link', { name: 'Monitor', exact: true }).focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const focused = () => page.evaluate('document.activeElement.textContent')
  await eventually(focused).toBe('Timeline')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await eventually(focused).toBe('Timeline')
  await page.locator('.card-link').first().focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  await eventually(() => page.evaluate(`document.activeElement.closest('.card') !== null`)).toBe(true)

  await page.keyboard.press('a')
  await page.locator('.tile').first().waitFor()
  for (const region of ['.arrange-bar', '.group-tabs', '.tiles']) {
    await eventually(() => page.locator(`${region} :is(a, button)[tabindex="0"]`).count(), region).toBe(1)
  }
  await page.locator('.tile-button').first().focus()
  await page.keyboard.press('ArrowRight')
  await eventually(focused).toMatch(/^2/)
})

it.concurrent('updates a renamed performer and a new picture on the wall within seconds', async () => {
  const shure = await startShure()
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const unit = await until('a transmitter is detected', async () => (await app.get('/api/units/')).json[0])
  const { id } = (await app.post('/api/performers/', { name: 'Ada Lovelace' })).json
  await app.post('/api/assignments/', { performer: id, wireless_unit: unit.id })
  const page = await open(app, '/wall')
  await page.locator('.card', { hasText: 'Ada Lovelace' }).waitFor()
  const headers = { 'content-type': 'application/json' }
  const change = (body: object) =>
    app.send('PUT', `/api/performers/${id}/`, { headers, body: JSON.stringify({ name: 'Augusta King', ...body }) })
  await change({})
  await page.locator('.card', { hasText: 'Augusta King' }).waitFor({ timeout: 15_000 })
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  await change({ picture: `data:image/png;base64,${png}` })
  await page.locator('.card img[src^="/api/pictures/"]').waitFor({ timeout: 15_000 })
  const width = "document.querySelector('.card img').naturalWidth"
  await until('the picture is loaded', async () => (await page.evaluate<number>(width)) === 1)
})
