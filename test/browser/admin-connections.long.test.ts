/** Real-time connections: lost in the simulator, stopped and started in the browser. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configFor, startApp, startSennheiser, startShure, until } from '../support/app.ts'
import {
  browserForTests,
  findViolations,
  messages,
  returnTo,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()
const path = '/api/admin/realtime-connections/'

async function start() {
  const [shure, sennheiser] = [await startShure(), await startSennheiser()]
  const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
  const admin = await tokenHeaders(app, 'admin')
  const statuses = async (query = '') => {
    const { json } = await app.get(path + query, admin)
    return json.map((item: { status: string }) => item.status) as string[]
  }
  await until('all connections are connected', async () => {
    const current = await statuses()
    return current.length === 4 && current.every((item) => item === 'connected')
  })
  return { app, shure, sennheiser, admin, statuses }
}

const cell = (page: Page, title: string) => rows(page).first().locator(`[data-label="${title}"]`)

it('shows and updates the status of each connection, with filters in the URL', async () => {
  const { app, shure, statuses } = await start()
  const page = await browser.openAs(app, 'viewer', '/admin/connections')
  await until('all connections are shown', async () => (await rows(page).count()) === 4)
  await eventually(() => cell(page, 'Receiver').innerText()).toMatch(/(WebSocket|Event stream)/)
  await eventually(() => cell(page, 'Duration').innerText()).toMatch(/\d+ sec$/)
  await page.getByText('No connections down.').waitFor()
  await page.getByText('Requires the administrator role.').waitFor()
  await page.getByText('Stopped by a user. Until the connection is started again', { exact: false }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await page.getByLabel('Manufacturer').selectOption('shure')
  await until('one manufacturer is shown', async () => (await rows(page).count()) === 2)
  await eventually(() => new URL(page.url()).search).toBe('?manufacturer=shure')
  shure.setFault({ type: 'status', status: 503 }, { path: /\/ws$/ })
  shure.setFault({ type: 'close-connections' })
  await until('both connections are down', async () => {
    const current = await statuses('?manufacturer=shure')
    return current.every((status) => status === 'error' || status === 'disconnected')
  })
  await returnTo(page)
  await page.getByText('2 connections down.').waitFor()
  await page.locator('td a[href^="/receivers/"]').nth(1).waitFor()
  await until('the error is shown', async () => (await cell(page, 'Last error').innerText()).length > 3)
  await page.getByLabel('Status').selectOption('connected')
  await page.getByRole('heading', { name: 'No matching connections' }).waitFor()
  await page.getByText('Filters: Status: Connected · Manufacturer: Shure').waitFor()
})

// Conformance: S-1.5.
it('stops selected connections after a confirmation, and starts them again', async () => {
  const { app, statuses } = await start()
  const page = await browser.openAs(app, 'admin', '/admin/connections?manufacturer=shure')
  await until('both connections are shown', async () => (await rows(page).count()) === 2)
  await page.getByRole('checkbox', { name: 'Select all' }).focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Stop (2)' }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop 2 connections?' })
  await dialog.getByText('Stopped connections stay stopped').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await eventually(() => statuses('?manufacturer=shure')).toEqual(['connected', 'connected'])

  await page.getByRole('button', { name: 'Stop (2)' }).click()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await messages(page).getByText('Stopped 2 connection(s).').waitFor()
  await eventually(() => statuses('?manufacturer=shure')).toEqual(['stopped', 'stopped'])
  await eventually(() => statuses('?manufacturer=sennheiser')).toEqual(['connected', 'connected'])
  await until('the status is shown', async () => (await cell(page, 'Status').innerText()) === 'Stopped')

  await page
    .getByRole('checkbox', { name: /^Select connection / })
    .first()
    .check()
  await page.getByRole('button', { name: 'Start (1)' }).click()
  await page.getByRole('dialog', { name: 'Start 1 connection?' }).getByRole('button', { name: 'Start' }).click()
  await messages(page).getByText('Started 1 connection(s).').waitFor()
  await until('the connection is connected', async () => (await statuses('?manufacturer=shure')).includes('connected'))
  await eventually(() => statuses('?manufacturer=shure')).toContain('stopped')
})

it('explains an empty list, escapes names, and fits a phone', async () => {
  const empty = await browser.openAs(await startApp(), 'admin', '/admin/connections')
  await empty.getByRole('heading', { name: 'No real-time connections' }).waitFor()

  const { app, admin } = await start()
  const { id } = (await app.receivers())[0] ?? { id: 0 }
  const headers = { ...admin, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: '<img src=x onerror=alert(1)> \u202etxet' })
  expect((await app.send('PATCH', `/api/admin/receivers/${id}/`, { headers, body })).status).toBe(200)
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'light' } as const
  const page = await browser.openAs(app, 'admin', '/admin/connections', phone)
  await page.getByText('<img src=x onerror=alert(1)> txet').waitFor()
  await eventually(() => page.locator('tbody img').count()).toBe(0)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
})

it('keeps the list when a refresh fails', async () => {
  const { app } = await start()
  const page = await browser.openAs(app, 'admin', '/admin/connections')
  await rows(page).first().waitFor()
  await page.route('**/api/admin/realtime-connections/**', (route) => route.abort())
  await returnTo(page)
  await page.getByText('Refresh failed', { exact: false }).waitFor()
  await eventually(() => rows(page).count()).toBe(4)
})
