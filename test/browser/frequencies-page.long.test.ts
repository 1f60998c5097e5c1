/** The page of the frequencies in a browser. */

import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import {
  browserForTests,
  findViolations,
  phone,
  press,
  row,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { receiver, sendLevels, update } from '../support/browser/fake-service.ts'
import {
  buildPlan,
  carrier,
  chosen,
  conflicts,
  openTab,
  rangeOf,
  scan,
  spectrum,
  startFrequencies,
} from '../support/browser/frequencies-page.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

const highlighted = (page: Page) => page.locator('tr[data-highlighted]')
/** Returns the pixels of the spectrum, without the details above it. */
const picture = (page: Page) => page.evaluate<string>("document.querySelector('.spectrum-canvas').toDataURL()")
/** Returns carriers of the generic profile at equal distances, which have very many conflicts. */
function manyCarriers(count: number, stepMhz: number) {
  return Array.from({ length: count }, (_, index) =>
    carrier(index + 1, (470 + index * stepMhz).toFixed(3), { profile: 'generic' }),
  )
}

const sweeps = {
  ...{ source: 'stage', from_mhz: 485, step_mhz: 0.1, last: [-90, -80], max: [-90, -70], calibrated: true },
  ...{ waterfall: [], sweep_seconds: 5, at: '2026-11-22T19:00:00.000Z' },
}

/** Prints the page. Returns the height of each sheet, divided by its width. */
async function printPage(page: Page, format: string): Promise<readonly number[]> {
  const pdf = (await page.pdf({ format })).toString('latin1')
  return [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(
    ([, width, height]) => Number(height) / Number(width),
  )
}

/** Returns the rows of the file with the tried frequencies. */
async function exported(page: Page, format: string): Promise<readonly string[]> {
  await page.getByRole('button', { name: 'Export the tried frequencies' }).click()
  const button = page.getByRole('button', { name: format })
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
  await page.keyboard.press('Escape')
  return readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
}

const frequencyOf = (page: Page) => rows(page).locator('[data-column="mhz"]').allInnerTexts()

// Conformance: C-15.72, C-15.73.
it('describes conflicts in words, and highlights the carriers of the selected conflict', async () => {
  const { service } = await startFrequencies()
  const page = await open(service, '/frequencies')
  const conflict = conflicts(page).getByRole('button', {
    name: '8 Mic 8 (499.875 MHz) is hit by 2 × (6 Mic 6) − (5 Mic 5), 50 kHz away; needs 75 kHz.',
  })
  await conflict.click()
  await eventually(() => highlighted(page).locator('[data-column="name"]').allInnerTexts()).toEqual([
    ...['Mic 5', 'Mic 6', 'Mic 8'],
  ])
  await conflict.and(page.locator('[aria-pressed="true"]')).click()
  await eventually(() => highlighted(page).count()).toBe(0)

  // The spectrum moves to the carriers of the conflict.
  const zoomIn = spectrum(page).getByRole('button', { name: 'Zoom in' })
  for (let count = 0; count < 5; count++) await zoomIn.click()
  await conflict.click()
  await eventually(async () => (await rangeOf(page))[0]).toBeLessThan(490.125)
  await eventually(async () => (await rangeOf(page))[1]).toBeGreaterThan(499.875)

  // Only the conflicts of one carrier.
  await row(page, 'Mic 5').getByRole('button', { name: 'Show 5 Mic 5 in the spectrum' }).click()
  await conflicts(page).getByRole('heading', { name: '5 Mic 5: 1 conflict' }).waitFor()
  await eventually(() => conflicts(page).getByRole('listitem').count()).toBe(1)
  await page.getByRole('button', { name: 'Show all conflicts' }).click()
  await eventually(() => conflicts(page).getByRole('listitem').count()).toBeGreaterThan(2)
})

// Conformance: C-15.74.
it('moves and zooms with keys, the wheel and the mouse, and shows all again', async () => {
  const { service } = await startFrequencies()
  const page = await open(service, '/frequencies')
  await chosen(page).focus()
  const [from, to] = await rangeOf(page)
  await page.keyboard.press('ArrowRight')
  const first = '1 Mic 1, 485.000 MHz, On, −51 dBm, no conflicts'
  await eventually(() => chosen(page).getAttribute('aria-valuetext')).toBe(first)
  await page.keyboard.press('End')
  await eventually(() => chosen(page).getAttribute('aria-valuetext')).toContain('IEM Drums, 503.125 MHz, Planned')
  await page.keyboard.press('Escape')
  await eventually(() => chosen(page).getAttribute('aria-valuetext')).toBe('None selected')

  const width = async () => (await rangeOf(page))[1] - (await rangeOf(page))[0]
  await page.keyboard.press('+')
  await eventually(width).toBeCloseTo((to - from) / 2, 0)
  await page.keyboard.press('Shift+ArrowRight')
  await eventually(async () => (await rangeOf(page))[0]).toBeGreaterThan(from + (to - from) / 4)
  await page.keyboard.press('0')
  await eventually(() => rangeOf(page)).toEqual([from, to])

  const box = await page.locator('.spectrum-canvas').boundingBox()
  if (box === null) throw new Error('The spectrum is not visible.')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -400)
  await page.keyboard.up('Control')
  await eventually(width).toBeLessThan((to - from) * 0.6)
  const [zoomed] = await rangeOf(page)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 - 200, box.y + box.height / 2, { steps: 4 })
  await page.mouse.up()
  await eventually(async () => (await rangeOf(page))[0]).toBeGreaterThan(zoomed)
  await spectrum(page).getByRole('button', { name: 'Show all' }).click()
  await eventually(() => rangeOf(page)).toEqual([from, to])

  // A click selects the carrier below the pointer, here Mic 1.
  await page.mouse.click(box.x + ((485 - from) / (to - from)) * box.width + 3, box.y + box.height / 2)
  await eventually(() => chosen(page).getAttribute('aria-valuetext')).toBe(first)
  await page.locator('.spectrum-details').getByText('485.000 MHz · TV 22').waitFor()
})

// Conformance: C-15.75.
it('sorts and filters the carriers, and keeps both in the address', async () => {
  const { service } = await startFrequencies()
  const page = await open(service, '/frequencies')
  await eventually(async () => (await frequencyOf(page)).length).toBe(10)
  await page.getByRole('button', { name: 'Frequency', exact: true }).click()
  await page.locator('.frequencies-table th[aria-sort=ascending]').waitFor()
  await page.getByRole('button', { name: 'Frequency', exact: true }).click()
  await eventually(async () => (await frequencyOf(page))[0]).toContain('503.125')
  // Not `check`, because the box is checked only once the address has changed.
  const onlyOn = page.getByLabel('Only transmitters that are on')
  await onlyOn.click()
  await eventually(() => onlyOn.isChecked()).toBe(true)
  await eventually(async () => (await frequencyOf(page)).length).toBe(8)
  await page.getByLabel('Group').selectOption('Band')
  await eventually(async () => (await frequencyOf(page)).map((text) => text.slice(0, 7))).toEqual([
    ...['488.175', '486.625', '485.000'],
  ])
  await page.getByLabel('Distance').selectOption('Robust')
  await eventually(() => service.requests.some(({ query }) => query.get('level') === 'robust')).toBe(true)
  await page.reload()
  await eventually(async () => (await frequencyOf(page)).length).toBe(3)
  await page.getByRole('button', { name: 'Export what is tuned' }).click()
  await eventually(() => page.getByRole('link', { name: 'CSV for spreadsheets' }).getAttribute('href')).toBe(
    '/venue/api/frequencies/export.csv?format=csv&only_on=1&group=5',
  )
})

// Conformance: C-15.76, C-15.77, C-23.124.
it('checks and suggests other frequencies without storing them', async () => {
  const { service, frequencies } = await startFrequencies()
  const page = await open(service, '/frequencies')
  await page.getByRole('button', { name: 'Try other frequencies' }).click()
  const field = page.getByLabel('Frequency to try for 5 Mic 5, in MHz')
  await field.fill('485,05')
  await field.press('Enter')
  await conflicts(page).getByText('5 Mic 5 (485.050 MHz) is 50 kHz from 1 Mic 1; needs 350 kHz.').waitFor()
  await page.getByText('1 frequency changed.').waitFor()
  await field.fill('Mic')
  await field.press('Enter')
  await row(page, 'Mic 5').getByText('Enter a frequency in MHz, such as 486.625.').waitFor()

  for (const name of ['Mic 1', 'Mic 2', 'Mic 3', 'Mic 4']) await page.getByRole('checkbox', { name }).check()
  await page.getByRole('button', { name: 'Suggest (4)' }).click()
  await page.getByLabel('Ranges in MHz', { exact: true }).fill('510')
  await press(page, 'Suggest')
  await page.getByRole('dialog').getByText('Enter ranges such as 470-534; 614-616.').waitFor()
  await page.getByLabel('Ranges in MHz', { exact: true }).fill('510-518')
  await page.getByLabel('Accept 5th-order products').check()
  await press(page, 'Suggest')
  await page.getByText('1 carrier did not fit and keeps its frequency.').waitFor()
  const unplaced = page.getByRole('list', { name: 'Carriers that did not fit' })
  await eventually(() => unplaced.getByRole('listitem').allInnerTexts()).toEqual([
    '4 Mic 4\nSpacing: 1 Mic 1 and 5 Mic 5',
  ])
  const accepted = page.getByRole('list', { name: 'Carriers with accepted conflicts' })
  await eventually(() => accepted.getByRole('listitem').allInnerTexts()).toEqual(['3 Mic 3\n5th order'])
  await eventually(() => page.getByLabel('Frequency to try for 3 Mic 3, in MHz').inputValue()).toBe('511.400')
  const [, , sent = ''] = frequencies.written.find(([, path]) => path.endsWith('/suggest/')) ?? []
  expect(JSON.parse(sent)).toMatchObject({
    wanted: [{ profile: 'ulxd', count: 4, ranges: [{ from: '510.000', to: '518.000' }] }],
    level: 'standard',
    soft: ['2t5o'],
  })
  expect((JSON.parse(sent) as { keep: { id: string }[] }).keep.map(({ id }) => id)).not.toContain('c1')

  expect((await exported(page, 'CSV for spreadsheets')).slice(0, 4)).toEqual([
    '\uFEFFname,mhz,profile,zone,tv_channel,slot,group',
    ...['Mic 5,485.050,ulxd,,22,5,', 'Mic 4,488.725,ulxd,,23,4,', 'Mic 6,495.025,ulxd,,24,6,'],
  ])
  expect((await exported(page, 'Wireless Workbench')).slice(-4)).toEqual(['503.125', '510.000', '510.700', '511.400'])
  expect((await exported(page, 'Wireless Systems Manager')).at(-1)).toBe('Mic 3;0;511400;0;511400;511400;2;5')
  await page.getByRole('button', { name: 'Discard' }).click()
  await eventually(() => page.getByLabel('Frequency to try for 5 Mic 5, in MHz').count()).toBe(0)
  await row(page, 'Mic 5').getByText('490.125 MHz').waitFor()
  const addresses = new Set(frequencies.written.map(([, path]) => path))
  expect([...addresses].sort()).toEqual(['/api/frequencies/check/', '/api/frequencies/suggest/'])
})

// Conformance: C-15.80, C-15.81.
it('follows changes of frequencies and transmitters, and shows viewers no edit buttons', async () => {
  const { service, frequencies } = await startFrequencies(['read'])
  frequencies.scans = [scan(1)]
  service.data.responses['/api/frequency-plans/'] = [buildPlan('Gala')]
  service.data.responses['/api/sweeps/'] = [sweeps]
  service.data.responses['/api/sweeps/stage/'] = sweeps
  const page = await open(service, '/frequencies?tab=scans')
  await page.getByRole('checkbox', { name: 'foyer-1.csv' }).waitFor()
  await page.getByRole('button', { name: 'stage' }).click()
  await page.getByText('Live spectrum as tables').waitFor()
  for (const tab of ['Scans', 'TV', 'Place', 'Profiles', 'Plans', 'Carriers']) {
    await openTab(page, tab)
    if (tab === 'Plans') await page.getByRole('button', { name: 'Compare Gala' }).waitFor()
    for (const name of [
      'Upload scan',
      'Use for checks',
      'Delete',
      'Edit',
      'Store as plan',
      'Duplicate',
      'Keep as scan',
    ]) {
      await eventually(() => page.getByRole('button', { name }).count()).toBe(0)
    }
  }
  await row(page, 'Mic 1').getByText('485.000 MHz').waitFor()
  const reads = () => service.requests.filter(({ path }) => path === '/api/frequencies/').length
  const before = reads()
  frequencies.carriers = frequencies.carriers.with(0, carrier(1, '471.000'))
  for (let count = 0; count < 20; count++) update(service, [{ frequency: `471.${String(count).padStart(3, '0')}` }])
  service.send({ type: 'frequencies' })
  await row(page, 'Mic 1').getByText('471.000 MHz').waitFor()
  // Twenty changes within a moment cause few reads.
  expect(reads() - before).toBeLessThan(6)
})

// Conformance: C-15.85, C-15.86.
it('shows live and recorded noise on idle channels', async () => {
  const { service, frequencies } = await startFrequencies()
  service.data.receivers = [receiver(1, [null, {}])]
  const idle = { receiver_id: 1, transmitter_on: false, rf_level: -88, noise_dbm: -88 }
  frequencies.carriers = [carrier(1, '485.000', idle), carrier(2, '490.000', { receiver_id: 1 })]
  const recorded = { seconds: 600, median_dbm: -97, highest_at: new Date().toISOString() }
  frequencies.noise = [
    { id: 'c1', channel_id: 1, mhz: '485.000', ...recorded, highest_dbm: -71, is_high: true },
    // The channel is tuned to another frequency now.
    { id: 'c2', channel_id: 2, mhz: '491.000', ...recorded, highest_dbm: -60, is_high: true },
  ]
  const page = await open(service, '/frequencies')
  const noise = row(page, 'Mic 1').locator('[data-column="noise"]')
  await eventually(() => noise.innerText()).toMatch(/^−71 dBm\n.*\d/)
  await eventually(() => row(page, 'Mic 2').locator('[data-column="noise"]').innerText()).toBe('–')
  // Only a page that is connected receives levels; it has read the noise without the connection.
  await eventually(() => service.connections).toHaveLength(1)
  sendLevels(service, -64, null)
  await row(page, 'Mic 1').getByText('Noise −64 dBm').waitFor()
  await row(page, 'Mic 1').getByRole('button', { name: 'Show 1 Mic 1 in the spectrum' }).click()
  const details = page.locator('.spectrum-details')
  await details.getByText('Off · Noise −64 dBm').waitFor()
  await details.getByText(/^Noise in 24 hours: peak −71 dBm at .+, median −97 dBm$/).waitFor()

  // The spectrum is painted again for every new level.
  const before = await picture(page)
  sendLevels(service, -30, null)
  await eventually(() => picture(page)).not.toBe(before)
  await details.getByText('Off · Noise −30 dBm').waitFor()
})

// Conformance: C-23.60.
it('keeps the spectrum and the conflicts in view while the table scrolls, and has no tab that is too wide', async () => {
  const { service, frequencies } = await startFrequencies()
  frequencies.carriers = manyCarriers(60, 0.4)
  frequencies.scans = [scan(1)]
  const page = await open(service, '/frequencies')
  await eventually(() => rows(page).count()).toBe(60)
  await rows(page).last().scrollIntoViewIfNeeded()
  const isInView = (part: Locator) =>
    part.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    })
  for (const part of [
    page.locator('.spectrum-canvas'),
    conflicts(page).getByRole('heading'),
    page.getByRole('button', { name: 'Select all' }),
    page.getByRole('button', { name: 'Frequency', exact: true }),
    rows(page).last().locator('.mhz'),
  ]) {
    await eventually(() => isInView(part)).toBe(true)
  }
  const isCovered = (part: Locator) =>
    part.evaluate((element) => {
      const { left, top } = element.getBoundingClientRect()
      return !element.contains(document.elementFromPoint(left + 2, top + 2))
    })
  await eventually(() => isCovered(rows(page).last().locator('.mhz'))).toBe(false)
  for (const tab of ['Scans', 'TV', 'Place', 'Profiles', 'Plans', 'Carriers']) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await openTab(page, tab)
    await eventually(() => findViolations(page)).toEqual([])
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 })
      await eventually(() => scrollsHorizontally(page)).toBe(false)
    }
  }
})

// Conformance: C-23.61.
it('selects all carriers, ranges with the mouse and the keyboard, and groups', async () => {
  const { service } = await startFrequencies()
  const page = await open(service, '/frequencies?sort=slot')
  const bar = page.getByRole('region', { name: 'Selection' })
  const selected = () => page.locator('tr[data-selected] [data-column="slot"]').allInnerTexts()
  const box = (slot: number) => page.getByRole('checkbox', { name: `${slot} Mic ${slot}` })
  await bar.getByRole('button', { name: 'Select all' }).click()
  await bar.getByText('All 10 selected').waitFor()
  await bar.getByRole('button', { name: 'Select none' }).click()
  await bar.getByText('None selected').waitFor()

  await box(2).click()
  await box(5).click({ modifiers: ['Shift'] })
  await eventually(selected).toEqual(['2', '3', '4', '5'])
  // A range takes the state of its last box.
  await box(4).click({ modifiers: ['Shift'] })
  await eventually(selected).toEqual(['2', '3'])
  await box(6).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Shift+Space')
  await eventually(selected).toEqual(['2', '3', '6', '7', '8'])
  await eventually(() => page.evaluate('getSelection().toString()')).toBe('')

  await bar.getByRole('button', { name: 'Select group' }).click()
  const band = bar.getByRole('button', { name: 'Band 3' })
  await band.click()
  await eventually(selected).toEqual(['1', '2', '3', '6', '7', '8'])
  await band.click()
  await eventually(selected).toEqual(['6', '7', '8'])
  await page.keyboard.press('Escape')
  await bar.getByRole('button', { name: 'Suggest (3)' }).click()
  await page.getByRole('dialog', { name: 'Suggest frequencies for 3 carriers' }).waitFor()
})

it('lays out and paints only the carriers near the viewport, in columns below their headings', async () => {
  const { service, frequencies } = await startFrequencies()
  frequencies.carriers = manyCarriers(120, 0.4)
  const page = await open(service, '/frequencies')
  const carriers = page.locator('.frequencies-table tbody tr')
  await eventually(() => carriers.count()).toBe(120)
  const isRendered = (row: Locator) =>
    row.locator('.mhz').evaluate((element) => element.checkVisibility({ contentVisibilityAuto: true }))
  await eventually(() => isRendered(carriers.last())).toBe(false)
  await carriers.last().scrollIntoViewIfNeeded()
  await eventually(() => isRendered(carriers.last())).toBe(true)
  await eventually(() => isRendered(carriers.first())).toBe(false)
  const columns = (cells: Locator) =>
    cells.evaluateAll((elements) =>
      elements.map((element) => {
        const { left, right } = element.getBoundingClientRect()
        return [Math.round(left), Math.round(right)]
      }),
    )
  const headings = await columns(page.locator('.frequencies-table th'))
  expect(headings.length).toBeGreaterThan(8)
  await eventually(() => columns(carriers.last().locator('td'))).toEqual(headings)
})

// Conformance: C-15.87.
it.each([
  ['A4', 297 / 210],
  ['Letter', 11 / 8.5],
])('is printed on %s without controls, with whole rows and repeated headings', async (format, ratio) => {
  const { service, frequencies } = await startFrequencies()
  frequencies.carriers = manyCarriers(90, 0.4)
  const page = await open(service, '/frequencies?level=robust')
  await eventually(() => page.locator('.frequencies-table tbody tr').count()).toBe(90)
  const ratios = await printPage(page, format)
  expect(ratios.length).toBeGreaterThan(3)
  for (const printed of ratios) expect(printed).toBeCloseTo(ratio, 2)
  await page.emulateMedia({ media: 'print' })
  await page.setViewportSize({ width: 703, height: 900 })
  await page.getByText(/^Conflicts as of .* · Distance: Robust$/).waitFor()
  const visible = page.locator('main').locator('button, input, select, canvas, .choice').locator('visible=true')
  // A frequency and a conflict are buttons on the screen, and text on paper.
  await eventually(() => visible.and(page.locator(':not(.mhz, .conflict, .sort)')).count()).toBe(0)
  const styles = await page.evaluate(() => {
    const style = (selector: string) => getComputedStyle(document.querySelector(selector) as Element)
    return {
      heading: style('.data-table thead').display,
      headingText: style('.data-table th .sort').display,
      row: style('.data-table tbody tr').breakInside,
      conflict: style('.conflicts-list li').breakInside,
      background: style('html').backgroundColor,
    }
  })
  expect(styles).toEqual({
    ...{ heading: 'table-header-group', headingText: 'contents', row: 'avoid', conflict: 'avoid' },
    background: 'rgb(255, 255, 255)',
  })
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

// Conformance: C-15.88.
it('lists the worst of thousands of conflicts, says how many there are, and filters them by kind and carrier', async () => {
  const { service, frequencies } = await startFrequencies()
  frequencies.carriers = manyCarriers(60, 0.4)
  const page = await open(service, '/frequencies')
  const listed = conflicts(page).getByRole('listitem')
  await eventually(() => conflicts(page).getByRole('heading').innerText()).toMatch(/^\d{5} conflicts$/)
  await eventually(() => listed.count()).toBe(50)
  await conflicts(page).getByText('conflicts are not listed.').waitFor()
  await conflicts(page).getByRole('button', { name: 'Show 950 more' }).click()
  await eventually(() => listed.count()).toBe(1000)

  const kinds = conflicts(page).getByRole('navigation', { name: 'Kind of conflict' })
  await kinds.getByRole('button', { name: /^3rd order, two transmitters: \d+$/ }).click()
  await eventually(async () => new Set(await listed.locator('small').allInnerTexts())).toEqual(
    new Set(['3rd order, two transmitters · on now']),
  )
  const text = await kinds.locator('[aria-pressed=true]').innerText()
  await eventually(() => conflicts(page).getByRole('heading').innerText()).toBe(`${text} conflicts`)
  await kinds.getByRole('button', { name: 'All kinds' }).click()
  await eventually(() => listed.count()).toBe(1000)

  // None of its conflicts is in the list, because those of the carriers before it have the same offset.
  await row(page, 'Mic 60').getByRole('button', { name: 'Show 60 Mic 60 in the spectrum' }).click()
  await eventually(() => conflicts(page).getByRole('heading').innerText()).toMatch(/^60 Mic 60: \d{3,} conflicts$/)
  await eventually(() => listed.count()).toBeGreaterThan(100)
  for (const text of await listed.allInnerTexts()) expect(text).toMatch(/Mic 60 \(.*\) is hit exactly by/)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

// Conformance: C-15.82, C-15.83.
it('is accessible at every width, and explains an empty page', async () => {
  const { service, frequencies } = await startFrequencies()
  const page = await open(service, '/frequencies')
  await page.getByRole('button', { name: 'Try other frequencies' }).click()
  await eventually(() => findViolations(page)).toEqual([])
  for (const width of [320, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    await eventually(() => scrollsHorizontally(page)).toBe(false)
  }
  frequencies.carriers = []
  const small = await open(service, '/frequencies', { ...phone, colorScheme: 'light' })
  await small.getByRole('heading', { name: 'No frequencies yet' }).waitFor()
  await conflicts(small).getByText('Every carrier keeps the distances').waitFor()
  await conflicts(small).getByText('Not considered: scans and recorded noise.').waitFor()
  await eventually(() => findViolations(small)).toEqual([])
})
