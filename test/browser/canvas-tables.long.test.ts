/** Every canvas has a table or a text with the same data, which a keyboard or a screen reader reaches. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { browserForTests } from '../support/browser/browser.ts'
import { waitForContent } from '../support/browser/chromium.ts'
import { listPaths, startRichService } from '../support/browser/rich-service.ts'
import { eventually } from '../support/eventually.ts'

const { openAs } = browserForTests()

/** Opens the table of each kind of canvas on the page, and waits for its levels. The keys are selectors. */
const tables: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  '.meter-layer canvas': expectLevels,
  '.uplot canvas': expectChannelTable,
  '.strips-canvas': expectTimelineTable,
  // Its marks are in the list of events.
  '.strips-header': async (page) => {
    await page.getByRole('region', { name: 'Events' }).getByRole('listitem').first().waitFor()
  },
  '.timeline-legend canvas': async (page) => {
    await openLegend(page)
    const items = page.locator('.timeline-legend li:has(canvas)')
    await items.first().waitFor()
    for (const text of await items.allInnerTexts()) expect(text).not.toBe('')
  },
  '.spectrum-canvas': async (page) => {
    await page.getByRole('table', { name: 'Carriers' }).getByRole('cell', { name: 'MHz' }).first().waitFor()
    await page.getByText('Products as a table').press('Enter')
    await page.getByRole('table', { name: 'Products as a table' }).getByRole('cell').first().waitFor()
    await page
      .getByRole('navigation', { name: 'Parts of the page' })
      .getByRole('button', { name: 'Scans' })
      .press('Enter')
    await page.getByText('Scan levels as a table').press('Enter')
    const scans = page.getByRole('table', { name: 'Scan levels as a table' })
    await scans
      .getByRole('cell', { name: /^−\d+ dBm$/ })
      .first()
      .waitFor()
  },
}

/** The current levels are texts. Those of a chart are on the page of its channel, which the card opens. */
async function expectLevels(page: Page): Promise<void> {
  const levels = page.getByRole('main').getByRole('img', { name: /\d dB(m|FS)/ })
  await levels.first().waitFor()
  const links = page.locator('.card:has(.chart) .card-link')
  if ((await links.count()) === 0) return
  await links.first().press('Enter')
  await page.waitForURL('**/channels/*')
  await expectChannelTable(page)
}

async function expectChannelTable(page: Page): Promise<void> {
  await page.getByText('Values as a table').press('Enter')
  const table = page.getByRole('table', { name: 'Values as a table' })
  await table.getByRole('cell', { name: /^−\d/ }).first().waitFor()
}

async function expectTimelineTable(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Show as table' }).press('Enter')
  const cells = page.getByRole('region', { name: 'Levels as a table' }).getByRole('cell', { name: /\d dBm$/ })
  await cells.first().waitFor()
}

/** The samples are drawn when the legend opens. */
async function openLegend(page: Page): Promise<void> {
  await page.locator('.timeline-legend > summary').press('Enter')
  await page.locator('.timeline-legend canvas').first().waitFor()
}

// Conformance: C-21.121.
it('has a table or a text for every canvas on every page, live and in a replay', async () => {
  const service = await startRichService()
  const page = await openAs(service.app, 'operator', '/')
  const replay = { name: 'replay', path: `/?at=${new Date(Date.now() - 2_000).toISOString()}`, isOpenToAll: false }
  const line = { name: 'channel check', path: `/check?show=${service.show}&channel=${service.channel}` }
  const seen = new Set<string>()
  for (const { name, path } of [...listPaths(service), replay, line]) {
    await page.goto(service.app.url + path)
    await waitForContent(page)
    if (name === 'timeline') await openLegend(page)
    const all = await page.locator('canvas').count()
    const kinds: string[] = []
    let known = 0
    for (const kind of Object.keys(tables)) {
      const count = await page.locator(kind).count()
      if (count > 0) kinds.push(kind)
      known += count
    }
    expect({ name, canvases: known }).toEqual({ name, canvases: all })
    for (const [index, kind] of kinds.entries()) {
      // The table of another canvas may have replaced the page.
      if (index > 0) await page.goto(service.app.url + path)
      await tables[kind]?.(page)
      seen.add(kind)
    }
  }
  await eventually(() => [...seen].sort()).toEqual(Object.keys(tables).sort())
})
