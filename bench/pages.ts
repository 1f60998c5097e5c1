/**
 * The pages in Chromium without a graphics card: frames per second while all receivers change, CPU time, time to the
 * first useful paint, and size of the scripts. Reference: an empty page in the same browser.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { startShureSimulator } from '../simulators/shure/device-api.ts'
import { launchChromium } from '../test/support/browser/chromium.ts'
import { receiver, startFakeService } from '../test/support/browser/fake-service.ts'
import { type Bench, type Figure, median, withCleanup } from './harness.ts'
import { type Micwatch, startDemo, startMicwatch } from './servers.ts'

const receivers = 75
const channelsPerReceiver = 4
const updatesPerSecond = 10
const seconds = 5
const webFolder = fileURLToPath(new URL('../dist/web/', import.meta.url))

export const pages = (nodeOptions: readonly string[]): Bench => ({
  name: 'pages',
  runs: 1,
  async open(atEnd) {
    const browser = await launchChromium()
    atEnd(() => browser.close())
    // The demo is measured before any other process is started.
    const demo = await withCleanup(async (atEnd) => {
      const { address } = await startDemo(atEnd)
      return firstUsefulPaint(browser, address)
    })
    const show = { receivers, channelsPerReceiver, richList: true, story: false, pushesPerSecond: updatesPerSecond }
    const simulator = await startShureSimulator(show)
    atEnd(() => simulator.close())
    const micwatch = await startMicwatch(atEnd, simulator, { pollSeconds: 3600, nodeOptions })
    return {
      async measure() {
        const blank = await measurePage(browser, await openPage(browser, 'about:blank'))
        const size = `${receivers * channelsPerReceiver} channels × ${updatesPerSecond} updates/s`
        const figures: Figure[] = []
        const scroll = 'scrollBy(0, frames % 240 < 120 ? 40 : -40)'
        for (const [name, path, input] of [
          ['monitor', '/', ''],
          ['monitor as a table', '/?layout=list', ''],
          ['monitor as a table, while scrolling', '/?layout=list', scroll],
          ['wall', '/wall', ''],
        ] as const) {
          const ours = await measurePage(browser, await openLivePage(browser, micwatch, path), input)
          const costTitle = `${name}, per second:`
          figures.push(
            { name: `${name}, ${size}, frames`, unit: '/s', ours: ours.frames, reference: blank.frames },
            { name: `${costTitle} browser CPU`, unit: 'ms', ours: ours.cpuMs, reference: blank.cpuMs },
            { name: `${costTitle} script`, unit: 'ms', ours: ours.scriptMs, reference: blank.scriptMs },
            { name: `${costTitle} main thread`, unit: 'ms', ours: ours.mainThreadMs, reference: blank.mainThreadMs },
          )
        }
        figures.push(...(await measureFrequencies(browser, micwatch, blank)))
        figures.push(...(await measureTimeline(browser, blank)))
        const full = await firstUsefulPaint(browser, micwatch.address)
        figures.push(
          { name: 'first useful paint of the demo', unit: 'ms', ours: demo, reference: null },
          {
            name: `first useful paint, ${receivers * channelsPerReceiver} channels`,
            unit: 'ms',
            ours: full,
            reference: null,
          },
          { name: 'script of the live pages, gzip', unit: 'kB', ours: await scriptSize(), reference: null },
        )
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

async function openLivePage(browser: Browser, { address }: Micwatch, path: string): Promise<Page> {
  const page = await openPage(browser, address + path)
  await page.locator('[data-state]').first().waitFor()
  return page
}

/** Input in every frame while an element is measured, in the page. `frames` is the number of the frame. */
function inputsFor(selector: string) {
  const turn = (options: string) => {
    const at = 'bubbles: true, cancelable: true, clientX: 800, clientY: 900'
    return `document.querySelector('${selector}').dispatchEvent(new WheelEvent('wheel', { ${at}, ${options} }))`
  }
  return Object.entries({
    'at rest': '',
    'while panning': turn('shiftKey: true, deltaY: frames % 240 < 120 ? -6 : 6'),
    'while zooming': turn('ctrlKey: true, deltaY: frames % 120 < 60 ? -12 : 12'),
  })
}

/** Measures the spectrum of all channels while all their levels change. */
async function measureFrequencies(browser: Browser, { address }: Micwatch, blank: PageFigures) {
  const figures: Figure[] = []
  const carriers = receivers * channelsPerReceiver
  for (const [name, input] of inputsFor('.spectrum-field')) {
    const page = await openPage(browser, `${address}/frequencies`)
    await page
      .locator('.frequencies-table tbody tr')
      .nth(carriers - 1)
      .waitFor()
    const { frames, scriptMs } = await measurePage(browser, page, input)
    const title = `frequencies, ${carriers} carriers, ${name},`
    figures.push(
      { name: `${title} frames`, unit: '/s', ours: frames, reference: blank.frames },
      { name: `${title} script`, unit: 'ms', ours: scriptMs, reference: blank.scriptMs },
    )
  }
  return figures
}

/** Measures the timeline with 60 visible strips, and levels of an hour that the fake service computes. */
async function measureTimeline(browser: Browser, blank: PageFigures): Promise<readonly Figure[]> {
  const service = await startFakeService('')
  service.data.receivers = Array.from({ length: 15 }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  const figures: Figure[] = []
  try {
    for (const [name, input] of inputsFor('.strips-field')) {
      const page = await browser.newPage({ viewport: { width: 1440, height: 1850 } })
      await page.addInitScript("localStorage.setItem('micwatch.timeline.height', 'compact')")
      await page.goto(`${service.url}/timeline?span=3600`)
      await page.locator('.strips-labels li').nth(59).waitFor()
      const { frames, scriptMs } = await measurePage(browser, page, input)
      const title = `timeline, 60 strips, ${name},`
      figures.push(
        { name: `${title} frames`, unit: '/s', ours: frames, reference: blank.frames },
        { name: `${title} script`, unit: 'ms', ours: scriptMs, reference: blank.scriptMs },
      )
    }
  } finally {
    await service.close()
  }
  return figures
}

interface PageFigures {
  readonly frames: number
  /** CPU time of all browser processes. */
  readonly cpuMs: number
  /** CPU time of the page's scripts. */
  readonly scriptMs: number
  /** CPU time of the page's main thread, scripts included. */
  readonly mainThreadMs: number
}

/**
 * Measures the figures of a page per second, and then closes the page, because it would add to the CPU time of the next
 * measurement. `input` is a script that runs in every frame.
 */
async function measurePage(browser: Browser, page: Page, input = ''): Promise<PageFigures> {
  await page.bringToFront()
  await page.waitForTimeout(1_500)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const [cpuBefore, before, startedAt] = [await cpuOfBrowser(browser), await readTimes(session), performance.now()]
  const frames = await page.evaluate<number>(`new Promise((resolve) => {
    let frames = 0
    const startedAt = performance.now()
    requestAnimationFrame(function count(now) {
      frames += 1
      ${input}
      if (now - startedAt < ${seconds * 1000}) requestAnimationFrame(count)
      else resolve(frames / ((now - startedAt) / 1000))
    })
  })`)
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  const cpuMs = ((await cpuOfBrowser(browser)) - cpuBefore) / elapsedSeconds
  const after = await readTimes(session)
  await page.close()
  return {
    frames,
    cpuMs,
    scriptMs: (after.script - before.script) / elapsedSeconds,
    mainThreadMs: (after.mainThread - before.mainThread) / elapsedSeconds,
  }
}

/** Returns the CPU time that the page has used, in ms. */
async function readTimes(session: CDPSession) {
  const { metrics } = await session.send('Performance.getMetrics')
  const read = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000
  return { script: read('ScriptDuration'), mainThread: read('TaskDuration') }
}

async function cpuOfBrowser(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0)
}

/** A script that runs in the page and resolves `useful` when a frame with values in the cards has been painted. */
const resolveWhenUseful = `globalThis.useful = new Promise((resolve) => {
  const isUseful = () => document.querySelector('.card .battery-percent')?.textContent.includes('%')
  const watching = new MutationObserver(() => {
    if (!isUseful()) return
    watching.disconnect()
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
  })
  watching.observe(document, { childList: true, subtree: true })
})`

/** Measures the time from requesting the page, with an empty browser cache, in ms; returns the median of three runs. */
async function firstUsefulPaint(browser: Browser, address: string): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.addInitScript(resolveWhenUseful)
    await page.goto(address, { waitUntil: 'commit' })
    times.push(await page.evaluate<number>('useful'))
    await context.close()
  }
  return median(times)
}

/** Returns the compressed size, in kB, of the scripts that the monitor and the wall load at start. */
async function scriptSize(): Promise<number> {
  const html = await readFile(join(webFolder, 'index.html'), 'utf8')
  const names = html.match(/assets\/[^"]+\.js/g) ?? []
  const files = await Promise.all(names.map((name) => readFile(join(webFolder, name))))
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0) / 1000
}
