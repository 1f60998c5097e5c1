/** Builds the pages in a generated language that puts every text in brackets, and expects no text without brackets. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, it } from 'vitest'
import { pages } from '../../src/domain/pages.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { offline, receiver, startFakeService } from '../support/browser/fake-service.ts'
import { buildTranslatedPages, untranslatedTexts } from '../support/browser/translated-pages.ts'
import { eventually } from '../support/eventually.ts'
import { createTestFolder } from '../support/store/databases.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()
const tag = 'eo'
const context = { locale: `${tag}-UY` }

let folder: Awaited<ReturnType<typeof createTestFolder>>
let webRoot: string
beforeAll(async () => {
  folder = await createTestFolder()
  webRoot = await buildTranslatedPages(folder.path, tag)
})
afterAll(() => folder?.drop())

/** Returns every sequence of consecutive words of a name. */
function wordsOf(name: string): string[] {
  const words = name.split(' ')
  return words.flatMap((_, from) =>
    words.slice(from).map((_, length) => words.slice(from, from + length + 1).join(' ')),
  )
}

/** Collects every text that the service sends to `page`. */
function collectData(page: Page): Set<string> {
  const data = new Set<string>()
  const collect = (value: unknown, key = '') => {
    // A page may split a name between words. It may also display keys of the data, for example in the audit log.
    if (key === 'name') for (const part of wordsOf(String(value))) data.add(part)
    data.add(key)
    if (typeof value === 'string') data.add(value)
    else if (typeof value === 'object' && value !== null)
      for (const [name, child] of Object.entries(value)) collect(child, name)
  }
  page.on('response', (response) => {
    if (!response.url().includes('/api/')) return
    response.json().then(collect, () => {})
  })
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => collect(JSON.parse(String(payload))))
  })
  return data
}

/** Waits until the page has loaded, and expects all its texts to be in brackets. */
async function expectTranslated(page: Page, data: ReadonlySet<string>) {
  await eventually(() => page.locator('body').innerText()).toMatch(/^(?!.*\[Loading).*\[/s)
  await eventually(async () => untranslatedTexts(page, data)).toEqual([])
}

it("displays every text of every page in the browser's language", async () => {
  const shure = withoutPush(await startShure({ richList: true }))
  const app = await startApp({ webRoot, manufacturers: [configFor(shure)] })
  await until('all receivers are known', async () => (await app.receivers()).length === 2)
  const operator = await tokenHeaders(app, 'operator')
  await app.post('/api/groups/', { title: 'Band', slots: [1, 2, 99], hide_charts: false }, operator)
  await app.post('/api/performers/', { name: 'Ana', notes: 'Solo', picture: null }, operator)
  // Creates one movement and one pending device.
  shure.show.set(deviceOf(shure, 1).id, { ip: '10.77.0.1' })
  shure.show.add('shure', { ip: deviceOf(shure).ip, name: 'Visitor', serial_number: 'VISITOR-1' })
  await app.post('/api/refresh/', undefined, operator)

  const page = await browser.openAs(app, 'admin', '/', context)
  const data = collectData(page)
  for (const path of [...pages.map((entry) => entry.path), '/nowhere']) {
    await page.goto(app.url + path.replace(':id', '1'))
    await expectTranslated(page, data)
    if (path.startsWith('/admin/')) await clickButtons(page, data)
  }
  for (const key of ['?', 'q', 'a']) {
    await page.goto(app.url)
    await page.locator('.card').first().waitFor()
    await page.keyboard.press(key)
    await page.locator('dialog[open], .arrange').waitFor()
    await expectTranslated(page, data)
  }
  await eventually(() => page.locator('html').getAttribute('lang')).toBe(context.locale)
})

/**
 * Clicks the buttons of an administrative page and closes the dialogs they open. The last is clicked first, because the
 * first may replace the others, as tabs do.
 */
async function clickButtons(page: Page, data: ReadonlySet<string>) {
  const buttons = page.locator('main button:enabled:visible')
  const count = await buttons.count()
  for (let index = Math.min(count, 12) - 1; index >= 0; index--) {
    await buttons.nth(index).click()
    await expectTranslated(page, data)
    await page.keyboard.press('Escape')
  }
}

it("displays problems and empty pages in the browser's language", async () => {
  const service = await startFakeService('/venue', webRoot)
  try {
    const page = await browser.open(service, '/', context)
    const data = collectData(page)
    await page.reload()
    await expectTranslated(page, data)

    const inactive = offline(receiver(2, [{}, null]))
    const lowBatteries = receiver(1, [{}, { battery: 40 }, { battery: 15 }, { battery: 5, audio_level: 0 }])
    service.data.receivers = [lowBatteries, inactive, receiver(3, [{ rf_level: -99 }, null])]
    service.data.upstream = 'unhealthy'
    for (const path of ['/', '/?layout=list', '/wall', '/channels/1', '/?q=nobody', '/?manufacturer=none']) {
      await page.goto(service.url + path)
      await expectTranslated(page, data)
    }
    await page.goto(`${service.url}/`)
    await page.locator('.card').first().waitFor()
    service.isDown = true
    await page.locator('.banner').waitFor()
    await expectTranslated(page, data)
    service.isDown = false
    service.data.needsSignIn = true
    await page.reload()
    await expectTranslated(page, data)
  } finally {
    await service.close()
  }
})
