/**
 * The pages in a real Chromium without a graphics card: frames a second of a desk that never rests and what they cost,
 * time to the first cards, size of the scripts. Reference: an empty page in the same browser.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { startShureSimulator } from '../src/manufacturers/shure/simulator.ts'
import { launchChromium } from '../test/chromium.ts'
import { type Bench, type Figure, median } from './harness.ts'
import { type Micwatch, startMicwatch } from './servers.ts'

const receivers = 75
const channelsPerReceiver = 4
const updatesPerSecond = 10
const seconds = 5
const assets = fileURLToPath(new URL('../dist/web/assets/', import.meta.url))

export const pages = (nodeOptions: readonly string[]): Bench => ({
  name: 'pages',
  runs: 1,
  async open(atEnd) {
    const show = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: updatesPerSecond }
    const simulator = await startShureSimulator(show)
    atEnd(() => simulator.close())
    const house = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    const browser = await launchChromium()
    atEnd(() => browser.close())
    return {
      async measure() {
        const blank = await watch(browser, await openPage(browser, 'about:blank'))
        const size = `${receivers * channelsPerReceiver} channels × ${updatesPerSecond} updates/s`
        const figures: Figure[] = []
        for (const [name, path] of [
          ['desk', '/'],
          ['desk as a table', '/?layout=list'],
          ['wall', '/wall'],
        ] as const) {
          const page = await openHouse(browser, house, path)
          const ours = await watch(browser, page)
          figures.push({ name: `${name}, ${size}, frames`, unit: '/s', ours: ours.frames, reference: blank.frames })
          figures.push({
            name: `${name}, browser CPU for a second`,
            unit: 'ms',
            ours: ours.cpuMs,
            reference: blank.cpuMs,
          })
        }
        figures.push({
          name: 'first cards, 300 channels',
          unit: 'ms',
          ours: await firstCards(browser, house),
          reference: null,
        })
        figures.push({ name: 'script of the live pages, gzip', unit: 'kB', ours: await scriptSize(), reference: null })
        return figures
      },
    }
  },
})

async function openPage(browser: Browser, address: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(address)
  return page
}

async function openHouse(browser: Browser, { address }: Micwatch, path: string): Promise<Page> {
  const page = await openPage(browser, address + path)
  await page
    .locator('[data-state]')
    .nth(receivers * channelsPerReceiver - 1)
    .waitFor()
  return page
}

/** Frames, and CPU of all processes of the browser, a second. Closes the page: only one is measured at a time. */
async function watch(browser: Browser, page: Page): Promise<{ frames: number; cpuMs: number }> {
  await page.bringToFront()
  await page.waitForTimeout(1_500)
  const [before, startedAt] = [await cpuOfBrowser(browser), performance.now()]
  const frames = await page.evaluate<number>(`new Promise((resolve) => {
    let frames = 0
    const startedAt = performance.now()
    requestAnimationFrame(function count(now) {
      frames += 1
      if (now - startedAt < ${seconds * 1000}) requestAnimationFrame(count)
      else resolve(frames / ((now - startedAt) / 1000))
    })
  })`)
  const cpuMs = ((await cpuOfBrowser(browser)) - before) / ((performance.now() - startedAt) / 1000)
  await page.close()
  return { frames, cpuMs }
}

async function cpuOfBrowser(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0)
}

/** From the request of the page to cards with values on the screen, with nothing in the browser's cache. */
async function firstCards(browser: Browser, { address }: Micwatch): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.goto(address, { waitUntil: 'commit' })
    await page.locator('.card .battery-percent', { hasText: '%' }).first().waitFor()
    times.push(await page.evaluate<number>('performance.now()'))
    await context.close()
  }
  return median(times)
}

/** What the desk and the wall load before they show anything. */
async function scriptSize(): Promise<number> {
  const names = (await readdir(assets)).filter((name) => /^index-.*\.js$/.test(name))
  const files = await Promise.all(names.map((name) => readFile(join(assets, name))))
  return Math.max(...files.map((file) => gzipSync(file).length)) / 1000
}
