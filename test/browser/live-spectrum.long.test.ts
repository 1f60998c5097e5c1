/** The live spectrum on the page of the frequencies, against a real service to which an analyser pushes. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import {
  browserForTests,
  findColourViolations,
  findViolations,
  messages,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { openTab } from '../support/browser/frequencies-page.ts'
import { eventually } from '../support/eventually.ts'

const { openAs } = browserForTests()

/** A sweep from 470 to 490 MHz with a carrier. */
function sweepWith(carrierMhz: number, level: number, source = 'stage') {
  const dbm = Array.from({ length: 801 }, (_, index) =>
    Math.abs(470 + index / 40 - carrierMhz) < 0.06 ? level : -105 + (index % 3),
  )
  return { source, mhz_from: 470, mhz_step: 0.025, dbm }
}

const push = async (app: TestApp, sweep: ReturnType<typeof sweepWith>) =>
  expect((await app.post('/api/sweeps/', sweep)).status).toBe(201)

const live = (page: Page) => page.getByRole('region', { name: 'Live spectrum' })

/** The number of pixels of a canvas that differ from its corner at the bottom right. */
const drawnPixels = (page: Page, selector: string) =>
  page.evaluate<number>(`(() => {
    const canvas = document.querySelector('${selector}')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height - 40)
    const pixels = new Uint32Array(data.buffer)
    return pixels.filter((pixel) => pixel !== pixels.at(-1)).length
  })()`)

const levelsAt = async (page: Page, range: string) => {
  const cells = await page
    .getByRole('table', { name: 'Last sweep and maximum' })
    .getByRole('row', { name: range })
    .getByRole('cell')
    .allInnerTexts()
  return cells.slice(1).map((cell) => cell.trim())
}

// Conformance: C-23.120.
it('says how to push sweeps until an analyser does, then offers its source', async () => {
  const app = await startApp()
  const page = await openAs(app, 'operator', '/frequencies?tab=scans')
  const scan = live(page).getByLabel('tinySA or RF Explorer', { exact: true })
  await eventually(() => scan.inputValue()).toBe(
    `micwatch scan tinysa --port /dev/ttyACM0 --from 470 --to 608 --url ${app.url}`,
  )
  await eventually(() => live(page).getByLabel('RTL-SDR stick', { exact: true }).inputValue()).toContain(
    `| curl -T - "${app.url}/api/sweeps/?source=stick"`,
  )
  await eventually(() => findViolations(page)).toEqual([])
  await push(app, sweepWith(480, -50))
  await live(page).getByRole('button', { name: 'stage' }).click()
  await live(page).getByText('Live', { exact: true }).waitFor()
  await live(page).getByText('470.000–490.000 MHz, 801 points · calibrated').waitFor()
})

// Conformance: C-23.120, C-23.122, C-23.123.
it('draws sweeps in the spectrum and the waterfall, holds their maximum, and says when they end', async () => {
  const app = await startApp()
  await app.post('/api/placeholders/', { kind: 'wireless', slot: 1, name: 'Vox 1', frequency: '471.000' })
  await app.post('/api/placeholders/', { kind: 'wireless', slot: 2, name: 'Vox 2', frequency: '489.000' })
  await push(app, sweepWith(474, -40))
  const page = await openAs(app, 'operator', '/frequencies?tab=scans')
  await page.locator('.spectrum-canvas').waitFor()
  await eventually(() => drawnPixels(page, '.spectrum-canvas')).toBeGreaterThan(100)
  const before = await drawnPixels(page, '.spectrum-canvas')
  await live(page).getByRole('button', { name: 'stage' }).click()
  await eventually(() => drawnPixels(page, '.spectrum-canvas')).toBeGreaterThan(before + 1000)
  await live(page).getByText('Live spectrum as tables').click()
  await eventually(() => levelsAt(page, '474 to 474.5')).toEqual(['−40 dBm', '−40 dBm'])

  // The second sweep arrives over the open page's connection.
  const oneLine = await drawnPixels(page, '.waterfall')
  await push(app, sweepWith(484, -55))
  await eventually(() => levelsAt(page, '484 to 484.5')).toEqual(['−55 dBm', '−55 dBm'])
  await eventually(() => levelsAt(page, '474 to 474.5')).toEqual(['−103 dBm', '−40 dBm'])
  await eventually(() => drawnPixels(page, '.waterfall')).toBeGreaterThan(oneLine)
  const waterfall = page.getByRole('table', { name: 'Waterfall' })
  await eventually(() => waterfall.getByRole('row').count()).toBe(3)
  await live(page)
    .getByText(/sweep time [\d.]+ s/)
    .waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await live(page).getByRole('button', { name: 'Reset maximum' }).click()
  await eventually(() => levelsAt(page, '474 to 474.5')).toEqual(['−103 dBm', '−103 dBm'])
  await live(page).getByLabel('Also resets').selectOption('every 5 minutes')
  await eventually(async () => (await app.get('/api/sweeps/stage/')).json.reset_minutes).toBe(5)

  await live(page).getByRole('button', { name: 'Keep as scan' }).click()
  await page.getByLabel('Name').fill('Hall at noon')
  await press(page, 'Keep as scan')
  await messages(page).getByText('Scan Hall at noon stored.').waitFor()
  const scans = page.getByRole('region', { name: 'Scans', exact: true })
  await scans.getByText('Live sweeps · 470.000–490.000 MHz, 801 points').waitFor()

  // Nothing arrives any longer.
  await live(page).getByText('Stopped', { exact: true }).waitFor()
  await live(page)
    .getByText(/^Last sweep .+, \d+.+ ago/)
    .waitFor()
  await eventually(() => findColourViolations(page)).toEqual([])

  await live(page).getByRole('button', { name: 'Delete' }).click()
  await press(page, 'Delete')
  await live(page).getByText('No analyser pushes its sweeps.', { exact: false }).waitFor()
  expect((await app.get('/api/sweeps/')).json).toEqual([])
})

// Conformance: C-23.121.
it('receives sweeps only while the page shows a source, and keeps it in the address', async () => {
  const app = await startApp()
  await push(app, sweepWith(474, -40))
  await push(app, sweepWith(474, -40, 'roof'))
  const page = await openAs(app, 'viewer', '/frequencies?tab=scans')
  const received: string[] = []
  const sent: string[] = []
  await page.reload()
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      const message = JSON.parse(String(payload)) as { type: string; source?: string }
      if (message.type === 'sweep') received.push(String(message.source))
    })
    socket.on('framesent', ({ payload }) => {
      const message = JSON.parse(String(payload)) as { type: string; source?: string | null }
      if (message.type === 'select_sweeps') sent.push(String(message.source))
    })
  })
  await page.reload()
  await live(page).getByRole('button', { name: 'roof' }).click()
  await eventually(() => sent).toEqual(['roof'])
  await push(app, sweepWith(480, -40, 'roof'))
  await push(app, sweepWith(480, -40, 'stage'))
  await eventually(() => received).toEqual(['roof'])
  await openTab(page, 'Carriers')
  await push(app, sweepWith(481, -40, 'roof'))
  await eventually(() => received).toEqual(['roof', 'roof'])
  expect(new URL(page.url()).searchParams.get('live')).toBe('roof')
  await openTab(page, 'Scans')
  await live(page).getByRole('button', { name: 'roof' }).click()
  await eventually(() => sent).toEqual(['roof', 'null'])
  await push(app, sweepWith(482, -40, 'roof'))
  await live(page).getByRole('button', { name: 'stage' }).click()
  await eventually(() => sent.at(-1)).toBe('stage')
  expect(received).toEqual(['roof', 'roof'])
})

it.each(['light', 'dark', 'contrast'])('fits every width in the theme %s', async (theme) => {
  const app = await startApp()
  await push(app, sweepWith(474, -40))
  const page = await openAs(app, 'operator', `/frequencies?tab=scans&live=stage&theme=${theme}`, phone)
  await live(page).getByText('Maximum', { exact: true }).waitFor()
  for (const width of [320, 390, 1440, 3840]) {
    await page.setViewportSize({ width, height: 900 })
    await eventually(() => scrollsHorizontally(page)).toBe(false)
  }
  await eventually(() => findViolations(page)).toEqual([])
})
