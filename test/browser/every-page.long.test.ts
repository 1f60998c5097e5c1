/** Every page of the table of the product, with data, in every theme and on the smallest screens. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import {
  browserForTests,
  findColourViolations,
  findViolations,
  phone,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { waitForContent } from '../support/browser/chromium.ts'
import { listPaths, startRichService } from '../support/browser/rich-service.ts'

const { open, openAs } = browserForTests()

const desk = { width: 1440, height: 900 }

/** Shows the page in a theme. It stays open, because loading it takes longer. */
async function changeTheme(page: Page, theme: string): Promise<void> {
  await page.emulateMedia({ forcedColors: theme === 'forced' ? 'active' : 'none' })
  await page.evaluate(`document.documentElement.dataset.theme = '${theme === 'forced' ? 'dark' : theme}'`)
}

// Conformance: C-21.120.
it('is accessible in every theme and at 390 px, and never scrolls sideways', { timeout: 600_000 }, async () => {
  const service = await startRichService()
  const { app } = service
  const [signedIn, stranger] = [await openAs(app, 'admin', '/about'), await open(app, '/about')]
  const found: Record<string, string[]> = {}
  for (const { name, path, isOpenToAll } of listPaths(service)) {
    const page = isOpenToAll ? stranger : signedIn
    await page.setViewportSize(desk)
    await page.goto(app.url + path)
    await waitForContent(page)
    for (const theme of ['light', 'contrast', 'forced', 'dark']) {
      await changeTheme(page, theme)
      const violations = await (theme === 'dark' ? findViolations(page) : findColourViolations(page))
      if (violations.length > 0) found[`${name}, ${theme}`] = violations
    }
    for (const width of [390, 320]) {
      await page.setViewportSize({ ...phone.viewport, width })
      if (await scrollsHorizontally(page)) found[`${name}, ${width} px`] = ['scrolls sideways']
      const violations = width === 390 ? await findViolations(page) : []
      if (violations.length > 0) found[`${name}, ${width} px`] = violations
    }
  }
  expect(found).toEqual({})
})
