/** The monitor with stale data, offline receivers and a transmitter that turned off. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { startApp, until } from '../support/app.ts'
import { browserForTests, findViolations, scrollsHorizontally } from '../support/browser/browser.ts'
import { condition, offline, receiver, sendLevels, startFakeService } from '../support/browser/fake-service.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { startNetwork } from '../support/faults/network.ts'
import { timeLimit } from '../support/time-limit.ts'

const { open } = browserForTests()

/** Starts a service with these receivers, and opens the monitor page. */
async function openMonitor(...receivers: ReceiverInData[]) {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.receivers = receivers
  // The charts contain only what the page receives.
  service.data.history.error = 'Recording is off.'
  const page = await open(service, '/')
  await page.locator('.card').first().waitFor()
  return { service, page }
}

const card = (page: Page) => page.locator('.card', { hasText: 'Singer 1' })

// Reliability: C4.
it('detects an unplugged cable within seconds, marks all values as stale, and recovers automatically', async () => {
  const { service, page } = await openMonitor(receiver(1, [{ battery: 90 }]))
  service.isSilent = true
  const startedAt = performance.now()
  await page.locator('.card[data-state=stale]').waitFor()
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000))
  await eventually(() => page.locator('.banner').innerText()).toContain('old')
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  service.isDown = true
  service.data.receivers = [receiver(1, [{ battery: 9 }])]
  service.isSilent = false
  service.isDown = false
  await page.locator('.card[data-state=battery_critical]').waitFor({ timeout: 15_000 })
  await eventually(() => page.locator('.banner').count()).toBe(0)
})

// Conformance: C-9b.18.
it.concurrent('resumes after the last message, and acknowledges levels', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  // The page shows health, which it reads after everything else; so the events of earlier requests have arrived.
  await page.locator('.footer', { hasText: 'Shure' }).waitFor()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  sendLevels(service, -60, -20)
  await page.getByRole('img', { name: '−60 dBm' }).waitFor()
  await until('the levels are acknowledged', () => service.acknowledged === 1)
  expect(service.received).toEqual([{ type: 'select_levels', levels: 'full' }])
  expect(requests.filter((url) => !url.includes('/api/history/'))).toEqual([])
  service.isDown = true
  await page.locator('.banner').waitFor()
  service.isDown = false
  await page.locator('.banner').waitFor({ state: 'detached', timeout: 20_000 })
  expect(service.connections.at(0)).toBe('/venue/ws?ack=1&levels=false')
  expect(service.connections.at(-1)).toBe('/venue/ws?ack=1&levels=false&since=1&epoch=fake')
})

it('shows the delay of a slow line, and dims the levels', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  sendLevels(service, -60, -20)
  await page.getByRole('img', { name: '−60 dBm' }).waitFor()
  const footer = page.locator('.footer')
  await footer.getByText('Live').waitFor()
  service.data.answersPings = false
  await footer.getByText(/^[4-9] s behind$/).waitFor()
  await eventually(() => footer.getByText('Live').count()).toBe(0)
  service.data.answersPings = true
  await footer.getByText('Live').waitFor()
})

it.each([1, -1])('shows the delay of a slow line even if the clock of the device is set by %i h', async (hours) => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  const footer = page.locator('.footer')
  await footer.getByText('Live').waitFor()
  service.data.answersPings = false
  await footer.getByText(/^[4-9] s behind$/).waitFor()
  await page.evaluate((byMs) => {
    const now = Date.now
    Date.now = () => now() + byMs
  }, hours * 3_600_000)
  await footer.getByText(/^1\d s behind$/).waitFor()
  service.data.answersPings = true
  await footer.getByText('Live').waitFor()
})

it.each([10, -10])("counts in the service's time if the clock of the device is %s minutes off", async (minutes) => {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  const off = receiver(1, [null])
  service.data.receivers = [
    {
      ...off,
      channels: off.channels.map((channel) => ({
        ...channel,
        condition: { ...condition('tx_off'), since: new Date(Date.now() - 120_000).toISOString() },
      })),
    },
  ]
  const page = await open(service, '/about')
  await page.addInitScript((offMs) => {
    const now = Date.now
    Date.now = () => now() + offMs
  }, minutes * 60_000)
  await page.reload()
  await page.getByText(minutes > 0 ? /^(10|9) min .*ahead of/ : /^(10|9) min .*behind/).waitFor()
  await page.goto(`${service.url}/`)
  await page
    .locator('.card', { hasText: 'TX off' })
    .getByText(/^2 min/)
    .first()
    .waitFor()
  // The service refuses times in the future.
  await page.goto(`${service.url}/timeline`)
  await page.getByRole('button', { name: 'Now' }).first().waitFor()
  await eventually(() => page.getByText('Expected a time').count()).toBe(0)
  const isServiceTime = async () => {
    const clock = await page.locator('.clock').innerText()
    const minutesNow = new Date().getMinutes()
    return [minutesNow, (minutesNow + 59) % 60].includes(Number(/:(\d\d):/.exec(clock)?.[1]))
  }
  await eventually(isServiceTime).toBe(true)
})

it.concurrent('polls the data while live updates are disabled in the settings', async () => {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}])]
  service.data.isLive = false
  const page = await open(service, '/')
  await page.locator('.footer', { hasText: 'Polling every few seconds' }).waitFor()
  await page.locator('.card[data-state=ok]').waitFor()
  service.data.receivers = [receiver(1, [{ battery: 9 }])]
  await page.locator('.card[data-state=battery_critical]').waitFor({ timeout: 15_000 })
  service.data.isLive = true
  await page.locator('.footer', { hasText: 'Live' }).waitFor({ timeout: 15_000 })
})

// Conformance: C-9b.19.
it.concurrent('reloads the page once when the service has another version', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  service.data.version = '9.9.9'
  const reloaded = page.waitForEvent('load')
  service.send({
    type: 'source',
    code: 'shure',
    address: 'https://10.0.0.1',
    status: 'healthy',
    error: null,
    silent_since: null,
  })
  await reloaded
  await page.locator('.footer', { hasText: 'Shure' }).waitFor()
  await eventually(() => page.evaluate("performance.getEntriesByType('navigation')[0].type")).toBe('reload')
  expect(service.connections).toHaveLength(2)
})

it.concurrent('keeps the layout when a receiver goes offline', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}, {}]), receiver(2, [{}]))
  const heights = () => page.locator('.card').evaluateAll((cards) => cards.map((card) => card.clientHeight))
  const before = await heights()
  expect(before).toHaveLength(3)
  const { channels } = offline(receiver(1, [{}, {}]))
  service.send({ type: 'receiver', id: 1, is_active: false })
  for (const { id, condition } of channels) service.send({ type: 'channel', id, receiver_id: 1, condition })
  await page.locator('.card[data-state=receiver_offline]').nth(1).waitFor()
  await eventually(() => heights()).toEqual(before)
})

it.concurrent('on a phone shows failing systems in full and truncates their errors', async () => {
  const { page } = await openMonitor(receiver(1, [{}]))
  // A request may be pending when the test ends.
  onTestEnd(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
  await page.route('**/api/health/', async (route) => {
    const response = await route.fetch()
    const health = await response.json()
    const error = 'invalid response from 127.0.0.1:45321: expected the list of devices, and got something else'
    const failing = ['Shure', 'Sennheiser'].map((name) => ({
      ...health.manufacturers[0],
      ...{ code: name.toLowerCase(), name, status: 'unhealthy', error },
    }))
    await route.fulfill({ response, json: { ...health, manufacturers: failing } })
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await page.locator('.status-pill').click()
  await page.locator('.footer-name', { hasText: 'Sennheiser' }).waitFor()
  const isTruncated = (part: string) =>
    page.evaluate<boolean[]>(
      `[...document.querySelectorAll('.footer-${part}')].map((element) => element.scrollWidth > element.clientWidth + 1)`,
    )
  // The typeface may be loaded after the texts are shown, and changes their widths.
  await eventually(() => isTruncated('name')).toEqual([false, false])
  await eventually(() => isTruncated('status')).toEqual([false, false])
  await eventually(() => isTruncated('error')).toEqual([true, true])
  const countLines = () =>
    page.locator('.footer-status').evaluateAll((all) => all.map((item) => item.getClientRects().length))
  await eventually(countLines).toEqual([1, 1])
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

it.concurrent('lists every failing source and a manufacturer that was not contacted yet', async () => {
  const { page } = await openMonitor(receiver(1, [{}]))
  // A request may be pending when the test ends.
  onTestEnd(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
  await page.route('**/api/health/', async (route) => {
    const response = await route.fetch()
    const health = await response.json()
    const [shure] = health.manufacturers
    const unhealthy = { status: 'unhealthy', consecutive_failures: 3, error: 'connection refused' }
    const sources = ['tcp://10.0.0.1:2202', 'tcp://10.0.0.2:2202'].map((source) => ({ source, ...unhealthy }))
    const manufacturers = [
      { ...shure, ...unhealthy, sources },
      { ...shure, code: 'sennheiser', name: 'Sennheiser', status: 'unknown' },
    ]
    await route.fulfill({ response, json: { ...health, manufacturers } })
  })
  await page.reload()
  const footer = page.locator('.footer')
  await footer.getByText('Not contacted yet').waitFor()
  for (const address of ['tcp://10.0.0.1:2202', 'tcp://10.0.0.2:2202']) {
    await footer.getByText(`${address}: connection refused`).waitFor()
  }
})

/** Counts the columns of the chart with a sample, whose pixels have several colours. Leaves out the edges. */
const countSamples = (page: Page) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector('.meter-layer canvas')
    const field = canvas.getBoundingClientRect()
    const { left, top, width, height } = document.querySelector('.chart').getBoundingClientRect()
    const image = canvas.getContext('2d').getImageData(left - field.left + 2, top - field.top + 2, width - 4, height - 4)
    const pixels = new Uint32Array(image.data.buffer)
    const isSample = (column) => new Set(pixels.filter((_, index) => index % image.width === column)).size > 1
    return Array.from({ length: image.width }, (_, column) => column).filter(isSample).length
  })()`)

// Conformance: S-1.24.
it.concurrent('shows channels as stale when the service does, without their last levels, and names the failing source', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  await until('the levels are repeated', async () => (await countSamples(page)) > 8)
  service.data.upstream = 'unhealthy'
  service.send({
    type: 'source',
    code: 'shure',
    address: 'https://10.0.0.1',
    status: 'unhealthy',
    error: 'refused',
    silent_since: null,
  })
  service.send({ type: 'channel', id: 1, receiver_id: 1, condition: condition('stale') })
  await page.locator('.card[data-state=stale]').waitFor()
  await page.locator('.footer', { hasText: 'Down' }).waitFor()
  await until('the repeated levels are erased', async () => (await countSamples(page)) < 3)
})

it.concurrent('shows the condition and the last battery of a transmitter that died, also after a reload', async () => {
  const died = receiver(1, [null]).channels.map((channel) => ({
    ...channel,
    condition: condition('battery_died', 'tx_off'),
    last_transmitter: { name: 'H01 Singer 1', battery: 6, minutes_left: null, last_seen: '2026-11-22T19:00:00.000Z' },
  }))
  const { service, page } = await openMonitor(receiver(1, [{ battery: 12 }]))
  await page.locator('.card[data-state=battery_low]').waitFor()
  for (const { id, transmitter, condition, last_transmitter } of died)
    service.send({ type: 'channel', id, receiver_id: 1, transmitter, condition, last_transmitter })
  service.data.receivers = [{ ...receiver(1, [null]), channels: died }]
  for (const _ of ['open', 'reloaded']) {
    await page.locator('.card[data-state=battery_died][data-attention]').waitFor()
    await eventually(() => card(page).innerText()).toContain('6%')
    await eventually(() => card(page).innerText()).toMatch(/Died .* ago\s+was 6%/)
    await page.reload()
  }
})

it.concurrent('shows RF of a channel without a transmitter', async () => {
  const { service, page } = await openMonitor(receiver(1, [null]))
  sendLevels(service, -62, null)
  await page.getByRole('img', { name: '−62 dBm' }).waitFor()
})

// Conformance: C-22.30, C-22.31.
it('marks a silent source with a hollow dot, and shows no age for a pack that was off from the start', async () => {
  const device = await startStringsSimulator({ family: 'ulxd' })
  onTestEnd(() => device.close())
  device.change(1, { transmitter: false })
  const network = await startNetwork(onTestEnd, device.url)
  const devices = [network.url.replace('http:', 'tcp:')]
  const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices, poll_interval: 1 } }] })
  const receiver = await until('the receiver is listed', async () => (await app.receivers())[0])
  const page = await open(app, '/')
  await page.getByText(/^TX off since before \d+:\d\d/).waitFor()

  network.blackhole()
  await page.getByRole('img', { name: /^silent for \d+ s$/ }).waitFor()
  await page.locator('.footer', { hasText: /Silent for \d+ sec/ }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.goto(new URL(`/receivers/${receiver?.id}`, page.url()).href)
  await page
    .locator('.source-list')
    .getByRole('img', { name: /^silent for \d+ s$/ })
    .waitFor()
  await network.restore()
  network.closeConnections()
  await page
    .getByRole('img', { name: /^silent for/ })
    .first()
    .waitFor({ state: 'detached' })
})
