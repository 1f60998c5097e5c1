/** Moving between pages in a browser: without a reload, over one connection. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startApp, until } from '../support/app.ts'
import { browserForTests, findViolations } from '../support/browser/browser.ts'
import { receiver, startFakeService } from '../support/browser/fake-service.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open, openAs } = browserForTests()

async function start(count: number) {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.receivers = Array.from({ length: count }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  return service
}

const follow = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()

it('opens pages without a reload, and keeps the connection open', async () => {
  const service = await start(2)
  const page = await open(service, '/')
  await page.locator('.card').first().waitFor()
  const loads: string[] = []
  page.on('load', () => loads.push(page.url()))
  await page.getByRole('link', { name: /^3 H03 Singer 3: details/ }).click()
  await page.waitForURL(`${service.url}/channels/3`)
  await page.getByRole('heading', { name: '3 H03 Singer 3' }).waitFor()
  await follow(page, 'Alerts')
  await page.getByRole('heading', { name: 'No open alerts' }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'More' }).click()
  await follow(page, 'About')
  await page.getByRole('heading', { name: 'About Micwatch' }).waitFor()
  await follow(page, 'Wall')
  await eventually(() => page.locator('.wall .card').count()).toBe(8)
  await page.keyboard.press('d')
  await page.waitForURL(`${service.url}/`)
  await eventually(() => page.locator('.cards .card').count()).toBe(8)
  expect(loads).toEqual([])
  expect(service.connections).toEqual(['/venue/ws?ack=1&levels=false'])
})

it('requests levels when a page that shows them is opened', async () => {
  const service = await start(1)
  const page = await open(service, '/alerts')
  await page.getByRole('heading', { name: 'No open alerts' }).waitFor()
  await follow(page, 'Monitor')
  await eventually(() => page.locator('.card').count()).toBe(4)
  await until('the levels are requested', () => service.received.length > 0)
  expect(service.received).toEqual([{ type: 'select_levels', levels: 'full' }])
  expect(service.connections).toEqual(['/venue/ws?ack=1&levels=false'])
  await page.getByRole('link', { name: /^3 H03 Singer 3: details/ }).click()
  await until('those of one site are requested', () => service.received.length > 1)
  expect(service.received.at(-1)).toEqual({ type: 'select_levels', levels: 'full', sites: ['local'] })
  await eventually(() => page.locator('.banner').count()).toBe(0)
})

it('restores the scroll position, the search and the sort order with Back', async () => {
  const service = await start(40)
  const page = await open(service, '/?sort=name')
  await page.locator('.card').first().waitFor()
  await page.getByLabel('Search').fill('rack')
  await page.waitForURL(/q=rack/)
  // Without the focus, the field shows the search that the list has. A page that is still being filtered forgets how
  // far it is scrolled.
  await page.getByLabel('Search').blur()
  await eventually(() => page.getByLabel('Search').inputValue()).toBe('rack')
  await page.evaluate('scrollTo(0, 1200)')
  await page.locator('.card', { hasText: 'Singer 80' }).scrollIntoViewIfNeeded()
  const scrolled = await page.evaluate<number>('scrollY')
  expect(scrolled).toBeGreaterThan(300)
  await page.getByRole('link', { name: /^80 H80 Singer 80: details/ }).click()
  await page.getByRole('heading', { name: '80 H80 Singer 80' }).waitFor()
  await eventually(() => page.evaluate('scrollY')).toBe(0)
  await page.goBack()
  await eventually(() => page.evaluate('scrollY')).toBe(scrolled)
  await eventually(() => page.getByLabel('Search').inputValue()).toBe('rack')
  await eventually(() => new URL(page.url()).search).toBe('?q=rack&sort=name')
})

it('lists only the pages that the user may open', async () => {
  const app = await startApp()
  const listAdminPages = (page: Page) =>
    page.getByRole('navigation', { name: 'Admin pages' }).getByRole('link').allInnerTexts()
  const viewer = await openAs(app, 'viewer', '/admin/groups')
  await eventually(() => listAdminPages(viewer)).toContain('Groups')
  const names = await listAdminPages(viewer)
  const admin = await openAs(app, 'admin', '/admin/groups')
  await eventually(async () => (await listAdminPages(admin)).length).toBe(names.length + 5)
  const hidden = (await listAdminPages(admin)).filter((name) => !names.includes(name))
  expect(hidden).toEqual(['Notifications', 'Backups', 'Users', 'Tokens', 'Audit log'])
})

it('names a page that takes long to load, while the current one stays', async () => {
  const service = await start(1)
  const page = await open(service, '/')
  const card = page.locator('.card').first()
  await card.waitFor()
  let load = () => {}
  const loading = new Promise<void>((resolve) => {
    load = resolve
  })
  await page.route(/assets\/frequencies-/, (route) => loading.then(() => route.continue()))
  await follow(page, 'Frequencies')
  await page.getByText('Loading Frequencies…', { exact: true }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => card.isVisible()).toBe(true)
  load()
  await page.getByRole('heading', { name: 'Frequencies', exact: true }).waitFor()
  await page.getByText('Loading Frequencies…', { exact: true }).waitFor({ state: 'detached' })
})

it('distinguishes a page that could not be loaded from one that failed', async () => {
  const service = await start(1)
  // Errors in the console of this page are expected.
  const page = await (await open(service, '/')).context().newPage()
  await page.route(/assets\/about-/, (route) => route.abort())
  await page.goto(`${service.url}/about`)
  await page.getByRole('heading', { name: 'This page did not load' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await page.unroute(/assets\/about-/)
  const body = 'export function About() { throw new Error("out of paper") }'
  await page.route(/assets\/about-/, (route) => route.fulfill({ contentType: 'text/javascript', body }))
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'This page has failed' }).waitFor()
  await page.getByText('Details').click()
  await page.getByText('Error: out of paper').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await follow(page, 'Monitor')
  await page.locator('.card').first().waitFor()
})
