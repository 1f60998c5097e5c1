/** The history of a channel: charts of recorded and live levels, events and markers. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { until } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { receiver, sendLevels, startFakeService } from '../support/browser/fake-service.ts'
import { eventAt, type FakeStory, levelsOf, setHistory } from '../support/browser/recorded-story.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

const on = { letter: '1', rf: -60, audio: -20, battery: 80 } as const

async function openChannel(story: FakeStory | null, path = '/channels/1', options = {}) {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}])]
  if (story === null) service.data.responses['/api/history/levels/'] = () => undefined
  else setHistory(service, story)
  const page = await open(service, path, options)
  const requests = (part: string) => service.requests.filter(({ path }) => path.includes(part))
  return { service, page, requests }
}

const chart = (page: Page) => page.getByRole('img', { name: 'Chart of RF (dBm), Audio (dBFS)' })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const openTable = (page: Page) => page.getByText('Values as a table').click()
const tableRow = (page: Page, text: string) => page.locator('.sample-table tbody tr', { hasText: text })

// Conformance: C-12.90.
it('draws the last hour from the service, also after a reload, and continues with live levels', async () => {
  const { service, page, requests } = await openChannel({ secondOf: () => on })
  await chart(page).waitFor()
  await openTable(page)
  await until('the recorded hour is in the table', async () => (await tableRow(page, '−60 to −56').count()) > 50)
  const { query } = requests('/levels/').find(({ query }) => query.get('series')?.includes('battery')) ?? {}
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query?.get(name) ?? '')) as [number, number]
  expect([query?.get('channels'), (to - from) / 1_000]).toEqual(['1', 3_600])
  const sending = setInterval(() => sendLevels(service, -77, -5), 200)
  onTestEnd(() => clearInterval(sending))
  await tableRow(page, '−77').first().waitFor()
  clearInterval(sending)
  await eventually(() => findViolations(page)).toEqual([])
  await page.reload()
  await openTable(page)
  await until('the hour is there again', async () => (await tableRow(page, '−60').count()) > 50)
})

// Conformance: C-18.43.
it('names the site of the channel while its levels are unavailable', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  const site = { code: 'theatre', name: 'Royal Theatre' }
  service.data.receivers = [{ ...receiver(1, [{}]), site }]
  const { responses } = service.data
  responses['/api/history/levels/'] = (query: URLSearchParams) => ({
    ...levelsOf(query, () => on),
    interrupted_sites: [site],
  })
  const page = await open(service, '/channels/1')
  const notice = page.getByText('The line to Royal Theatre is interrupted.')
  await notice.waitFor()
  responses['/api/history/levels/'] = (query: URLSearchParams) => levelsOf(query, () => on)
  service.send({
    type: 'source',
    code: 'theatre',
    address: 'http://theatre',
    status: 'healthy',
    error: null,
    silent_since: null,
  })
  await notice.waitFor({ state: 'detached' })
})

// Conformance: C-12.90.
it.concurrent('shows up to two weeks, moves by button, key and pointer, and returns to now', async () => {
  const { page, requests } = await openChannel({ secondOf: () => on })
  await chart(page).waitFor()
  for (const [name, span] of [
    ['10 min', 600],
    ['6 hr', 21_600],
    ['1 day', 86_400],
    ['1 wk', 604_800],
    ['2 wks', 1_209_600],
  ] as const) {
    await button(page, name).click()
    const isAsked = ({ query }: ReturnType<typeof requests>[number]) =>
      (Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '')) / 1_000 === span
    await until(`${name} is read`, () => requests('/levels/').some(isAsked))
    await eventually(() => new URL(page.url()).searchParams.get('span')).toBe(String(span))
  }
  await button(page, '1 hr').click()
  await page.getByRole('button', { name: '1 hr', exact: true, pressed: true }).waitFor()
  const end = () => Date.parse(new URL(page.url()).searchParams.get('to') ?? '')
  /** The end of the range that is drawn, from which the next movement starts. It follows the address a moment later. */
  const drawnEnd = async () => {
    const href = await page.getByRole('link', { name: 'Open in the timeline' }).getAttribute('href')
    return Date.parse(new URL(href ?? '', 'http://service').searchParams.get('to') ?? '')
  }
  await button(page, 'Earlier').click()
  await eventually(end).toBeLessThan(Date.now() - 1_700_000)
  const afterButton = end()
  await eventually(drawnEnd).toBe(afterButton)
  await chart(page).focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await eventually(end).toBe(afterButton - 900_000)
  await eventually(drawnEnd).toBe(afterButton - 900_000)
  const box = await page.locator('.u-over').first().boundingBox()
  const [x = 0, y = 0] = [(box?.x ?? 0) + 50, (box?.y ?? 0) + 60]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + (box?.width ?? 0) / 2, y, { steps: 4 })
  await page.mouse.up()
  await eventually(() => Math.round((afterButton - 900_000 - end()) / 60_000)).toBe(30)
  await chart(page).focus()
  await page.keyboard.press('+')
  await eventually(() => new URL(page.url()).searchParams.get('span')).toBe('600')
  await page.keyboard.press('End')
  await eventually(() => new URL(page.url()).searchParams.has('to')).toBe(false)
})

// Conformance: C-12.90.
it.concurrent('marks and explains gaps in recording and in reception', async () => {
  const now = Math.floor(Date.now() / 1_000)
  const letters = ['1', 'm', '0', 'x', '-'] as const
  const { page } = await openChannel({
    secondOf: (_, at) => {
      const letter = letters[Math.floor((now - at) / 600)] ?? '1'
      return letter === '1' || letter === 'm' ? { ...on, letter } : { letter }
    },
  })
  const legend = page.getByRole('list', { name: 'States in the charts' })
  await eventually(() => legend.getByRole('listitem').allInnerTexts()).toEqual([
    'On',
    'Muted',
    'TX off',
    'Receiver offline',
    'Not recorded',
  ])
  await page.getByRole('list', { name: 'Events' }).getByText('Critical event and its duration').waitFor()
  await openTable(page)
  for (const word of ['Muted', 'TX off', 'Receiver offline', 'Not recorded'])
    await tableRow(page, word).first().waitFor()
  /** The colours at a height of the chart where no line is, in the middle of each state. */
  const coloursOf = () =>
    page.evaluate<string[]>(`(() => {
      const canvas = document.querySelector('.history canvas')
      const over = document.querySelector('.history .u-over').getBoundingClientRect()
      const field = canvas.getBoundingClientRect()
      const y = (over.bottom - field.top - 3) * devicePixelRatio
      return [0.5, 1.5, 2.5, 3.5, 4.5].map((part) => {
        const x = (over.right - field.left - (part * over.width) / 6) * devicePixelRatio
        return canvas.getContext('2d').getImageData(x, y, 1, 1).data.join()
      })
    })()`)
  await eventually(async () => new Set(await coloursOf()).size).toBe(5)
})

it.concurrent('draws live values and says why, if recorded levels cannot be read', async () => {
  const { service, page } = await openChannel(null)
  await page.getByText('Recorded levels cannot be shown').waitFor()
  await openTable(page)
  const sending = setInterval(() => sendLevels(service, -77, -5), 200)
  onTestEnd(() => clearInterval(sending))
  await tableRow(page, '−77').first().waitFor()
})

// Conformance: C-12.90.
it.concurrent('lists the events of the channel, and keeps them current', async () => {
  const events = [eventAt(Date.now() - 300_000, 'rf_dropout', { text: 'RF dropout of 0.3 s', severity: 'warning' })]
  const { service, page, requests } = await openChannel({ secondOf: () => on, events })
  const list = page.locator('.event-list')
  await list.getByText('RF dropout of 0.3 s').waitFor()
  expect(requests('/events/')[0]?.query.get('channel')).toBe('1')
  const added = eventAt(Date.now(), 'marker', { text: 'Swapped the pack', by: 'nora' })
  events.push(added)
  service.send({ type: 'event', event: added })
  await list.getByText('Swapped the pack').waitFor()
  events.pop()
  service.send({ type: 'event_deleted', id: added.id })
  await list.getByText('Swapped the pack').waitFor({ state: 'detached' })
  await list.getByRole('link', { name: /^Replay/ }).click()
  await page.getByRole('region', { name: 'Replay' }).waitFor()
})

it.concurrent('adds a marker at the time of the button press', async () => {
  const { service, page } = await openChannel({ secondOf: () => on })
  let body: { time: string; channel_id: number; text: string } | undefined
  await page.route('**/api/auth/session', (route) =>
    route.fulfill({
      json: { kind: 'local', name: 'local', role: 'operator', permissions: ['read', 'operate'], csrf_token: null },
    }),
  )
  await page.route('**/api/markers/', (route) => {
    body = route.request().postDataJSON()
    return route.fulfill({ status: 201, json: eventAt(Date.now(), 'marker') })
  })
  const pressedAt = Date.now()
  await button(page, 'Add marker').click()
  await dialog(page).waitFor()
  const openAt = Date.now()
  await dialog(page).getByLabel('Text').fill('Sweat on the connector')
  await press(page, 'Add marker')
  await dialog(page).waitFor({ state: 'detached' })
  expect(body).toMatchObject({ channel_id: 1, text: 'Sweat on the connector' })
  // The page sends whole seconds.
  expect(Date.parse(body?.time ?? '')).toBeGreaterThan(pressedAt - 1_000)
  expect(Date.parse(body?.time ?? '')).toBeLessThanOrEqual(openAt)
  await eventually(() => service.requests.filter(({ path }) => path === '/api/events/').length).toBeGreaterThan(1)
})

it.concurrent('links to the timeline with the visible range', async () => {
  const { page } = await openChannel({ secondOf: () => on }, '/channels/1?span=600&to=2026-05-01T20:00:00Z')
  const read = async () => {
    const href = await page.getByRole('link', { name: 'Open in the timeline' }).getAttribute('href')
    const url = new URL(href ?? '', 'http://service')
    return [url.pathname, Object.fromEntries(url.searchParams)]
  }
  await eventually(read).toEqual([
    '/timeline',
    { channel: '1', from: '2026-05-01T19:50:00.000Z', to: '2026-05-01T20:00:00.000Z' },
  ])
})

it.concurrent('fits a phone', async () => {
  const events = [eventAt(Date.now() - 300_000, 'rf_dropout', { text: 'RF dropout of 0.3 s, lowest level -97 dBm' })]
  const { page } = await openChannel({ secondOf: () => on, events }, '/channels/1', phone)
  await page.locator('.event').waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
})
