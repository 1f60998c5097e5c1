/** Questions of a show that the pages answer in few steps. Other tests count those of the tasks that they do. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { noData } from '../../src/domain/alerts/alert.ts'
import { browserForTests, countSteps, phone } from '../support/browser/browser.ts'
import { type FakeService, offline, receiver, startFakeService } from '../support/browser/fake-service.ts'
import { events, start, zoomTo } from '../support/browser/timeline-page.ts'
import { buildAlert, buildSlotRecord } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

/** Three racks; slot 7 is Nora's, with pack H12, and the third rack is offline. */
async function startShow(): Promise<FakeService> {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  const lost = offline(receiver(3, [{}, {}]))
  service.data.receivers = [
    receiver(1, [{}, { battery: 40 }, {}, {}]),
    receiver(2, [{ battery: 15 }, {}, { name: 'H12', battery: 5 }]),
    lost,
  ]
  service.data.slotRecords = [buildSlotRecord(7, { title: 'Nora' })]
  const data = { ...noData, receiver: 'Rack 3' }
  const about = { channel_id: null, receiver_id: 3, data }
  service.data.alerts = [buildAlert({ kind: 'receiver_offline', severity: 'critical', ...about })]
  service.data.responses['/api/receivers/3/'] = {
    ...lost,
    last_seen: '2026-11-22T18:59:30.000Z',
    model_status: null,
    sources: [],
  }
  return service
}

const firstCard = (page: Page) => page.locator('.card').first()

// Conformance: C-21.123.
it('shows the worst battery in one step, and who wears a pack in one', async () => {
  const service = await startShow()
  const page = await open(service, '/')
  const battery = countSteps()
  await battery.step(page.getByRole('button', { name: '3 batteries at 50% or less' }).click())
  await eventually(() => firstCard(page).innerText()).toMatch(/Nora.*5%/s)
  expect(battery.count).toBe(1)

  await page.goto(service.url)
  const pack = countSteps()
  await pack.step(page.getByRole('searchbox').fill('h12'))
  await eventually(() => page.locator('.card').count()).toBe(1)
  await eventually(() => firstCard(page).innerText()).toContain('Nora')
  expect(pack.count).toBe(1)
})

// Conformance: C-21.123.
it('shows why a receiver is offline, and since when, in two steps', async () => {
  const service = await startShow()
  const page = await open(service, '/')
  const steps = countSteps()
  await steps.step(page.getByRole('link', { name: '1 open alert' }).click())
  await steps.step(page.getByRole('link', { name: 'Rack 3' }).click())
  const state = page.getByRole('region', { name: 'State' })
  await state.getByText(/^since .*7:00:00/).waitFor()
  await state.getByText('Its source responds, but the receiver does not.').waitFor()
  expect(steps.count).toBe(2)
})

// Conformance: C-21.123.
it('shows what happened to a channel days ago in three steps', async () => {
  const { service } = await start()
  const page = await open(service, '/')
  const steps = countSteps()
  await steps.step(page.getByRole('link', { name: 'Timeline', exact: true }).click())
  await steps.step(zoomTo(page, '1 week'))
  await steps.step(events(page).getByRole('button', { name: 'RF dropout' }).click())
  await page.getByRole('region', { name: 'Playhead' }).getByText('7 H07 Singer 7').waitFor()
  expect(steps.count).toBe(3)
})

// Conformance: C-21.123.
it('shows on a phone without a step what is wrong, where, and what to bring', async () => {
  const service = await startShow()
  const page = await open(service, '/', phone)
  await firstCard(page).waitFor()
  const card = page.locator('.card', { hasText: 'Nora' })
  await eventually(() => card.innerText()).toMatch(/Battery critical.*5%.*Rack 2/s)
  const { y = 0, height = 0 } = (await card.boundingBox()) ?? {}
  expect(y + height).toBeLessThan(phone.viewport.height)
})
