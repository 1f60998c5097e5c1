/** The timeline in a browser: everything that takes long. */

import { describe, expect, it } from 'vitest'
import { browserForTests, dialog, findViolations, press } from './browser.ts'
import { buildEvent } from './fake-history.ts'
import { events, iso, loaded, openTimeline, query, rangeOf, start, zoomTo } from './timeline-page.ts'

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
    await expect.poll(async () => (await rangeOf(page))[1] - (await rangeOf(page))[0]).toBeLessThan(400)
    const [from, to] = await rangeOf(page)
    // The time below the pointer stays there.
    expect(from + (to - from) / 4).toBeCloseTo(dropout - 150, -1)

    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 2, box.y + 60, { steps: 5 })
    await page.mouse.up()
    await expect.poll(async () => (await rangeOf(page))[0]).toBeLessThan(from - (to - from) / 5)
  })

  it('follows the present until it is moved, and again on request', async () => {
    const { service } = await start()
    const page = await openTimeline(open, service, '/timeline')
    const now = page.getByRole('button', { name: 'Now' })
    expect(await now.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'Earlier' }).click()
    await expect.poll(() => now.getAttribute('aria-pressed')).toBe('false')
    await rangeOf(page)
    await now.click()
    await expect.poll(() => now.getAttribute('aria-pressed')).toBe('true')
    await expect.poll(() => query(page).get('from')).toBeNull()
  })

  it('goes to a date and time', async () => {
    const { service } = await start()
    const page = await openTimeline(open, service, '/timeline', { timezoneId: 'Europe/Berlin' })
    await page.getByRole('button', { name: 'Go to…' }).click()
    await page.getByLabel('Date and time').fill('2026-05-01T20:14:05')
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await expect.poll(() => query(page).get('at')).toBe('2026-05-01T18:14:05Z')
    const [from, to] = await rangeOf(page)
    expect((from + to) / 2).toBeCloseTo(Date.parse('2026-05-01T18:14:05Z') / 1_000, -1)
  })
})

it('selects channels by group, problems, name and address', async () => {
  const { service } = await start()
  service.data.groups = [{ id: 3, title: 'Band', slots: [2, 5], hide_charts: false, manufacturer: null }]
  const page = await openTimeline(open, service, '/timeline?channel=7')
  const names = page.getByRole('list', { name: 'Channels' }).getByRole('link')
  expect(await names.allInnerTexts()).toEqual(['Singer 7'])
  await page.getByLabel('Group', { exact: true }).selectOption('Band')
  await expect.poll(() => names.allInnerTexts()).toEqual(['Singer 2', 'Singer 5'])
  expect(query(page).get('group')).toBe('3')
  await page.getByLabel('Group', { exact: true }).selectOption('All groups')
  await page.getByLabel('Search channels').fill('h04')
  await expect.poll(() => names.allInnerTexts()).toEqual(['Singer 4'])
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

it('says when nothing is recorded, when levels cannot be loaded, and tries again', async () => {
  const { service, history, now } = await start()
  history.error = 'The history cannot be read.'
  const gap = { time: iso(now - 60), kind: 'recording_gap', data: { reason: 'off', open: true } } as const
  history.events.push(buildEvent({ id: 5, ...gap }))
  const page = await open(service, '/timeline')
  await page.getByText('The history cannot be read.').waitFor()
  await page.getByText('Nothing is recorded now: recording was off.').waitFor()
  history.error = null
  await page.getByRole('button', { name: 'Retry' }).click()
  await loaded(page)
  await page.getByText('The history cannot be read.').waitFor({ state: 'detached' })
})

it('cancels what is no longer needed, and reads only the end of what it has', async () => {
  const { service, history, dropout } = await start()
  history.delayMs = 400
  const page = await open(service, `/timeline?from=${iso(dropout - 300)}&to=${iso(dropout + 300)}`)
  await expect.poll(() => history.queries.length).toBeGreaterThan(0)
  await zoomTo(page, '1 week')
  await expect.poll(() => history.cancelled).toBeGreaterThan(0)
  history.delayMs = 0
  await loaded(page)
  await page.getByRole('button', { name: 'Now' }).click()
  await zoomTo(page, '10 min')
  const tail = () => {
    const last = history.queries.at(-1)
    return (Date.parse(last?.get('to') ?? '') - Date.parse(last?.get('from') ?? '')) / 1_000
  }
  await expect.poll(tail).toBeLessThan(60)
})

it('has a table with the same data, for one channel and for all', async () => {
  const { service, dropout } = await start()
  const page = await openTimeline(open, service, `/timeline?from=${iso(dropout - 30)}&to=${iso(dropout + 30)}`)
  await page.getByRole('button', { name: 'Show as table' }).click()
  const row = page.getByRole('row', { name: /^7 Singer 7/ })
  await expect.poll(() => row.innerText()).toContain('0.2 sec')
  expect(await page.getByRole('row').count()).toBe(9)
  expect(await findViolations(page)).toEqual([])
  await page.getByLabel('Channel', { exact: true }).selectOption('7 Singer 7')
  await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(50)
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
    expect({ theme, violations: await findViolations(page) }).toEqual({ theme, violations: [] })
  }
})

it('opens from the channel and from the receiver', async () => {
  const { service } = await start()
  for (const { id, channels } of service.data.receivers) {
    service.data.responses[`/api/receivers/${id}/`] = { ...service.data.receivers[id - 1], channels, sources: [] }
  }
  const page = await open(service, '/channels/7')
  await page.getByRole('main').getByRole('link', { name: 'Timeline' }).click()
  await page.getByRole('list', { name: 'Channels' }).getByRole('link', { name: 'Singer 7' }).waitFor()
  expect(query(page).get('channel')).toBe('7')
})
