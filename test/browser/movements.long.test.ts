/** The movement log: a receiver moves in the simulator, and the movement is acknowledged in a browser. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  findViolations,
  messages,
  phone,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()

async function start() {
  const shure = withoutPush(await startShure({ richList: true, receivers: 3 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
  await until('all receivers are known', async () => (await app.receivers()).length === 3)
  const admin = await tokenHeaders(app, 'admin')
  const poll = async () => {
    const { status } = await app.post('/api/refresh/')
    expect(status).toBe(200)
  }
  // This refresh joins the first cycle if it is still running, so that every later refresh starts its own cycle.
  await poll()
  const move = async (...addresses: string[]) => {
    for (const [index, ip] of addresses.entries()) shure.show.set(deviceOf(shure, index).id, { ip })
    await poll()
  }
  const listAcknowledgers = async () => {
    const { json } = await app.get('/api/admin/movements/', admin)
    return json.map((item: { acknowledged_by: string | null }) => item.acknowledged_by) as (string | null)[]
  }
  return { app, shure, admin, move, listAcknowledgers }
}

it.concurrent('shows the old and new address and the number of detections', async () => {
  const { app, shure, move } = await start()
  const page = await browser.openAs(app, 'viewer', '/admin/movements')
  await page.getByRole('heading', { name: 'No movements to acknowledge' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  const { id, ip, serial_number } = { ...deviceOf(shure), ip: deviceOf(shure).ip ?? '' }
  const { id: receiverId, name } = await app.receiver(id)
  await move('10.77.0.1')
  // The page updates without a reload.
  await rows(page).waitFor()
  for (const part of [name, serial_number ?? '', ip, '10.77.0.1', 'by a poll', 'Not yet']) {
    await eventually(() => rows(page).innerText()).toContain(part)
  }
  await eventually(() => rows(page).getByRole('link', { name }).getAttribute('href')).toBe(`/receivers/${receiverId}`)
  await page.getByText('Requires the operator role.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  // The receiver moves back and then repeats the movement, which increases the count of the existing entry.
  await move(ip)
  await move('10.77.0.1')
  await until(
    'the detection is counted',
    async () => (await rows(page).first().locator('[data-label="Count"]').innerText()) === '2',
  )
})

// Conformance: S-1.5.
it.concurrent('acknowledges individual movements and all movements', async () => {
  const { app, move, listAcknowledgers } = await start()
  await move('10.77.0.1', '10.77.0.2', '10.77.0.3')
  const page = await browser.openAs(app, 'operator', '/admin/movements')
  await rows(page).first().waitFor()
  await page.getByRole('checkbox', { name: /^Select movement 2 / }).check()
  await page.getByRole('button', { name: 'Acknowledge (1)' }).click()
  await page.getByRole('dialog', { name: 'Acknowledge 1 movement?' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await messages(page).getByText('Acknowledged 1 movement(s).').waitFor()
  await eventually(() => listAcknowledgers()).toEqual([null, 'the-operator', null])

  await page.getByRole('button', { name: 'Acknowledge all (2)' }).click()
  await page.getByRole('dialog', { name: 'Acknowledge 2 movements?' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge all' }).click()
  await page.getByRole('heading', { name: 'No movements to acknowledge' }).waitFor()
  await eventually(() => listAcknowledgers()).toEqual(['the-operator', 'the-operator', 'the-operator'])

  await page.getByLabel('Acknowledged').selectOption('Any')
  await eventually(() => new URL(page.url()).search).toBe('?acknowledged=any')
  await rows(page).first().waitFor()
  await eventually(() => rows(page).count()).toBe(3)
  await eventually(() => rows(page).first().innerText()).toContain('by the-operator')
})

it.concurrent('shows location changes, escapes names, and fits a phone', async () => {
  const { app, admin, shure, move } = await start()
  const { json: location } = await app.post('/api/admin/locations/', { name: '<b>Stage left</b>' }, admin)
  const { id } = await app.receiver(deviceOf(shure).id)
  const headers = { ...admin, 'content-type': 'application/json' }
  const body = JSON.stringify({ location: location.id, reason: 'for the second act' })
  expect((await app.send('PATCH', `/api/admin/receivers/${id}/`, { headers, body })).status).toBe(200)
  await move('10.77.0.1')
  const page = await browser.openAs(app, 'operator', '/admin/movements', phone)
  await rows(page).first().waitFor()
  for (const part of ['none', '<b>Stage left</b>', 'for the second act', 'manually']) {
    await eventually(() => rows(page).first().innerText()).toContain(part)
  }
  await eventually(() => page.locator('tbody b').count()).toBe(0)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
})

it.concurrent('shows long logs in pages, and returns to the first page when a page no longer exists', async () => {
  const { app, admin } = await start()
  const { id } = (await app.receivers())[0] ?? { id: 0 }
  const headers = { ...admin, 'content-type': 'application/json' }
  for (let index = 1; index <= 52; index += 1) {
    const body = JSON.stringify({ ip: `10.88.0.${index}` })
    expect((await app.send('PATCH', `/api/admin/receivers/${id}/`, { headers, body })).status).toBe(200)
  }
  const page = await browser.openAs(app, 'operator', '/admin/movements')
  await page.getByText('1–50 of 52').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('51–52 of 52').waitFor()
  await eventually(() => new URL(page.url()).search).toBe('?page=2')
  await page.getByRole('button', { name: 'Acknowledge all (2)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge all' }).click()
  await page.getByText('1–50 of 50').waitFor()
  await eventually(() => new URL(page.url()).search).toBe('')
})

it.concurrent('reports a failed request and retries on request', async () => {
  const { app, move } = await start()
  await move('10.77.0.1')
  const page = await browser.openAs(app, 'operator', '/sign-in')
  await page.route('**/api/admin/movements/**', (route) => route.abort())
  await page.goto(`${app.url}/admin/movements`)
  await page.getByRole('heading', { name: 'Cannot reach Micwatch' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.unroute('**/api/admin/movements/**')
  await page.getByRole('button', { name: 'Retry now' }).click()
  await rows(page).waitFor()
})
