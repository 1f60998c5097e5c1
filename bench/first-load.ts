/**
 * Opens each page of the demo with an empty browser cache. Measures its scripts and styles on the wire, and the share of
 * them that it does not use. The monitor is also opened on an emulated phone.
 */

import type { Browser, CDPSession, Page } from 'playwright-core'
import { pages } from '../src/domain/pages.ts'
import { launchChromium, waitForContent } from '../test/support/browser/chromium.ts'
import { type Bench, type Figure, median } from './harness.ts'
import { startDemo } from './servers.ts'

export const firstLoad: Bench = {
  name: 'first-load',
  runs: 1,
  async open(atEnd) {
    const browser = await launchChromium()
    atEnd(() => browser.close())
    const { address } = await startDemo(atEnd)
    return {
      async measure() {
        const figures: Figure[] = []
        for (const { path } of pages) {
          const { wireBytes, unusedShare } = await measureLoad(browser, address + path.replace(':id', '1'))
          figures.push(
            { name: `${path}, scripts and styles on the wire`, unit: 'kB', ours: wireBytes / 1000, reference: null },
            { name: `${path}, unused part`, unit: '%', ours: unusedShare * 100, reference: null },
          )
        }
        return [...figures, ...(await measurePhone(browser, address))]
      },
    }
  },
}

async function openEmpty(browser: Browser, options = {}): Promise<{ page: Page; session: CDPSession }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  return { page, session: await context.newCDPSession(page) }
}

/** Resolves once the page has loaded its code and data. */
async function settle(page: Page): Promise<void> {
  await waitForContent(page)
  await page.waitForTimeout(1_000)
}

async function measureLoad(browser: Browser, address: string) {
  const { page, session } = await openEmpty(browser)
  const codeRequests = new Set<string>()
  let wireBytes = 0
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script' || type === 'Stylesheet') codeRequests.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (codeRequests.has(requestId)) wireBytes += encodedDataLength
  })
  await session.send('Network.enable')
  await page.coverage.startJSCoverage()
  await page.coverage.startCSSCoverage()
  await page.goto(address)
  await settle(page)
  const scripts = await page.coverage.stopJSCoverage()
  const styles = await page.coverage.stopCSSCoverage()
  await page.context().close()
  let [used, all] = [0, 0]
  for (const { source = '', functions } of scripts) {
    all += source.length
    used += usedLength(
      source.length,
      functions.flatMap(({ ranges }) => ranges),
    )
  }
  for (const { text = '', ranges } of styles) {
    all += text.length
    used += ranges.reduce((sum, { start, end }) => sum + end - start, 0)
  }
  return { wireBytes, unusedShare: 1 - used / all }
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

/** Returns how much of a script has run. Of nested ranges, the innermost applies. */
function usedLength(length: number, ranges: readonly Range[]): number {
  const isUsed = new Uint8Array(length)
  const outermostFirst = ranges.toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
  for (const { startOffset, endOffset, count } of outermostFirst) isUsed.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return isUsed.reduce((sum, value) => sum + value, 0)
}

/** A script that collects the times of the page. */
const collectTimes = `
globalThis.collected = { shift: 0, tasks: [], paint: 0 }
const observe = (type, add) =>
  new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type, buffered: true })
observe('layout-shift', (entry) => { if (!entry.hadRecentInput) collected.shift += entry.value })
observe('longtask', (entry) => collected.tasks.push(entry.duration))
observe('largest-contentful-paint', (entry) => { collected.paint = entry.startTime })
`

interface Times {
  readonly firstPaint: number
  readonly largestPaint: number
  readonly longestTask: number
  readonly blocked: number
  readonly shift: number
  readonly elements: number
}

/** The phone, network and processor that Lighthouse emulates. */
const phone = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true }
const network = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 96_000 }
const slowdown = 4

async function measurePhone(browser: Browser, address: string): Promise<readonly Figure[]> {
  const runs: Times[] = []
  for (let run = 0; run < 3; run++) {
    const { page, session } = await openEmpty(browser, phone)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', network)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    await page.addInitScript(collectTimes)
    await page.goto(address)
    await settle(page)
    await page.waitForTimeout(5_000)
    runs.push(
      await page.evaluate<Times>(`({
      firstPaint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
      largestPaint: collected.paint,
      longestTask: Math.max(0, ...collected.tasks),
      blocked: collected.tasks.reduce((sum, duration) => sum + duration - 50, 0),
      shift: collected.shift,
      elements: document.querySelectorAll('*').length,
    })`),
    )
    await page.context().close()
  }
  const of = (name: string, unit: Figure['unit'], value: (times: Times) => number): Figure => ({
    name: `monitor on a phone, ${name}`,
    unit,
    ours: median(runs.map(value)),
    reference: null,
  })
  return [
    of('first paint', 'ms', ({ firstPaint }) => firstPaint),
    of('largest paint', 'ms', ({ largestPaint }) => largestPaint),
    of('longest task', 'ms', ({ longestTask }) => longestTask),
    of('blocked by tasks over 50 ms', 'ms', ({ blocked }) => blocked),
    of('layout shift', '×', ({ shift }) => shift),
    of('elements', '×', ({ elements }) => elements),
  ]
}
