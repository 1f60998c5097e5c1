/** The pages that are made to be printed: the report of a show and the crew sheet. */

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { defaultSettings } from '../../src/contract/settings.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { type FakeService, startFakeService } from '../support/browser/fake-service.ts'
import { at, endedShow, longReport } from '../support/browser/long-report.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()
const berlin = { ...defaultSettings, TIME_ZONE: 'Europe/Berlin' }
const planned = { ...endedShow, id: 6, state: 'planned', started_at: null, ended_at: null }
const crew = Array.from({ length: 90 }, (_, index) => ({
  ...{ slot: index + 1, name: `Performer ${index + 1}`, role: 'Chorus', pack: 'Pack', frequency: '540.125' },
  groups: ['Act 1', 'Cast'],
}))

async function startService(responses: FakeService['data']['responses'] = {}): Promise<FakeService> {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  Object.assign(service.data.responses, {
    ...{ '/api/config/': berlin, '/api/shows/5/': endedShow, '/api/shows/5/report/': longReport },
    ...{ '/api/shows/6/': planned, '/api/crew-sheet/': { show: endedShow, rows: crew } },
    ...responses,
  })
  return service
}

/** Prints the page. Returns the size of its pages in points, one for each page. */
async function printPage(page: Page): Promise<readonly string[]> {
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
  return [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(
    ([, width, height]) => `${Math.round(Number(width))}x${Math.round(Number(height))}`,
  )
}

/** Returns the parts of the page that overlap the part before them on paper. */
function findOverlaps(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const parts = [...document.querySelectorAll('.document-heading, .document-summary, .document-part, .paper-table')]
    return parts.flatMap((part, index) => {
      const before = parts[index - 1]
      if (before === undefined || before.contains(part)) return []
      return part.getBoundingClientRect().top < before.getBoundingClientRect().bottom - 1
        ? (part.textContent ?? '')
        : []
    })
  })
}

describe('the report of a show', () => {
  // Conformance: C-13.45.
  it('lists problems first, in the time zone of the installation', async () => {
    const page = await browser.open(await startService(), '/reports/5', { timezoneId: 'Asia/Tokyo', locale: 'en-GB' })
    const content = page.getByRole('main')
    await content.getByRole('heading', { name: 'Cabaret, evening' }).waitFor()
    await eventually(() => page.title()).toContain('Report: Cabaret, evening')
    await eventually(() => content.locator('header').innerText()).toMatch(
      /22 November 2026\n19:31 – 22:42 · 3 hrs?,? 11 mins? · Europe\/Berlin/,
    )
    await eventually(() => content.locator('.document-summary li').allInnerTexts()).toEqual([
      'Battery died: 1 alert (7 Ada)',
      'Receiver offline: 1 alert (21 Performer 21, 22 Performer 22, 23 Performer 23, 24 Performer 24)',
      '1 alert was never acknowledged',
      expect.stringMatching(/^41 RF dropouts of 63.2 secs? together; the longest lasted 8.1 secs? \(7 Ada\)$/),
      'Interference, 3 times (33 Performer 33)',
      'Clipping, 12 times (33 Performer 33)',
      'Never on: 60 H60',
    ])
    const table = (name: string) => content.getByRole('region', { name, exact: true })
    await eventually(() => table('Channels').locator('tbody tr').count()).toBe(100)
    await eventually(() => table('Channels').locator('tbody tr').nth(6).innerText()).toMatch(
      /^7\tAda\s?Nora; Ada, H07\tH07 Pack; Spare 2\t191.4\t98% → 88%\t−104\t−92\t41 \(63.2 secs?\)\t\t2\t\t1$/,
    )
    await eventually(() => table('RF dropouts').innerText()).toContain('19:40:04, 19:41:04')
    await eventually(() => table('Alerts').locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^20:31:16\tBattery died\t7 Ada\tafter 48 secs?$/),
      expect.stringMatching(/^20:51:04\tReceiver offline\t21 Performer 21, .*\tnever$/),
    ])
    await eventually(() => table('Markers').locator('tbody tr').allInnerTexts()).toEqual([
      '19:31:28\tAll channels\tOverture',
      '20:33:04\t7 Ada\tPack swapped in the wings',
    ])
    await eventually(() => content.getByRole('link', { name: 'Download CSV' }).getAttribute('href')).toBe(
      '/api/shows/5/report.csv',
    )
    await eventually(() => findViolations(page)).toEqual([])
  })

  // Conformance: C-13.46.
  it.each([
    ['A4', '595x842'],
    ['Letter', '612x792'],
  ])(
    'is printed on %s, black on white, without controls, with whole rows and repeated headings',
    async (paper, size) => {
      const service = await startService({ '/api/config/': { ...berlin, PAPER: paper } })
      const page = await browser.open(service, '/reports/5')
      await page.getByRole('heading', { name: 'Markers' }).waitFor()
      const sizes = await printPage(page)
      expect([new Set(sizes), sizes.length > 2, sizes.length < 8]).toEqual([new Set([size]), true, true])
      await page.emulateMedia({ media: 'print' })
      await eventually(() => findOverlaps(page)).toEqual([])
      for (const hidden of ['.top-bar', '.footer', '.document-actions']) {
        expect([hidden, await page.locator(hidden).isVisible()]).toEqual([hidden, false])
      }
      const styles = await page.evaluate(() => {
        const style = (selector: string) => getComputedStyle(document.querySelector(selector) as Element)
        return {
          page: style('html').backgroundColor,
          text: style('.paper-table td').color,
          row: style('.paper-table tr').breakInside,
          head: style('.paper-table thead').display,
          areas: [style('#page').display, style('.document .loaded').display],
        }
      })
      expect(styles).toMatchObject({ row: 'avoid', head: 'table-header-group', areas: ['block', 'block'] })
      const brightness = (colour: string) => Math.max(...(colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number))
      expect(brightness(styles.text)).toBeLessThan(40)
    },
  )

  // Conformance: C-13.47.
  it('explains an empty report', async () => {
    const quiet = { ...longReport, step_seconds: null, channels: [] }
    const service = await startService({ '/api/shows/5/report/': quiet })
    const page = await browser.open(service, '/reports/6', { ...phone, locale: 'en-GB' })
    await page.getByText('The show has not started').waitFor()
    await eventually(() => page.getByText('Planned for Sunday').innerText()).toContain('22 November 2026, 19:30')
    await eventually(() => page.getByRole('link', { name: 'Download CSV' }).count()).toBe(0)
    await page.goto(`${service.url}/reports/5`)
    await page.getByText('The show has no channels').waitFor()
    await page.goto(`${service.url}/reports/77`)
    await page.getByText('Not found').first().waitFor()
    await page.goto(`${service.url}/reports/x`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(service.requests.some(({ path }) => path.includes('/shows/x'))).toBe(false)
    service.data.responses['/api/shows/5/report/'] = {
      ...longReport,
      ...{ step_seconds: 10, show: { ...endedShow, state: 'running', ended_at: null }, to: at(30) },
      channels: longReport.channels.slice(0, 2),
    }
    await page.goto(`${service.url}/reports/5`)
    await page.getByText(/since 19:31, still running at 20:01:04/).waitFor()
    await eventually(() => page.locator('.document-summary li').allInnerTexts()).toEqual([
      expect.stringMatching(/^Single seconds of this show are no longer kept. .* steps of 10 secs?\.$/),
      'No dropouts, interference, clipping or alerts.',
    ])
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await eventually(() => findViolations(page)).toEqual([])
  })
})

describe('the crew sheet', () => {
  // Conformance: C-13.55.
  it('is listed by slot and printed on a few pages', async () => {
    const service = await startService()
    const page = await browser.open(service, '/crew-sheet?show=5', { locale: 'en-GB' })
    await page.getByRole('heading', { name: 'Crew sheet: Cabaret, evening' }).waitFor()
    await eventually(() => page.locator('tbody tr').nth(8).innerText()).toMatch(
      /^9\tPerformer 9\tChorus\tPack\t540\.125\sMHz\tAct 1; Cast$/,
    )
    expect(service.requests.find(({ path }) => path === '/api/crew-sheet/')?.query.get('show')).toBe('5')
    await eventually(() => page.getByRole('link', { name: 'Download CSV' }).getAttribute('href')).toBe(
      '/api/crew-sheet.csv?show=5',
    )
    const sizes = await printPage(page)
    expect([new Set(sizes), sizes.length > 1, sizes.length < 5]).toEqual([new Set(['595x842']), true, true])
    await eventually(() => findViolations(page)).toEqual([])
  })

  // Conformance: C-13.55.
  it('opens from the monitor and from the shows, without a reload', async () => {
    const service = await startService({ '/api/shows/': [], '/api/crew-sheet/': { show: null, rows: crew } })
    const page = await browser.open(service, '/shows')
    const link = page.getByRole('link', { name: 'Crew sheet', exact: true })
    await link.waitFor()
    await page.evaluate(() => Object.assign(window, { isSamePage: true }))
    await link.click()
    await page.getByText('Performer 90').waitFor()
    await page.getByRole('link', { name: 'Monitor' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'More' }).click()
    await link.click()
    await page.getByText('Performer 90').waitFor()
    await eventually(() => page.evaluate(() => 'isSamePage' in window)).toBe(true)
  })

  // Conformance: C-13.55.
  it('explains an empty list', async () => {
    const service = await startService({ '/api/crew-sheet/': { show: null, rows: [] } })
    const page = await browser.open(service, '/crew-sheet', phone)
    await page.getByText('Nothing to list yet').waitFor()
    await eventually(() => scrollsHorizontally(page)).toBe(false)
  })
})

describe('the battery changes', () => {
  const change = (slot: number, fields: object = {}) => ({
    ...{
      channel_id: slot,
      slot,
      title: `Performer ${slot}`,
      pack: `H${slot}`,
      model: 'ULXD1',
      battery_type: 'alkaline',
    },
    ...{ battery: 20, minutes_left: 25, forecast: null, reason: 'will_not_last', state: 'ok', last_seen: null },
    ...fields,
  })
  const changes = [
    ...Array.from({ length: 9 }, (_, index) => change(index + 1)),
    change(10, { battery: null, minutes_left: null, reason: 'unknown', state: 'no_battery_data' }),
  ]
  const list = { before: '2026-11-22T21:40:00.000Z', changes }

  // Conformance: C-21.33.
  it('are chosen by time, and printed on one page', async () => {
    const service = await startService({ '/api/changes/': list })
    const page = await browser.open(service, '/changes', { locale: 'en-GB' })
    await page.getByRole('heading', { name: 'Battery changes needed to last until 22:40' }).waitFor()
    await eventually(() => page.locator('tbody tr').first().innerText()).toMatch(
      /^1\tPerformer 1\t20%\t25 mins?\tH1\s*ULXD1 · alkaline\s+Will not last$/,
    )
    await page.getByRole('heading', { name: 'Remaining time unknown' }).waitFor()
    await eventually(() => page.locator('tbody tr').last().innerText()).toMatch(/^10\tPerformer 10\t\?\t\?\tH10/)
    await page.getByRole('button', { name: '2 h', exact: true }).click()
    await eventually(() => new URL(page.url()).searchParams.get('before')).toMatch(/^\d{4}-.*Z$/)
    await eventually(() =>
      service.requests.some(({ path, query }) => path === '/api/changes/' && query.has('before')),
    ).toBe(true)
    await eventually(() => page.getByRole('link', { name: 'Download CSV' }).getAttribute('href')).toMatch(
      /^\/api\/changes\.csv\?before=/,
    )
    await page.getByLabel('Until', { exact: true }).fill('23:15')
    await eventually(() => new URL(page.url()).searchParams.get('before')).toMatch(/:15:00\.000Z$/)
    const sizes = await printPage(page)
    expect(sizes).toEqual(['595x842'])
    await eventually(() => findViolations(page)).toEqual([])
  })

  // Conformance: C-21.33.
  it('of an interval fit the screen of a phone', async () => {
    const service = await startService({ '/api/changes/': list })
    const page = await browser.open(service, '/changes', phone)
    await page.locator('tbody tr').last().waitFor()
    const isVisible = () =>
      page
        .locator('tbody tr')
        .last()
        .evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight)
    await eventually(isVisible).toBe(true)
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    service.data.responses['/api/changes/'] = { ...list, changes: [] }
    await page.reload()
    await page.getByText('All packs last until then.').waitFor()
  })
})
