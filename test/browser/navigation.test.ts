/** Navigation and unknown pages in a browser against a real service. */

import { expect, it } from 'vitest'
import { configFor, startApp, startShure, until } from '../support/app.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

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

it.concurrent('links to the wall from every page', async () => {
  const app = await startApp()
  const page = await open(app, '/', { viewport: { width: 390, height: 844 } })
  for (const path of ['/', '/about', '/nowhere']) {
    await page.goto(app.url + path)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Wall' }).click()
    await page.waitForURL(`${app.url}/wall`)
    await page.goBack()
    await eventually(() => scrollsHorizontally(page)).toBe(false)
  }
})

it.concurrent('scrolls the menu of a phone to the current page', async () => {
  const app = await startApp()
  const page = await open(app, '/about', phone)
  const menu = page.getByRole('navigation', { name: 'Pages' })
  for (const name of ['About', 'Monitor', 'Shows']) {
    if (name !== 'About') await menu.getByRole('link', { name }).click()
    const isVisible = () =>
      menu.locator('[aria-current="page"]').evaluate((link) => {
        const [inner, outer] = [link, link.parentElement ?? link].map((element) => element.getBoundingClientRect())
        return [
          link.textContent,
          inner !== undefined && outer !== undefined && inner.right <= outer.right && inner.left >= outer.left,
        ]
      })
    await eventually(isVisible).toEqual([name, true])
  }
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
