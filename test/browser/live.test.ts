/** A value that changes in a simulated system reaches the page through the complete service. */

import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { beforeAll, it } from 'vitest'
import { configFor, deviceOf, startApp, startSennheiser, startShure } from '../support/app.ts'
import { findBrowser } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'

let browser: Browser

beforeAll(async () => {
  browser = await findBrowser()
})

// Reliability: U24.
it('updates a card when a value changes in the simulator', async () => {
  const shure = await startShure()
  const certificate = readFileSync(new URL('../fixtures/self-signed.pem', import.meta.url))
  const sennheiser = await startSennheiser({ tls: { key: certificate, cert: certificate } })
  const app = await startApp({ manufacturers: [configFor(shure), configFor(sennheiser)] })
  const { id } = deviceOf(shure)
  const values = { name: 'H04 Elsbeth', battery: 81, rf_level: -52, audio_level: -18, transmitter: true }
  shure.show.set(id, values, 1)

  const page = await browser.newPage()
  await page.goto(app.url)
  const card = page.locator('.card', { hasText: 'Elsbeth' })
  await card.waitFor()
  const readLevels = () =>
    card.getByRole('img').evaluateAll((found) => found.map((entry) => entry.getAttribute('aria-label')))
  const readTexts = async () => [await card.innerText(), ...(await readLevels())].join(' ').replace(/\s+/g, ' ')
  const expectTexts = async (...texts: string[]) => {
    await eventually(readTexts).toSatisfy((text: string) => texts.every((item) => text.includes(item)))
  }
  await page.locator('.footer', { hasText: 'is not verified' }).waitFor()
  await expectTexts('H04', '81%', '−52 dBm', '−18 dBFS', 'MHz', 'OK')

  shure.show.set(id, { ...values, battery: 9, rf_level: -61 }, 1)
  await expectTexts('9%', '−61 dBm', 'Battery critical')

  shure.show.set(id, { transmitter: false }, 1)
  await eventually(readTexts).toMatch(/off/i)
  await page.close()
})
