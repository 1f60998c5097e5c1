/** The language of the pages follows the browser, or what the user chooses. */

import { it } from 'vitest'
import german from '../../web/languages/de.json' with { type: 'json' }
import japanese from '../../web/languages/ja.json' with { type: 'json' }
import { startApp } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

it('falls back to English when there is no catalogue for the browser language', async () => {
  const app = await startApp({})
  const page = await browser.open(app, '/about', { locale: 'tlh' })
  await page.getByRole('heading', { name: 'About Micwatch', exact: true }).waitFor()
  await eventually(() => page.locator('html').getAttribute('lang')).toBe('en')
})

it('uses the language chosen on the page About, until the choice is reset', async () => {
  const app = await startApp({})
  const page = await browser.open(app, '/about', { locale: 'de-AT' })
  const expectLanguage = async (lang: string, title: string) => {
    await page.getByRole('heading', { name: title, exact: true }).waitFor()
    await eventually(() => page.locator('html').getAttribute('lang')).toBe(lang)
  }
  await expectLanguage('de-AT', german.about.title)
  await page.getByText(german.about.unconfirmed).waitFor()
  const choice = page.locator('.language-choice select')
  await eventually(() => choice.locator('option').allInnerTexts()).toEqual([
    german.about.asInBrowser,
    'English',
    'Deutsch',
    'Español',
    'Français',
    '日本語',
  ])
  await choice.selectOption('ja')
  await expectLanguage('ja', japanese.about.title)
  await page.reload()
  await expectLanguage('ja', japanese.about.title)
  await choice.selectOption('en')
  await expectLanguage('en', 'About Micwatch')
  await eventually(() => page.getByText(german.about.unconfirmed).count()).toBe(0)
  await choice.selectOption('')
  await expectLanguage('de-AT', german.about.title)
})
