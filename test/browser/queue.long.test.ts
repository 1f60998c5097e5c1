/** The discovery queue in a browser, from a conflict in a simulated system to the review. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Simulator } from '../../simulators/show/simulator.ts'
import type { Role } from '../../src/contract/values.ts'
import { configFor, deviceOf, startApp, startSennheiser, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  findViolations,
  messages,
  phone,
  returnTo,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()
const idlePolling = { poll_interval: 3600 }
const hostile = '<img src=x onerror=alert(1)>\u202Egnp'

async function start(options: object = {}) {
  const shure = withoutPush(await startShure({ richList: true, receivers: 3 }))
  const sennheiser = withoutPush(await startSennheiser({ richList: true }))
  const systems: readonly Simulator[] = [shure, sennheiser]
  const app = await startApp({ ...options, manufacturers: systems.map((system) => configFor(system, idlePolling)) })
  await until('all receivers are known', async () => (await app.receivers()).length === 5)
  const admin = await tokenHeaders(app, 'admin')
  const poll = async () => {
    const { status } = await app.post('/api/refresh/', undefined, admin)
    expect(status).toBe(200)
  }
  // This refresh joins the first cycle if it is still running, so that every later refresh starts its own cycle.
  await poll()
  const listStatuses = async () => {
    const { json } = await app.get('/api/admin/discovery-queue/', admin)
    return json.map((entry: { status: string }) => entry.status) as string[]
  }
  /** Adds devices whose IP addresses are in use. */
  const addConflicts = async (...names: string[]) => {
    for (const [index, name] of names.entries()) {
      shure.show.add('shure', { ip: deviceOf(shure, index).ip, name, serial_number: `VISITOR-${index + 1}` })
    }
    await poll()
  }
  const open = (role: Role = 'admin', path = '/admin/queue', contextOptions: object = {}) =>
    browser.openAs(app, role, path, contextOptions)
  return { app, shure, sennheiser, admin, poll, listStatuses, addConflicts, open }
}

const entries = (page: Page) => page.locator('.entry')
const checkbox = (page: Page, name: string) =>
  page.getByRole('checkbox', { name: new RegExp(`^Select entry .*${name}`) })
const button = (page: Page, name: RegExp | string) => page.getByRole('button', { name })

async function confirm(page: Page, action: string) {
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click()
}

it.concurrent('shows each device next to the conflicting receiver with the differences', async () => {
  const { shure, addConflicts, open } = await start()
  const page = await open()
  await page.getByRole('heading', { name: 'No pending devices' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  // The entry appears without a reload.
  await addConflicts('Visiting Rack')
  await entries(page).waitFor()
  await entries(page).locator('a[href^="/receivers/"]').waitFor()
  const holder = deviceOf(shure)
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) })
  await eventually(() => row('Name').innerText()).toMatch(/differs\s+Visiting Rack\s+\S/)
  await eventually(() => row('Serial number').innerText()).toContain(`VISITOR-1\t${holder.serial_number}`)
  await eventually(() => row('IP address').innerText()).toMatch(
    new RegExp(`^IP address\\s+${holder.ip}\\s+${holder.ip}$`),
  )
  await eventually(() => row('MAC address').getAttribute('data-differs')).toBe('true')
  await eventually(() => row('IP address').getAttribute('data-differs')).toBe(null)
  await eventually(() => row('Last seen').innerText()).toMatch(/ago|just now/)
  await eventually(() => page.getByText('1 device pending').count()).toBe(1)
  await page.getByText('All reported data').click()
  await eventually(() => page.locator('.metadata').innerText()).toContain('"VISITOR-1"')
  await eventually(() => findViolations(page)).toEqual([])
})

// Conformance: S-1.5.
it.concurrent('approves selected devices by keyboard, and shows the message from the service', async () => {
  const { app, addConflicts, listStatuses, open } = await start()
  await addConflicts('Visiting Rack', 'Second Guest')
  const page = await open()
  await checkbox(page, 'Visiting Rack').focus()
  await page.keyboard.press('Space')
  await page.getByText('1 of 2 selected').waitFor()
  await button(page, 'Approve (1)').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Approve 1 device?' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await eventually(() => page.getByRole('dialog').count()).toBe(0)
  await eventually(() => listStatuses()).toEqual(['pending', 'pending'])
  // The focus has returned to the button, so Enter opens the dialog again.
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await messages(page).getByText('Approved and imported 1 device(s).').waitFor()
  await eventually(() => listStatuses()).toEqual(['imported', 'pending'])
  expect((await app.receivers()).map(({ name }) => name)).toContain('Visiting Rack')
  await until('the entry is removed from the list', async () => (await entries(page).count()) === 1)
  await eventually(() => messages(page).getByRole('button', { name: 'Undo' }).count()).toBe(0)
})

it.concurrent.each([
  ['Reject', 'Reject 2 devices?', 'Rejected 2 device(s).', 'rejected'],
  ['Mark as duplicate', 'Mark 2 devices as duplicates?', 'Marked 2 device(s) as duplicate.', 'duplicate'],
])('%s shows the number of devices and can be undone', async (action, title, message, status) => {
  const { addConflicts, listStatuses, open } = await start()
  await addConflicts('Visiting Rack', 'Second Guest')
  const page = await open()
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await button(page, `${action} (2)`).click()
  await page.getByRole('dialog', { name: title }).waitFor()
  await confirm(page, action)
  await messages(page).getByText(message).waitFor()
  await eventually(() => listStatuses()).toEqual([status, status])
  await page.getByRole('heading', { name: 'No pending devices' }).waitFor()
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('Reopened 2 device(s).').waitFor()
  await eventually(() => listStatuses()).toEqual(['pending', 'pending'])
  await until('the entries are listed again', async () => (await entries(page).count()) === 2)
})

it.concurrent('reopens rejected devices', async () => {
  const { app, admin, addConflicts, listStatuses, open } = await start()
  await addConflicts('Visiting Rack')
  await app.post('/api/admin/discovery-queue/reject/', { ids: [1] }, admin)
  const page = await open('admin', '/admin/queue?status=rejected')
  await page.getByText("Reviewed by a test's admin").waitFor()
  await checkbox(page, 'Visiting Rack').check()
  await eventually(() => button(page, 'Approve').isDisabled()).toBe(true)
  await button(page, 'Reopen (1)').click()
  await confirm(page, 'Reopen')
  await messages(page).getByText('Reopened 1 device(s).').waitFor()
  await eventually(() => listStatuses()).toEqual(['pending'])
})

it.concurrent('lists the devices for which an action failed', async () => {
  const { app, admin, addConflicts, listStatuses, open } = await start()
  await addConflicts('Visiting Rack', 'Second Guest')
  const page = await open()
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await button(page, 'Reject (2)').click()
  // Another user reviews the entry first.
  await app.post('/api/admin/discovery-queue/approve/', { ids: [1] }, admin)
  await confirm(page, 'Reject')
  await page.getByText('1 failed:').waitFor()
  await page.getByText('Entry 1 has already been reviewed: it is imported.').waitFor()
  await messages(page).getByText('Rejected 1 device(s).').waitFor()
  await eventually(() => listStatuses()).toEqual(['imported', 'rejected'])
  await eventually(() => findViolations(page)).toEqual([])
})

it.concurrent('stores its filters in the URL, and shows them for an empty result', async () => {
  const { addConflicts, open } = await start({ config: { server: { mount: '/venue' } } })
  await addConflicts('Visiting Rack')
  const page = await open('admin', '/admin/queue?manufacturer=shure&status=upside-down')
  await entries(page).waitFor()
  await page.getByLabel('Manufacturer', { exact: true }).first().selectOption('sennheiser')
  await page.getByRole('heading', { name: 'No matching devices' }).waitFor()
  await page.getByText('Filters: Manufacturer: Sennheiser').waitFor()
  await page.goBack()
  await entries(page).waitFor()
  await page.getByLabel('Status').selectOption('imported')
  await page.getByLabel('Address conflict').selectOption('false')
  await page.getByText('Filters: Status: Imported · Manufacturer: Shure · Address conflict: No').waitFor()
  await eventually(() => new URL(page.url()).search).toBe('?manufacturer=shure&status=imported&is_ip_conflict=false')
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await entries(page).waitFor()

  await page.getByLabel('Found after').fill('2999-01-01')
  await page.getByRole('heading', { name: 'No matching devices' }).waitFor()
  await page.getByLabel('Found after').fill('2020-01-01')
  await entries(page).waitFor()
  await page.getByLabel('Found before').fill('2020-01-02')
  await page.getByRole('heading', { name: 'No matching devices' }).waitFor()
})

it.concurrent('keeps its content and shows its age while the service is unreachable, and recovers', async () => {
  const { addConflicts, open } = await start()
  await addConflicts('Visiting Rack')
  const page = await open()
  await entries(page).waitFor()
  await checkbox(page, 'Visiting Rack').check()
  await page.route('**/api/admin/**', (route) => route.abort())
  await returnTo(page)
  await page.getByText('Refresh failed: The connection failed.').waitFor()
  await page.getByText(/Data from \d+ sec ago/).waitFor()
  await eventually(() => entries(page).count()).toBe(1)
  await eventually(() => checkbox(page, 'Visiting Rack').isChecked()).toBe(true)
  await eventually(() => findViolations(page)).toEqual([])
  await button(page, 'Reject (1)').click()
  await confirm(page, 'Reject')
  await page.getByRole('dialog').getByText('The connection failed.').waitFor()
  await page.keyboard.press('Escape')
  await page.unroute('**/api/admin/**')
  await button(page, 'Retry now').click()
  await until('the warning is hidden', async () => (await page.locator('.not-refreshed').count()) === 0)

  await page.route('**/api/admin/**', (route) =>
    route.fulfill({ status: 503, json: { error: 'The database is busy or unreachable. Try again.', status: 503 } }),
  )
  await page.reload()
  await page.getByRole('heading', { name: 'Request failed' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.unroute('**/api/admin/**')
  // A message of the service may cause the retry before the button is pressed.
  await Promise.any([button(page, 'Retry now').click(), entries(page).waitFor()])
  await entries(page).waitFor()
})

it.concurrent('reports that the session is no longer valid, and keeps the selection', async () => {
  const { app, admin, addConflicts, open } = await start()
  await addConflicts('Visiting Rack')
  const page = await open()
  await checkbox(page, 'Visiting Rack').check()
  const [user] = (await app.get('/api/admin/users/', admin)).json
  const headers = { ...admin, 'content-type': 'application/json' }
  const change = (body: object) =>
    app.send('PATCH', `/api/admin/users/${user.id}/`, { headers, body: JSON.stringify(body) })
  await app.post('/api/admin/users/', { username: 'second', password: 'correct horse battery', role: 'admin' }, admin)
  await change({ is_active: false })
  await page
    .getByRole('link', { name: /^Sign in again in another tab/ })
    .first()
    .waitFor({ timeout: 15_000 })
  await eventually(() => checkbox(page, 'Visiting Rack').isChecked()).toBe(true)
  await eventually(() => findViolations(page)).toEqual([])
})

it.concurrent('shows a viewer the queue and the required role', async () => {
  const { addConflicts, open } = await start()
  await addConflicts('Visiting Rack')
  const page = await open('operator')
  await page.getByText('Requires the administrator role.').waitFor()
  await entries(page).waitFor()
  await eventually(() => button(page, /^Approve/).count()).toBe(0)
})

it.concurrent('escapes hostile names and fits a phone', async () => {
  const { addConflicts, open } = await start()
  await addConflicts(hostile, 'W'.repeat(200))
  const page = await open('admin', '/admin/queue', phone)
  await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>gnp' }).waitFor()
  await eventually(() => page.locator('.entry img').count()).toBe(0)
  await page.getByText('All reported data').first().click()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  // Touch targets are at least 44 pixels.
  const heights = await page.evaluate<number[]>(
    "[...document.querySelectorAll('main button, main select, main .tick')].map((element) => element.getBoundingClientRect().height).filter((height) => height > 0)",
  )
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
  await button(page, 'Filters').click()
  await page.getByLabel('Status').selectOption('rejected')
  await page.getByRole('heading', { name: 'No matching devices' }).waitFor()
  await button(page, 'Admin menu').click()
  await page.getByRole('link', { name: 'Movements' }).click()
  await page.getByRole('heading', { name: 'Movements', level: 1 }).waitFor()
})
