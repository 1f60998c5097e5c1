/** The past on the monitor and the wall, and small charts that are filled when the page opens. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { until } from '../support/app.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { type FakeService, receiver, startFakeService, update } from '../support/browser/fake-service.ts'
import { eventAt, type FakeStory, setHistory } from '../support/browser/recorded-story.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

const on = { letter: '1', rf: -60, audio: -20, battery: 80 } as const
/** Two minutes into an hour, so that the hour contains what the tests play. */
const past = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000 + 120_000
const iso = (ms = 0) => new Date(past + ms).toISOString().replace('.000Z', 'Z')

async function startService(story: FakeStory = { secondOf: () => on }, receivers = [receiver(1, [{}, {}])]) {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.receivers = receivers
  setHistory(service, story)
  return service
}

const bar = (page: Page) => page.getByRole('region', { name: 'Replay' })
const button = (page: Page, name: string) => bar(page).getByRole('button', { name, exact: true })
/** Returns how many milliseconds after `past` the banner shows. */
const readTime = async (page: Page) =>
  Date.parse((await bar(page).locator('time').first().getAttribute('datetime')) ?? '') - past
const card = (page: Page) => page.locator('.card', { hasText: 'Singer 1' })
const historyRequests = (service: FakeService) =>
  service.requests.filter(({ path }) => /^\/api\/(history|events)\//.test(path))

// Conformance: C-12.92.
it('marks the page as the past, without actions and alarms, until the user returns to live', async () => {
  const service = await startService()
  const page = await open(service, `/?at=${iso()}`)
  await card(page).locator('[role=img][aria-label="−60 dBm"]').waitFor()
  await eventually(() => page.title()).toBe('Replay · Micwatch')
  await eventually(() => readTime(page)).toBe(0)
  await eventually(() => page.locator('.footer').innerText()).toContain('Replay, not live')
  await eventually(() => page.evaluate("getComputedStyle(document.body, '::after').borderTopWidth")).toBe('4px')
  await eventually(() =>
    page.getByRole('button', { name: /^(Acknowledge|Assign|Arrange|Sound|New group)/ }).count(),
  ).toBe(0)
  await eventually(() => page.locator('.footer .sound').count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
  // Current events change only the link back to live.
  update(service, [{ battery: 4 }, {}])
  await page.getByRole('link', { name: 'Back to live: 1 needs attention' }).waitFor()
  await eventually(() => card(page).getAttribute('data-state')).toBe('ok')
  service.isDown = true
  await page.waitForTimeout(300)
  await eventually(() => card(page).getAttribute('data-state')).toBe('ok')
  await eventually(() => page.locator('.banner').count()).toBe(0)
  service.isDown = false
  await page.reload()
  await bar(page).waitFor()
  await page.getByRole('link', { name: 'Wall' }).click()
  await page.locator('.wall-tile').first().waitFor()
  await eventually(() => readTime(page)).toBe(0)
  await page.getByRole('link', { name: /^Back to live/ }).click()
  await bar(page).waitFor({ state: 'detached' })
  await eventually(() => new URL(page.url()).search).toBe('')
  await eventually(() => page.title()).toBe('Wall · Micwatch')
})

// Conformance: C-12.93.
it.concurrent('plays with at most one request every two seconds, and pauses', async () => {
  const service = await startService()
  const page = await open(service, `/?at=${iso()}`)
  await card(page).waitFor()
  await button(page, '60×').click()
  await button(page, 'Play').click()
  await eventually(() => readTime(page)).toBeGreaterThan(300_000)
  await page.keyboard.press('Escape')
  await page.locator('body').click({ position: { x: 5, y: 500 } })
  await page.keyboard.press('Space')
  await button(page, 'Play').waitFor()
  const paused = await readTime(page)
  await eventually(() => Date.parse(new URL(page.url()).searchParams.get('at') ?? '') - past).toBe(paused)
  await page.keyboard.press('ArrowLeft')
  await eventually(() => readTime(page)).toBe(paused - 1_000)
  await page.keyboard.press('Shift+ArrowRight')
  await eventually(() => readTime(page)).toBe(paused + 9_000)
  // When the page sent the requests, which may take different times to arrive.
  const times = await page.evaluate<number[]>(`performance.getEntriesByType('resource')
    .filter(({ name }) => /\\/api\\/(history|events)\\//.test(name)).map(({ startTime }) => startTime)`)
  expect(times.length).toBeGreaterThan(2)
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
  expect(Math.min(...gaps)).toBeGreaterThan(1_900)
})

it.concurrent('moves by steps, events and the slider, and shows the channels of that time', async () => {
  const service = await startService({
    secondOf: (id, at) =>
      id === 1 && at * 1_000 >= past + 30_000 && at * 1_000 < past + 40_000 ? { letter: '0' } : on,
    events: [eventAt(past + 30_000, 'transmitter_off', { text: 'H01 Singer 1: TX off' })],
  })
  const page = await open(service, `/wall?at=${iso()}`)
  await until('the events are loaded', () => historyRequests(service).some(({ path }) => path === '/api/events/'))
  await button(page, 'Next event').click()
  await eventually(() => readTime(page)).toBe(30_000)
  await bar(page).getByText('H01 Singer 1: TX off').waitFor()
  await card(page).and(page.locator('[data-state=tx_off]')).waitFor()
  await button(page, 'Forward 10 sec').click()
  await card(page).and(page.locator('[data-state=ok]')).waitFor()
  await button(page, 'Back 1 sec').click()
  await card(page).and(page.locator('[data-state=tx_off]')).waitFor()
  await bar(page).getByRole('slider').fill('600')
  await eventually(() => readTime(page)).toBe(480_000)
  await card(page).and(page.locator('[data-state=ok]')).waitFor()
})

// Conformance: C-12.94.
it.concurrent('reports that nothing was recorded, and shows all channels as not current', async () => {
  const service = await startService({ secondOf: () => ({ letter: '-' }) })
  const page = await open(service, `/?at=${iso()}`)
  await bar(page).getByText('Nothing was recorded at this time.').waitFor()
  await card(page).and(page.locator('[data-state=stale]')).waitFor()
  await eventually(() => page.locator('.footer').innerText()).toContain('Nothing recorded')
})

it.concurrent('explains why a time cannot be shown', async () => {
  const service = await startService()
  service.data.responses['/api/history/at/'] = () => undefined
  const page = await open(service, `/?at=${iso()}`)
  await page.getByRole('heading', { name: 'Nothing to show from this time' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
})

it.concurrent('fits a phone', async () => {
  const service = await startService()
  const page = await open(service, `/?at=${iso()}`, phone)
  await card(page).waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
})

it.concurrent('opens the charts of a channel at the replayed time', async () => {
  const service = await startService()
  const page = await open(service, `/?at=${iso()}`)
  await card(page).getByRole('link').click()
  await page.waitForURL('**/channels/1?**')
  await eventually(() => new URL(page.url()).searchParams.get('to')).toBe(iso(300_000))
  await eventually(() => bar(page).count()).toBe(0)
})

/** Counts the columns of the first chart with a sample, whose pixels have several colours. */
const countSamples = (page: Page) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector('.meter-layer canvas')
    const field = canvas.getBoundingClientRect()
    const { left, top, width, height } = document.querySelector('.chart').getBoundingClientRect()
    const image = canvas.getContext('2d').getImageData(left - field.left + 2, top - field.top + 2, width - 4, height - 4)
    const pixels = new Uint32Array(image.data.buffer)
    const isSample = (column) => new Set(pixels.filter((_, index) => index % image.width === column)).size > 1
    return Array.from({ length: image.width }, (_, column) => column).filter(isSample).length / image.width
  })()`)

// Conformance: C-12.91.
it.concurrent('fills the small charts of the cards near the viewport, with one request for 100 channels', async () => {
  const receivers = Array.from({ length: 30 }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  const service = await startService({ secondOf: () => on }, receivers)
  // As high as all cards.
  const page = await open(service, '/', { viewport: { width: 1440, height: 6_000 } })
  await page.locator('.card').first().waitFor()
  await eventually(() => countSamples(page)).toBeGreaterThan(0.9)
  const levels = () => service.requests.filter(({ path }) => path === '/api/history/levels/')
  await until('the last seconds are filled', () => levels().length === 4)
  expect(levels().map(({ query }) => query.get('channels')?.split(',').length)).toEqual([100, 20, 100, 20])
  await page.waitForTimeout(1_000)
  expect(levels()).toHaveLength(4)

  await page.setViewportSize({ width: 1440, height: 900 })
  await page.reload()
  await until('the charts in view are filled', () => levels().length === 6)
  const channelsOf = (request?: { query: URLSearchParams }) => request?.query.get('channels')?.split(',') ?? []
  expect(channelsOf(levels()[4]).length).toBeLessThan(100)
  expect(channelsOf(levels()[4])).toContain('1')
  expect(channelsOf(levels()[4])).not.toContain('120')
  await page.keyboard.press('End')
  await until('the charts that came near are filled', () =>
    levels()
      .slice(6)
      .some((request) => channelsOf(request).includes('120')),
  )
})
