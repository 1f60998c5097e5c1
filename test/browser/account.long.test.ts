/** The account page: authenticator app, recovery codes and sessions, in a browser. */

import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { it } from 'vitest'
import { startApp } from '../support/app.ts'
import {
  addUser,
  browserForTests,
  findViolations,
  phone,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { password } from '../support/users.ts'

const browser = browserForTests()
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code that an app shows after this number of periods (RFC 6238). */
function codeOf(base32: string, periods = 0): string {
  const bits = [...base32].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + periods))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff
  return String(number % 1_000_000).padStart(6, '0')
}

async function expectFits(page: Page): Promise<void> {
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
}

async function signIn(page: Page, code: string): Promise<void> {
  await page.getByLabel('User name').fill('ana')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Code', { exact: true }).fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const views = [
  ['a phone in the dark theme', '/account?theme=dark', phone],
  ['a desktop in the light theme', '/account?theme=light', { viewport: { width: 1440, height: 900 } }],
] as const

// Conformance: C-26.21.
it.each(views)(
  'sets up an authenticator app, signs in with its codes, and removes it, on %s',
  async (_, path, view) => {
    const app = await startApp()
    await addUser(app, 'ana', 'operator')
    const page = await browser.open(app, `/sign-in?next=${encodeURIComponent(path)}`, view)
    await page.getByLabel('User name').fill('ana')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Set up' }).click()
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    await expectFits(page)
    const secret = await page.getByLabel('Secret', { exact: true }).inputValue()
    await page.getByLabel('Code', { exact: true }).fill('12345')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('wrong or expired; check the clocks').waitFor()
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret))
    await page.getByRole('button', { name: 'Confirm' }).click()
    const codes = page.getByRole('alert').getByRole('listitem')
    await eventually(() => codes.count()).toBe(10)
    await expectFits(page)
    const recoveryCode = (await codes.first().textContent()) ?? ''
    await eventually(() => page.getByLabel('Recovery codes').inputValue()).toContain(recoveryCode)
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('Sign-in requires a code from your app.').waitFor()

    for (const code of [codeOf(secret, 1), recoveryCode]) {
      const elsewhere = await browser.open(app, `/sign-in?next=${encodeURIComponent(path)}`, view)
      await signIn(elsewhere, code)
      await elsewhere.getByRole('heading', { name: 'Your account' }).waitFor()
    }
    await page.getByLabel('Current password').first().fill(password)
    await page.getByRole('button', { name: 'Remove app' }).click()
    await page.getByRole('status').getByText('Sign-in no longer requires a code.').waitFor()
    await page.getByRole('button', { name: 'Set up' }).waitFor()
  },
)

// Conformance: C-26.22.
it.each(views)('names the browsers of the sessions, and ends another one, on %s', async (_, path, view) => {
  const app = await startApp()
  const page = await browser.openAs(app, 'operator', path, view)
  const userAgent = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:152.0) Gecko/20100101 Firefox/152.0'
  const elsewhere = await browser.open(app, '/sign-in?next=%2Faccount', { userAgent })
  await elsewhere.getByLabel('User name').fill('the-operator')
  await elsewhere.getByLabel('Password', { exact: true }).fill(password)
  await elsewhere.getByRole('button', { name: 'Sign in' }).click()
  await elsewhere.getByRole('heading', { name: 'Your account' }).waitFor()
  await page.reload()
  const other = rows(page).filter({ hasText: 'Firefox · macOS' })
  await other.waitFor()
  await rows(page).filter({ hasText: 'This session' }).waitFor()
  await expectFits(page)
  await other.getByRole('button', { name: 'End session' }).click()
  await other.waitFor({ state: 'detached' })
  await elsewhere.reload()
  await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor()
})
