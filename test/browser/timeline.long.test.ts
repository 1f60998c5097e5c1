/** The timeline in a browser: everything that takes long. */

import { describe, expect, it } from 'vitest'
import { browserForTests, dialog, findViolations, press } from '../support/browser/browser.ts'
import { events, iso, loaded, openTimeline, query, rangeOf, start, zoomTo } from '../support/browser/timeline-page.ts'
import { buildAlert, buildGroup } from '../support/builders.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

describe('the range', () => {
  it('zooms around the pointer with Ctrl and the wheel, and moves when it is dragged', async () => {
    const { service, dropout } = await start()
    const page = await openTimeline(open, service, `/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`)
    const box = await page.locator('.strips-canvas').boundingBox()
    if (box === null) throw new Error('The strips are not visible.')
    await page.mouse.move(box.x + box.width / 4, box.y + 60)
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -400)
    await page.keyboard.up('Control')
    await eventually(async () => (await rangeOf(page))[1] - (await rangeOf(page))[0]).toBeLessThan(400)
    const [from, to] = await rangeOf(page)
    // The time below the pointer stays there.
    expect(from + (to - from) / 4).toBeCloseTo(dropout - 150, -1)

    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 2, box.y + 60, { steps: 5 })
    await page.mouse.up()
    await eventually(async () => (await rangeOf(page))[0]).toBeLessThan(from - (to - from) / 5)
  })

  it('follows the present until it is moved, and again on request', async () => {
    const { service } = await start()
    const page = await openTimeline(open, service, '/timeline')
    const now = page.getByRole('button', { name: 'Now' })
    await eventually(() => now.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await eventually(() => now.getAttribute('aria-pressed')).toBe('false')
    await rangeOf(page)
    await now.click()
    await eventually(() => now.getAttribute('aria-pressed')).toBe('true')
    await eventually(() => query(page).get('from')).toBeNull()
  })

  it('goes to a date and time', async () => {
    const { service } = await start()
    const page = await openTimeline(open, service, '/timeline', { timezoneId: 'Europe/Berlin' })
    await page.getByRole('button', { name: 'Go to…' }).click()
    await page.getByLabel('Date and time').fill('2026-05-01T20:14:05')
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await eventually(() => query(page).get('at')).toBe('2026-05-01T18:14:05Z')
    const [from, to] = await rangeOf(page)
    expect((from + to) / 2).toBeCloseTo(Date.parse('2026-05-01T18:14:05Z') / 1_000, -1)
  })
})

it('selects channels by group, problems, name and address', async () => {
  const { service } = await start()
  service.data.groups = [buildGroup(3, { title: 'Band', slots: [2, 5] })]
  const page = await openTimeline(open, service, '/timeline?channel=7')
  const names = page.getByRole('list', { name: 'Channels' }).getByRole('button')
  await eventually(() => names.allInnerTexts()).toEqual(['7\nH07 Singer 7'])
  await page.getByLabel('Group', { exact: true }).selectOption('Band')
  await eventually(() => names.allInnerTexts()).toEqual(['2\nH02 Singer 2', '5\nH05 Singer 5'])
  expect(query(page).get('group')).toBe('3')
  await page.getByLabel('Group', { exact: true }).selectOption('All groups')
  await page.getByLabel('Search channels').fill('h04')
  await eventually(() => names.allInnerTexts()).toEqual(['4\nH04 Singer 4'])
  await page.getByLabel('Search channels').fill('')
  await page.getByRole('button', { name: 'Problems' }).click()
  await page.getByText('No channel matches.').waitFor()
})

it('marks a range that was selected', async () => {
  const { service, history } = await start()
  const page = await openTimeline(open, service, '/timeline')
  await page.getByRole('button', { name: 'Select range' }).click()
  const box = await page.locator('.strips-canvas').boundingBox()
  if (box === null) throw new Error('The strips are not visible.')
  await page.mouse.move(box.x + 100, box.y + 30)
  await page.mouse.down()
  await page.mouse.move(box.x + 100 + box.width / 2, box.y + 30, { steps: 4 })
  await page.mouse.up()
  await page.getByRole('button', { name: 'Mark range' }).click()
  await dialog(page).getByLabel('Text').fill('Act 2')
  await press(page, 'Add marker')
  await events(page).getByText('Act 2').waitFor()
  const { time = '', until } = history.events.at(-1) ?? {}
  expect((Date.parse(until ?? '') - Date.parse(time)) / 1_000).toBeCloseTo(300, -1)
})

it('reports levels that cannot be loaded, and retries', async () => {
  const { service, history } = await start()
  history.error = 'The history cannot be read.'
  const page = await open(service, '/timeline')
  await page.getByText('The history cannot be read.').waitFor()
  history.error = null
  await page.getByRole('button', { name: 'Retry' }).click()
  await loaded(page)
  await page.getByText('The history cannot be read.').waitFor({ state: 'detached' })
})

// Conformance: C-12.107.
it('explains why nothing is recorded', async () => {
  const { service } = await start()
  const page = await openTimeline(open, service, '/timeline')
  const notice = (reason: string) => page.getByText(`Nothing is recorded now: ${reason}.`)
  const setRecording = (HISTORY: boolean) =>
    service.send({ type: 'settings', manufacturer: null, group: null, config: { HISTORY } })
  setRecording(false)
  await notice('recording was off').waitFor()
  setRecording(true)
  await notice('recording was off').waitFor({ state: 'detached' })
  service.send({ type: 'alert', ...buildAlert({ kind: 'recording_stopped', channel_id: null, receiver_id: null }) })
  await notice('the history could not be stored').waitFor()
})

// Conformance: C-12.107.
it('reports an empty history, with and without equipment, until recording begins', async () => {
  const { service, history, now } = await start()
  history.since = now + 3_600
  const page = await open(service, '/timeline')
  await page.getByText('Nothing recorded yet.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  history.since = now - 60
  await page.getByText('Nothing recorded yet.').waitFor({ state: 'detached' })
})

// Conformance: C-12.108.
it('moves once a second while it follows the present if reduced motion is preferred', async () => {
  const { service } = await start()
  const page = await openTimeline(open, service, '/timeline?span=10', { reducedMotion: 'reduce' })
  // What arrives meanwhile is drawn as well: levels, every two seconds.
  const { pictures, seconds } = await page.evaluate<{ pictures: number; seconds: number }>(`new Promise((resolve) => {
    const began = performance.now()
    let [last, pictures] = ['', 0]
    const look = () => {
      const picture = document.querySelector('.strips-canvas').toDataURL()
      if (picture !== last) pictures += 1
      last = picture
      const seconds = (performance.now() - began) / 1000
      if (seconds < 4) requestAnimationFrame(look)
      else resolve({ pictures, seconds })
    }
    look()
  })`)
  expect(pictures).toBeGreaterThan(1)
  expect(pictures).toBeLessThanOrEqual(2 + 2 * seconds)
})

it('cancels requests that are no longer needed, and reads only new levels', async () => {
  const { service, history, dropout } = await start()
  // The first requests last until they are cancelled.
  history.delayMs = 120_000
  const page = await open(service, `/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`)
  await eventually(() => history.queries.length).toBeGreaterThan(0)
  history.delayMs = 0
  await zoomTo(page, '1 week')
  await eventually(() => history.cancelled).toBeGreaterThan(0)
  await loaded(page)
  await page.getByRole('button', { name: 'Now' }).click()
  await zoomTo(page, '10 min')
  const tail = () => {
    const last = history.queries.at(-1)
    return (Date.parse(last?.get('to') ?? '') - Date.parse(last?.get('from') ?? '')) / 1_000
  }
  await eventually(tail).toBeLessThan(60)
})

it('has a table with the same data, for one channel and for all', async () => {
  const { service, dropout } = await start()
  const page = await openTimeline(open, service, `/timeline?from=${iso(dropout - 30)}&to=${iso(dropout + 30)}`)
  await page.getByRole('button', { name: 'Show as table' }).click()
  const row = page.getByRole('row', { name: /^7 H07 Singer 7/ })
  await eventually(() => row.innerText()).toContain('0.2 sec')
  await eventually(() => page.getByRole('row').count()).toBe(9)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('combobox', { name: 'Channel' }).fill('singer 7')
  await page.keyboard.press('Enter')
  await eventually(() => page.getByRole('row').count()).toBeGreaterThan(50)
  await page
    .getByRole('row')
    .filter({ hasText: '0.2 sec' })
    .getByText(/^−97 dBm to/)
    .waitFor()
})

it('is accessible in every theme', async () => {
  const { service } = await start()
  for (const theme of ['dark', 'light', 'contrast']) {
    const page = await openTimeline(open, service, `/timeline?span=604800&theme=${theme}`)
    await page.locator('.strips-canvas').click({ position: { x: 300, y: 30 } })
    await page.getByText('Legend and keys').click()
    await eventually(() => findViolations(page), theme).toEqual([])
  }
})

it('opens from the channel and from the receiver', async () => {
  const { service } = await start()
  for (const { id, channels } of service.data.receivers) {
    service.data.responses[`/api/receivers/${id}/`] = {
      ...service.data.receivers[id - 1],
      channels,
      model_status: null,
      sources: [],
    }
  }
  const page = await open(service, '/channels/7')
  await page.getByRole('main').getByRole('link', { name: 'Timeline' }).click()
  await page.getByRole('list', { name: 'Channels' }).getByRole('button', { name: 'Singer 7' }).waitFor()
  expect(query(page).get('channel')).toBe('7')
})
