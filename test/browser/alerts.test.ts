/** The alerts page in a browser. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { receiver, startFakeService } from '../support/browser/fake-service.ts'
import { buildAlert } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open, openAs } = browserForTests()

/** Starts a service with a critical battery, whose alert is open. */
async function startWithAlert() {
  const shure = await startShure()
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const { id: device } = deviceOf(shure)
  await until('the device is known', () => app.receiver(device))
  shure.show.set(device, { name: 'Y13 Nora', battery: 6, rf_level: -52, audio_level: -18, transmitter: true }, 1)
  await until('the alert is raised', async () => (await app.get('/api/alerts/?state=open')).json.length === 1)
  return app
}

it('acknowledges an alert for all users in two steps from the monitor', async () => {
  const app = await startWithAlert()
  const [page, other] = [await openAs(app, 'operator', '/'), await openAs(app, 'viewer', '/alerts')]
  await other.getByRole('heading', { name: 'Battery critical' }).waitFor()
  const acknowledging = countSteps()
  await acknowledging.step(page.getByRole('link', { name: '1 open alert' }).click())
  const acknowledge = page.getByRole('button', { name: /^Acknowledge \d+ Y13 Nora: Battery critical$/ })
  await acknowledging.step(acknowledge.click())
  await messages(page)
    .getByText(/^Acknowledged for all users: \d+ Y13 Nora: Battery critical$/)
    .waitFor()
  await page.getByRole('heading', { name: 'No open alerts' }).waitFor()
  expect(acknowledging.count).toBe(2)

  await other.getByRole('heading', { name: 'No open alerts' }).waitFor()
  await other.reload()
  await other.getByRole('link', { name: '1 acknowledged alert' }).click()
  await other.getByText('Acknowledged by the-operator').waitFor()
  expect(new URL(other.url()).search).toBe('?state=acknowledged')

  const takingBack = countSteps()
  await takingBack.step(page.getByRole('link', { name: '1 acknowledged alert' }).click())
  await takingBack.step(page.getByRole('button', { name: /^Take back: / }).click())
  await other.getByRole('heading', { name: 'No acknowledged alerts' }).waitFor()
  expect(takingBack.count).toBe(2)
})

it('snoozes, silences and acknowledges with a note', async () => {
  const app = await startWithAlert()
  const page = await open(app, '/alerts')
  const alert = page.getByRole('listitem').filter({ hasText: 'Battery critical' })
  await alert.getByRole('button', { name: 'Snooze…' }).click()
  await eventually(() => dialog(page).getByRole('button', { name: 'Until the show ends' }).count()).toBe(0)
  await press(page, '30 min')
  await alert.getByText(/^Snoozed by a user on the local network: /).waitFor()

  await alert.getByRole('button', { name: 'Silence…' }).click()
  await dialog(page).getByLabel('Reason').fill('Line check')
  await press(page, 'Silence')
  await alert.getByText('Silenced').waitFor()
  const silences = page.getByRole('region', { name: 'Silences in effect' })
  await silences.getByText(/^Battery critical · \d+ Y13 Nora$/).waitFor()
  await silences.getByText('Line check').waitFor()
  await silences.getByRole('button', { name: /^End the silence/ }).click()
  await silences.waitFor({ state: 'detached' })

  await alert.getByRole('button', { name: 'With note…' }).click()
  await dialog(page).getByLabel('Note').fill('Spare pack is on its way')
  await press(page, 'Acknowledge')
  await page.getByRole('button', { name: 'Acknowledged 1' }).click()
  await page.getByText('Spare pack is on its way').waitFor()
})

// Conformance: C-21.113.
it('selects all alerts, and keeps the list and its filters in the address', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}, {}, {}])]
  const data = (slot: number) => ({ ...buildAlert().data, name: `H0${slot} Singer ${slot}`, slot, battery: 15 })
  service.data.alerts = [1, 2, 3].map((id) => buildAlert({ id, channel_id: id, data: data(id) }))
  service.data.alerts.push(buildAlert({ id: 4, kind: 'something_new', message: 'Something new', channel_id: 1 }))
  const session = { user: null, role: 'operator', csrf_token: null, permissions: ['read', 'operate'] }
  service.data.responses['/api/auth/session'] = session
  const cleared = { ...buildAlert({ id: 9, kind: 'rf_weak', data: data(2) }), state: 'cleared' }
  const results = [{ ...cleared, cleared_at: '2026-11-20T19:30:00.000Z' }]
  service.data.responses['/api/alerts/'] = { count: 1, next: null, previous: null, results }
  const page = await open(service, '/alerts', phone)
  const items = page.locator('.alert')
  await eventually(() => items.count()).toBe(4)
  await page.getByRole('heading', { name: 'Something new' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('button', { name: 'Acknowledge (4)' }).waitFor()
  await page.getByRole('button', { name: 'Filters' }).click()
  const channel = page.getByRole('combobox', { name: 'Channel' })
  await channel.fill('singer')
  const options = page.getByRole('listbox').getByRole('option')
  await eventually(() => options.count()).toBe(3)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('option', { name: '2 H02 Singer 2' }).click()
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor()
  await eventually(() => items.count()).toBe(1)
  await page.getByRole('button', { name: 'Cleared' }).click()
  await page.getByRole('heading', { name: 'RF weak' }).waitFor()
  await eventually(() => new URL(page.url()).search).toBe('?channel=2&state=cleared')
  await page.goBack()
  await eventually(() => items.count()).toBe(1)
  await page.getByRole('heading', { name: 'Battery low' }).waitFor()

  // The address has only the id.
  await page.reload()
  await page.getByRole('button', { name: 'Filters (1)' }).click()
  await eventually(() => channel.inputValue()).toBe('2 H02 Singer 2')
  await channel.fill('nobody')
  await page.getByText('Nothing found').waitFor()
  await channel.press('Escape')
  await eventually(() => channel.inputValue()).toBe('2 H02 Singer 2')
  await channel.fill('')
  await channel.press('Tab')
  await eventually(() => items.count()).toBe(4)
})

it('shows alerts without actions to viewers, and names the required role', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}])]
  service.data.alerts = [buildAlert()]
  const session = { user: null, role: 'viewer', csrf_token: null, permissions: ['read'] }
  service.data.responses['/api/auth/session'] = session
  const page = await open(service, '/alerts')
  await page.getByText('require the operator role').waitFor()
  await page.getByRole('heading', { name: 'Battery low' }).waitFor()
  await eventually(() =>
    page
      .getByRole('main')
      .getByRole('button', { name: /^Acknowledge( |$)|…$/ })
      .count(),
  ).toBe(1)
})
