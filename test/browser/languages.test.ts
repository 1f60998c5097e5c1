/** Another language is one file: pages built with one that brackets every text say nothing outside of brackets. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pages } from '../../src/model/pages.ts'
import { entryOf, firstDevice, startApp, startShure, until, withoutPush } from '../app.ts'
import { createTestFolder } from '../databases.ts'
import { tokenHeaders } from '../tokens.ts'
import { browserForTests } from './browser.ts'
import { receiver, startFakeService } from './fake-service.ts'
import { buildTranslatedPages, untranslatedOf } from './translated-pages.ts'

const browser = browserForTests()
const tag = 'eo'
const speaking = { locale: `${tag}-UY` }

let folder: Awaited<ReturnType<typeof createTestFolder>>
let webRoot: string
beforeAll(async () => {
  folder = await createTestFolder()
  webRoot = await buildTranslatedPages(folder.path, tag)
})
afterAll(() => folder?.drop())

/** Every text that the service has told this page. */
function dataOf(page: Page): Set<string> {
  const data = new Set<string>()
  const keep = (value: unknown, key = '') => {
    // Names are also shown in two parts, and what has no text of its own by its key.
    if (key === 'name') for (const part of /^(\S+) (.+)$/.exec(String(value)) ?? []) data.add(part)
    data.add(key)
    if (typeof value === 'string') data.add(value)
    else if (typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) keep(one, name)
  }
  page.on('response', (response) => {
    if (!response.url().includes('/api/')) return
    response.json().then(keep, () => {})
  })
  return data
}

/** Once there is something to read, and nothing still on its way. */
async function saysNothingElse(page: Page, data: ReadonlySet<string>) {
  await expect.poll(() => page.locator('body').innerText()).toMatch(/^(?!.*\[(Loading|Reading) ).*\[/s)
  await expect.poll(async () => untranslatedOf(page, data)).toEqual([])
}

it('says every word of every page in the language that the browser wants', async () => {
  const shure = withoutPush(await startShure({ richList: true }))
  const app = await startApp({ webRoot, manufacturers: [entryOf(shure)] })
  await until('all are known', async () => (await app.receivers()).length === 2)
  const operator = await tokenHeaders(app.runtime, 'operator')
  await app.post('/api/groups/', { title: 'Band', slots: [1, 2, 99], hide_charts: false }, operator)
  await app.post('/api/performers/', { name: 'Ana', notes: 'Solo', picture: null }, operator)
  // One movement, and one device that waits for a decision.
  shure.show.set(firstDevice(shure, 1).id, { ip: '10.77.0.1' })
  shure.show.add('shure', { ip: firstDevice(shure).ip, name: 'Visitor', serial_number: 'VISITOR-1' })
  await app.post('/api/refresh/', undefined, operator)

  const page = await browser.openAs(app, 'admin', '/', speaking)
  const data = dataOf(page)
  for (const path of [...pages.map((one) => one.path), '/nowhere']) {
    await page.goto(app.url + path.replace(':id', '1'))
    await saysNothingElse(page, data)
    if (path.startsWith('/admin/')) await askEverything(page, data)
  }
  for (const key of ['?', 'q', 'a']) {
    await page.goto(app.url)
    await page.locator('.card').first().waitFor()
    await page.keyboard.press(key)
    await page.locator('dialog[open], .arrange').waitFor()
    await saysNothingElse(page, data)
  }
  expect(await page.locator('html').getAttribute('lang')).toBe(speaking.locale)
}, 120_000)

/** Presses what can be pressed on an administrative page, and puts away the questions that come of it. */
async function askEverything(page: Page, data: ReadonlySet<string>) {
  const buttons = page.locator('main button:enabled:visible')
  const count = await buttons.count()
  for (let at = 0; at < Math.min(count, 12); at++) {
    await buttons.nth(at).click()
    await saysNothingElse(page, data)
    await page.keyboard.press('Escape')
  }
}

it('says so too where something is wrong', async () => {
  const service = await startFakeService('/house', webRoot)
  try {
    const page = await browser.open(service, '/', speaking)
    const data = dataOf(page)
    await page.reload()
    await saysNothingElse(page, data)

    const gone = { ...receiver(2, [{}, null]), is_active: false }
    const worn = receiver(1, [{}, { battery: 40 }, { battery: 15 }, { battery: 5, audio_level: 0 }])
    service.house.receivers = [worn, gone, receiver(3, [{ rf_level: -99 }, null])]
    service.house.upstream = 'unhealthy'
    for (const path of ['/', '/?layout=list', '/wall', '/channels/1', '/?q=nobody', '/?manufacturer=none']) {
      await page.goto(service.url + path)
      await saysNothingElse(page, data)
    }
    await page.goto(`${service.url}/`)
    await page.locator('.card').first().waitFor()
    service.isDown = true
    await page.locator('.banner').waitFor()
    await saysNothingElse(page, data)
    service.isDown = false
    service.house.needsSignIn = true
    await page.reload()
    await saysNothingElse(page, data)
  } finally {
    await service.close()
  }
})

it('is English for whoever wants a language that is not there', async () => {
  const app = await startApp({ webRoot })
  const page = await browser.open(app, '/about', { locale: 'tlh' })
  await page.getByRole('heading', { name: 'About Micwatch', exact: true }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
})
