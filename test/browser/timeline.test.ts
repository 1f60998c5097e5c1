/** The timeline in a browser. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { buildEvent } from '../support/browser/fake-history.ts'
import { endedShow } from '../support/browser/long-report.ts'
import {
  countPixels,
  events,
  findInHeader,
  hasSwatch,
  iso,
  loaded,
  openTimeline,
  playhead,
  query,
  rangeOf,
  start,
  strips,
  zoomTo,
} from '../support/browser/timeline-page.ts'
import { buildSlotRecord } from '../support/builders.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

/** The texts of visible controls that are too low for a finger. */
const smallTargets = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('main :is(button, input, select, summary)')]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44)
    .map(({ outerHTML }) => outerHTML)`)

// Conformance: C-12.81.
it('shows a dropout of 200 ms at every zoom from a week to ten seconds', async () => {
  const { service, dropout } = await start()
  const page = await openTimeline(open, service, `/timeline?from=${iso(dropout - 5)}&to=${iso(dropout + 5)}`)
  const names = ['10 sec', '1 min', '10 min', '1 hr', '6 hr', '24 hr', '1 week']
  for (const name of names) {
    await zoomTo(page, name)
    await eventually(() => countPixels(page, '--meter-rf-weak', 6)).toBeGreaterThan(8)
    expect({ name, others: await countPixels(page, '--meter-rf-weak', 5) }).toEqual({ name, others: 0 })
  }
})

// Conformance: C-12.82.
it('shows the history of a channel in two clicks, and returns with Back', async () => {
  const { service, dropout } = await start()
  const page = await openTimeline(open, service, '/timeline?span=604800')
  await events(page).getByRole('button', { name: 'RF dropout' }).click()
  const [from, to] = await rangeOf(page)
  expect(to - from).toBe(600)
  expect(Math.abs((from + to) / 2 - dropout)).toBeLessThan(2)
  await eventually(() => countPixels(page, '--meter-rf-weak', 6)).toBeGreaterThan(8)
  await page.getByRole('region', { name: 'Playhead' }).getByText('7 H07 Singer 7').waitFor()
  const moment = encodeURI(iso(dropout).replace('.000', ''))
  const monitor = page.getByRole('link', { name: 'Show this moment on the monitor' })
  await eventually(() => monitor.getAttribute('href')).toBe(`/venue/?at=${moment}`)
  await eventually(() => page.getByRole('link', { name: 'On the wall' }).getAttribute('href')).toBe(
    `/venue/wall?at=${moment}`,
  )
  await page.goBack()
  await eventually(() => query(page).get('span')).toBe('604800')
  await page.getByRole('button', { name: '1 week', pressed: true }).waitFor()
})

// Conformance: C-18.43.
it('names a site while its levels are unavailable', async () => {
  const { service, history } = await start()
  history.interruptedSites = [{ code: 'theatre', name: 'Royal Theatre' }]
  const page = await openTimeline(open, service, '/timeline?span=600')
  const notice = page.getByText('The line to Royal Theatre is interrupted.')
  await notice.waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  history.interruptedSites = []
  await notice.waitFor({ state: 'detached' })
})

// Conformance: C-12.113, C-12.114.
it('shows the current state only at the present, and lists everything drawn in the legend', async () => {
  const { service, dropout } = await start()
  const page = await openTimeline(open, service, '/timeline?theme=light')
  const present = page.locator('.strips-state')
  await eventually(() => present.count()).toBe(8)
  await strips(page).click({ position: { x: 400, y: 120 } })
  await page.getByRole('link', { name: 'On the wall' }).waitFor()
  await eventually(() => present.count()).toBe(0)
  await page.goto(`${service.url}/timeline?theme=light&from=${iso(dropout - 5)}&to=${iso(dropout + 5)}`)
  await page.getByRole('list', { name: 'Channels' }).getByRole('button', { name: 'Singer 8' }).waitFor()
  await eventually(() => present.count()).toBe(0)

  await page.getByText('Legend and keys').click()
  const drawn = [
    ...(['RF, lowest to highest --meter-rf', 'RF weak --meter-rf-weak', 'Clipping --meter-audio-over'] as const),
    ...(['Battery --meter-peak', 'Battery low --warning-icon', 'Muted --info-icon', 'TX off --idle-icon'] as const),
    ...(['RF --critical-icon', 'Markers --accent', 'Critical event and its duration --critical-icon'] as const),
    ...(['Now --accent', 'Playhead --text', 'Selected range --accent', 'Show --info-tile'] as const),
    ...(['On --ok-edge', 'Receiver offline --critical-edge', 'Alerts --warning-icon', 'Audio --info-icon'] as const),
    ...(['Mouse, in an open strip --text-soft', 'Selected channel --accent', 'Shows and checks --info-icon'] as const),
    ...(['Gaps in the recording --info-icon'] as const),
  ]
  await eventually(async () => {
    const shown = await Promise.all(drawn.map((item) => hasSwatch(page, item)))
    return drawn.filter((_, index) => !shown[index])
  }).toEqual([])
  const legend = page.locator('.timeline-legend')
  for (const kinds of [
    'RF dropout, Interference',
    'Clipping, Audio dropout, Audio at full scale, Muted, Unmuted',
    'Show started, Show ended, Check',
  ])
    await legend.getByText(kinds).waitFor()
  await eventually(() => legend.innerText()).not.toMatch(/\b(red|green|blue|white|grey)\b/i)
  await eventually(() => findViolations(page)).toEqual([])
})

// Conformance: C-12.112.
it('opens strips by mouse and keyboard, in their places, and keeps them in the address', async () => {
  const { service, dropout } = await start()
  const path = `/timeline?from=${iso(dropout - 30)}&to=${iso(dropout + 30)}`
  const page = await openTimeline(open, service, path)
  const names = page.getByRole('list', { name: 'Channels' }).getByRole('button')
  const seven = names.filter({ hasText: 'Singer 7' })
  const before = await names.allInnerTexts()
  const click = () => page.locator('.strips-canvas').click({ position: { x: 300, y: 6 * 48 + 24 } })
  await click()
  await eventually(() => seven.getAttribute('aria-expanded')).toBe('true')
  await eventually(() => query(page).get('open')).toBe('7')
  await eventually(async () => (await seven.boundingBox())?.height).toBeCloseTo(240, -1)
  // The same values for assistive technology.
  const table = page.getByRole('table').filter({ hasText: '7 H07 Singer 7' })
  await table.getByRole('row').filter({ hasText: '0.2 sec' }).getByText('−97 dBm to').waitFor({ state: 'attached' })

  await names.first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await eventually(() => query(page).get('open')).toBe('7,2')
  await eventually(() => page.getByRole('table').count()).toBe(2)
  await eventually(() => findViolations(page)).toEqual([])
  await page.reload()
  await eventually(() => page.getByRole('table').count()).toBe(2)
  await eventually(() => names.allInnerTexts()).toEqual(before)

  await page.keyboard.press('Tab')
  await names.nth(1).focus()
  await page.keyboard.press('Enter')
  await eventually(() => query(page).get('open')).toBe('7')
  await page.goto(`${service.url}${path}`)
  await loaded(page)
  await click()
  await eventually(() => seven.getAttribute('aria-expanded')).toBe('true')
  await click()
  await eventually(() => seven.getAttribute('aria-expanded')).toBe('false')
  await eventually(() => query(page).get('open')).toBeNull()
})

// Conformance: C-12.113.
it('shows the slots and names of then beside the past', async () => {
  const { service, history, now, dropout } = await start()
  const [rack, ...others] = service.data.receivers
  if (rack === undefined) throw new Error('There is no receiver.')
  service.data.slotRecords = [buildSlotRecord(2, { title: 'H02 Singer 2', title_from: 'transmitter' })]
  const channels = rack.channels.map((channel) => (channel.id === 2 ? { ...channel, slot: 31 } : channel))
  history.earlier = {
    receivers: [{ ...rack, channels }, ...others],
    assignments: [{ channel_id: 2, wireless_unit: 1, performer: { id: null, name: 'Nora' } }],
  }
  const page = await openTimeline(open, service, `/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`)
  const second = page.getByRole('list', { name: 'Channels' }).getByRole('button').nth(1)
  await eventually(() => second.innerText()).toMatch(/^31\s*Nora$/)
  await page.getByRole('button', { name: 'Now' }).click()
  await eventually(() => second.innerText()).toMatch(/^2\s*H02 Singer 2$/)
  history.since = now
  await page.goto(`${service.url}/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`)
  await page.getByText('These are the current slots and names').waitFor()
})

// Conformance: C-12.111.
it('draws shows as ranges, from their start to their end', async () => {
  const { service, dropout } = await start()
  const [from, to] = [dropout - 300, dropout + 300]
  const times = { started_at: iso(dropout - 150), ended_at: iso(dropout + 150) }
  service.data.shows = [{ ...endedShow, ...times }]
  service.data.responses['/api/shows/'] = service.data.shows
  const page = await openTimeline(open, service, `/timeline?from=${iso(from)}&to=${iso(to)}`)
  await eventually(async () => (await findInHeader(page, '--info-tile'))?.[0]).toBeCloseTo(0.25, 2)
  await eventually(async () => (await findInHeader(page, '--info-tile'))?.[1]).toBeCloseTo(0.75, 2)
})

it('works by keyboard', async () => {
  const { service, dropout } = await start()
  const page = await openTimeline(open, service, `/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`)
  // The keys for events need the events, which are read beside the levels.
  await events(page).getByRole('button', { name: 'RF dropout' }).waitFor()
  await playhead(page).focus()
  await page.keyboard.press('+')
  await eventually(async () => (await rangeOf(page))[1] - (await rangeOf(page))[0]).toBeCloseTo(300, 0)
  await page.keyboard.press('-')
  await page.keyboard.press('ArrowRight')
  await eventually(() => Date.parse(query(page).get('at') ?? '') / 1_000).toBeCloseTo(dropout + 6, 0)
  await page.keyboard.press(',')
  await page.getByRole('status').filter({ hasText: '0.2 sec, lowest −97 dBm' }).waitFor()
  await eventually(() => Date.parse(query(page).get('at') ?? '') / 1_000).toBeCloseTo(dropout, 0)
  const [from] = await rangeOf(page)
  await page.keyboard.press('Shift+ArrowRight')
  await eventually(async () => (await rangeOf(page))[0]).toBeCloseTo(from + 150, 0)
  await page.keyboard.press('Home')
  await eventually(() => Date.parse(query(page).get('at') ?? '') / 1_000).toBeCloseTo(from + 150, 0)
  await page.keyboard.press('End')
  await eventually(() => query(page).get('from')).toBeNull()
})

// Conformance: C-12.108.
it('zooms with two fingers around the point between them', async () => {
  const { service, dropout } = await start()
  const path = `/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`
  const page = await openTimeline(open, service, path, { ...phone, isMobile: true })
  const box = await page.locator('.strips-canvas').boundingBox()
  if (box === null) throw new Error('The strips are not visible.')
  const session = await page.context().newCDPSession(page)
  /** Puts two fingers at this distance to the left and right of the dropout, which is in the middle. */
  const touch = (type: 'touchStart' | 'touchMove', distance: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: [-1, 1].map((side, id) => ({ id, x: box.x + box.width / 2 + side * distance, y: box.y + 60 })),
    })
  await touch('touchStart', 20)
  for (const distance of [40, 80, 100]) await touch('touchMove', distance)
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await eventually(async () => (await rangeOf(page))[1] - (await rangeOf(page))[0]).toBeCloseTo(120, 0)
  const [from, to] = await rangeOf(page)
  expect(Math.abs((from + to) / 2 - dropout)).toBeLessThan(2)
  // The page itself is not zoomed, and no point was selected.
  await eventually(() => page.evaluate('visualViewport.scale')).toBe(1)
  expect(query(page).get('at')).toBeNull()
})

// Conformance: C-21.113.
it('adds, edits and deletes a marker, and restores it', async () => {
  const { service, history, now } = await start()
  const page = await openTimeline(open, service, '/timeline')
  await page.locator('.strips-canvas').click({ position: { x: 300, y: 30 } })
  await page.getByRole('button', { name: 'Add marker' }).click()
  await press(page, 'Add marker')
  await dialog(page).getByText('Enter a text.').waitFor()
  await dialog(page).getByLabel('Text').fill('Feedback')
  await press(page, 'Add marker')
  await messages(page).getByText('Marker added.').waitFor()
  const marker = events(page).getByRole('listitem').filter({ hasText: 'Feedback' })
  await marker.getByText('1 H01 Singer 1').waitFor()
  expect(history.events.at(-1)).toMatchObject({ text: 'Feedback', channel_id: 1, until: null })

  await marker.getByRole('button', { name: 'Edit marker Feedback' }).click()
  await dialog(page).getByLabel('Text').fill('Feedback from the wedge')
  const channel = dialog(page).getByRole('combobox', { name: 'Channel' })
  await eventually(() => channel.inputValue()).toBe('1 H01 Singer 1')
  await channel.click()
  // Escape closes the suggestions, and not the dialog.
  await channel.press('Escape')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  await channel.press('ArrowDown')
  await page.getByRole('option', { name: 'All channels' }).click()
  await press(page, 'Save')
  const changed = events(page).getByRole('listitem').filter({ hasText: 'Feedback from the wedge' })
  await changed.getByRole('button', { name: /^Delete marker/ }).click()
  await changed.waitFor({ state: 'detached' })
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await changed.waitFor()
  const time = Date.parse(history.events.at(-1)?.time ?? '') / 1_000
  expect(time).toBeGreaterThan(now - 600)
  expect(time).toBeLessThan(now)
})

it('shows events as they are announced, and filters them by kind', async () => {
  const { service, now } = await start()
  const page = await openTimeline(open, service, '/timeline')
  const event = buildEvent({ id: 9, time: iso(now - 60), kind: 'muted', channel_id: 2, receiver_id: 1 })
  service.send({ type: 'event', event })
  const shown = events(page).getByRole('button', { name: 'Muted' })
  await shown.waitFor()
  service.send({ type: 'event_changed', event: { ...event, kind: 'unmuted' } })
  await events(page).getByRole('button', { name: 'Unmuted' }).waitFor()
  await page.getByLabel('Kind of event').selectOption({ label: 'All: RF' })
  await events(page).getByText('No events in this range.').waitFor()
  await page.getByLabel('Kind of event').selectOption('All events')
  await events(page).getByRole('button', { name: 'Unmuted' }).waitFor()
  service.send({ type: 'event_deleted', id: 9 })
  await events(page).getByText('No events in this range.').waitFor()
})

// Conformance: C-12.115.
it('works on a phone: strips over the whole width, the list below, large targets', async () => {
  const { service, dropout } = await start()
  const path = `/timeline?from=${iso(dropout - 5)}&to=${iso(dropout + 5)}`
  const page = await openTimeline(open, service, path, { ...phone, isMobile: true })
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  const [canvas, list] = [await page.locator('.strips-canvas').boundingBox(), await events(page).boundingBox()]
  expect(canvas?.width).toBeGreaterThan(350)
  expect(list?.y ?? 0).toBeGreaterThan((canvas?.y ?? 0) + (canvas?.height ?? 0) - 1)
  await eventually(() => countPixels(page, '--meter-rf-weak', 6)).toBeGreaterThan(8)
  await eventually(() => smallTargets(page)).toEqual([])
  await strips(page).tap({ position: { x: 100, y: 120 } })
  await page.getByRole('link', { name: 'On the wall' }).waitFor()
  await eventually(() => query(page).get('open')).toBe('1')
  await page.setViewportSize({ width: 320, height: 700 })
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByRole('button', { name: 'Channels and view' }).tap()
  await page.getByRole('searchbox', { name: 'Search channels' }).waitFor()
  await eventually(() => smallTargets(page)).toEqual([])
  const sideways = `[...document.querySelectorAll('.timeline-tools')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`
  await eventually(() => page.evaluate(sideways)).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
})
