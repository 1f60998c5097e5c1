/** The status line, and the pages that show alerts and receivers, in a browser. */

import type { Page } from 'playwright-core'
import { it } from 'vitest'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { noExceptions, offline, receiver, startFakeService, update } from '../support/browser/fake-service.ts'
import { buildAlert } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

async function start(...receivers: ReceiverInData[]) {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.receivers = receivers
  return service
}

const statusLine = (page: Page) => page.locator('.status-line')
const listSlots = (page: Page) => page.locator('.card-slot > [aria-hidden]').allInnerTexts()

it('counts problems on every page, an offline receiver once, and filters to them', async () => {
  const service = await start(
    receiver(1, [{}, { battery: 40 }, { battery: 15 }]),
    offline(receiver(2, [{}, {}, {}, {}])),
  )
  const page = await open(service, '/about')
  await statusLine(page).getByText('7 channels').waitFor()
  await eventually(() => page.title()).toBe('(5) About · Micwatch')
  await eventually(() => findViolations(page)).toEqual([])

  await statusLine(page).getByRole('button', { name: '5 channels · 2 causes' }).click()
  await eventually(() => listSlots(page)).toEqual(['3', '5', '6', '7', '8'])
  await eventually(() => new URL(page.url()).search).toBe('?state=problems')
  await eventually(() => page.title()).toBe('(5) Micwatch')

  // Worst first, as long as this filter is on; Back returns to the filter before.
  const batteries = statusLine(page).getByRole('button', { name: '2 batteries at 50% or less' })
  await batteries.click()
  await eventually(() => listSlots(page)).toEqual(['3', '2'])
  await eventually(() => new URL(page.url()).search).toBe('?state=replace')
  await page.getByRole('button', { name: 'View' }).click()
  await eventually(() => page.getByRole('combobox', { name: 'Sort' }).inputValue()).toBe('battery')
  await page.keyboard.press('Escape')
  await page.goBack()
  await eventually(() => listSlots(page)).toEqual(['3', '5', '6', '7', '8'])
  await page.goForward()
  await eventually(() => listSlots(page)).toEqual(['3', '2'])
  await batteries.click()
  await eventually(() => listSlots(page)).toEqual(['1', '2', '3', '5', '6', '7', '8'])
  await eventually(() => new URL(page.url()).search).toBe('')

  await page.goto(`${service.url}/wall`)
  await statusLine(page).getByRole('button', { name: '5 channels · 2 causes' }).click()
  await eventually(() => listSlots(page)).toHaveLength(5)
  await eventually(() => new URL(page.url()).pathname).toBe('/venue/wall')
})

it('shows that all is OK, and never while the connection is lost', async () => {
  const service = await start(receiver(1, [{ battery: 5 }]))
  service.data.alerts = [buildAlert({ id: 1, kind: 'battery_critical', channel_id: 1 })]
  const page = await open(service, '/about')
  await statusLine(page).getByRole('button', { name: '1 channel · 1 cause' }).waitFor()
  await statusLine(page).getByRole('link', { name: '1 open alert' }).waitFor()
  update(service, [{ battery: 90 }])
  await eventually(() => statusLine(page).getByRole('button', { name: /cause/ }).count()).toBe(0)
  await eventually(() => statusLine(page).getByText('All OK').count()).toBe(0)
  service.send({ type: 'alert', ...buildAlert({ id: 1, kind: 'battery_critical', channel_id: 1, state: 'cleared' }) })
  await statusLine(page).getByText('All OK').waitFor()
  await eventually(() => page.title()).toBe('About · Micwatch')
  service.isDown = true
  await statusLine(page).getByText('Not live for').waitFor()
  await eventually(() => statusLine(page).getByText('All OK').count()).toBe(0)
  await eventually(() => page.title()).toBe('(!) About · Micwatch')
})

it('counts critical conflicts, devices to review and lost connections, and never says that all is OK beside them', async () => {
  const service = await start(receiver(1, [{}]))
  const exceptions = { conflicts: { critical: 4, other: 34 }, queue_pending: 1, disconnected: 2 }
  service.data.responses['/api/summary/'] = exceptions
  const page = await open(service, '/about')
  await statusLine(page).getByRole('link', { name: '4 critical conflicts' }).waitFor()
  await statusLine(page).getByRole('link', { name: '1 device to review' }).waitFor()
  await statusLine(page).getByRole('link', { name: '2 lost connections' }).waitFor()
  await eventually(() => statusLine(page).getByText('All OK').count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
  service.data.responses['/api/summary/'] = { ...exceptions, ...noExceptions }
  service.send({ type: 'frequencies' })
  await statusLine(page).getByText('All OK').waitFor()
})

it('counts channels whose alerts are acknowledged as handled, and filters to them', async () => {
  const service = await start(receiver(1, [{ battery: 5 }, { battery: 15 }, {}]))
  const alert = buildAlert({ id: 1, kind: 'battery_critical', channel_id: 1, receiver_id: 1, manufacturer: 'shure' })
  service.data.alerts = [alert, { ...alert, id: 2, kind: 'battery_low', channel_id: 2 }]
  const page = await open(service, '/')
  await statusLine(page).getByRole('button', { name: '2 channels · 2 causes' }).waitFor()
  service.send({ type: 'alert', ...alert, state: 'acknowledged', acknowledged_at: new Date().toISOString() })
  await statusLine(page).getByRole('button', { name: '1 channel · 1 cause' }).click()
  await eventually(() => listSlots(page)).toEqual(['2'])
  await statusLine(page).getByRole('button', { name: '1 handled' }).click()
  await eventually(() => listSlots(page)).toEqual(['1'])
})

it('turns the alarm sound on and off', async () => {
  const service = await start(receiver(1, [{}]))
  const page = await open(service, '/alerts', phone)
  await statusLine(page).getByRole('button', { name: 'All OK' }).click()
  await eventually(() => findViolations(page)).toEqual([])
  await statusLine(page).getByRole('button', { name: 'Sound off' }).click()
  await statusLine(page).getByRole('button', { name: 'Sound on' }).click()
  await statusLine(page).getByRole('button', { name: 'Sound off' }).waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

it('lists the open alerts as they are raised and cleared', async () => {
  const service = await start(receiver(1, [{}, {}]))
  const data = { ...buildAlert().data, name: 'H02 Singer 2', slot: 2, battery: 15 }
  const alert = buildAlert({ channel_id: 2, data })
  const page = await open(service, '/alerts')
  await page.getByRole('heading', { name: 'No open alerts' }).waitFor()
  service.send({ type: 'alert', ...alert })
  await page.getByRole('heading', { name: 'Battery low Warning' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'H02 Singer 2' }).click()
  await page.waitForURL(`${service.url}/channels/2`)
  await page.goBack()
  service.send({ type: 'alert', ...alert, state: 'cleared', cleared_at: new Date().toISOString() })
  await page.getByRole('heading', { name: 'No open alerts' }).waitFor()
})

it('shows the channels of a receiver, its facts and the error of its source', async () => {
  const own = receiver(1, [{}, { battery: 5 }])
  const service = await start(own, receiver(2, [{}]))
  service.data.responses['/api/receivers/1/'] = {
    model_status: null,
    ...own,
    last_seen: new Date().toISOString(),
    serial_number: 'S-77',
    sources: [],
  }
  const page = await open(service, '/receivers/1')
  await eventually(() => page.locator('main .card').count()).toBe(2)
  await page.getByText('S-77').waitFor()
  service.send({
    type: 'source',
    code: 'shure',
    address: 'https://10.0.0.1',
    status: 'unhealthy',
    error: 'refused',
    silent_since: null,
  })
  await page.getByRole('main').getByText('refused').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => page.title()).toBe('(1) Rack 1 · Micwatch')
})

it('shows when and why a receiver went offline, and acknowledges its alert', async () => {
  const own = offline(receiver(1, [{}, {}]))
  const service = await start(own)
  service.data.alerts = [buildAlert({ kind: 'receiver_offline', severity: 'critical', channel_id: null })]
  service.data.responses['/api/receivers/1/'] = {
    ...own,
    last_seen: '2026-11-22T18:59:30.000Z',
    model_status: null,
    sources: [],
  }
  const page = await open(service, '/receivers/1')
  const state = page.getByRole('region', { name: 'State' })
  await state.getByText(/^since .*7:00:00/).waitFor()
  await state.getByText('Its source responds, but the receiver does not.').waitFor()
  service.send({
    type: 'source',
    code: 'shure',
    address: 'tcp://10.0.0.1',
    status: 'unhealthy',
    error: 'Refused.',
    silent_since: null,
  })
  await state.getByText('Its source tcp://10.0.0.1 fails: Refused.').waitFor()
  await state.getByRole('button', { name: /^Acknowledge/ }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
})

it('shows that scripts report the receivers of a manufacturer without an address', async () => {
  const service = await start(receiver(1, [{}]))
  service.data.upstream = 'unconfigured'
  const page = await open(service, '/')
  await statusLine(page).getByText('Reported by scripts').waitFor()
})
