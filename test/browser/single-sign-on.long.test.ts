/** Single sign-on in a browser, through a real OpenID Connect provider. */

import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { browserForTests, findViolations, phone, row, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { client, createProvider } from '../support/oidc-provider.ts'

const browser = browserForTests()

async function startBoth() {
  const provider = await createProvider()
  const oidc = { issuer: provider.issuer, ...client, roles: { crew: 'operator' }, label: 'Grace Church account' }
  const app = await startApp({ config: { require_login: true, oidc, server: { mount: '/venue' } } })
  return { app, provider, serve: () => provider.serve(`${app.url}/api/auth/oidc/callback`) }
}

// Conformance: C-16.80, C-16.89, C-16.94, C-16.96.
it('signs in from the sign-in page, which explains failures', async () => {
  const { app, provider, serve } = await startBoth()
  const page = await browser.open(app, '/wall?view=x', phone)
  const link = page.getByRole('link', { name: 'Grace Church account' })
  const alert = page.getByRole('alert')
  await link.click()
  await eventually(() => alert.innerText()).toMatch(/cannot be reached/)
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  await serve()
  const granted = provider.user
  provider.user = null
  await link.click()
  await eventually(() => alert.innerText()).toMatch(/was cancelled/)
  expect(new URL(page.url()).searchParams.get('next')).toBe('/venue/wall?view=x')
  provider.user = { sub: 'u1', claims: { name: 'Ana Smith', groups: ['other'] } }
  await link.click()
  await eventually(() => alert.innerText()).toMatch(/has no role in Micwatch\. Ask an administrator/)

  provider.user = granted
  await page.goto(`${app.url}/account`)
  await link.click()
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  expect(page.url()).toBe(`${app.url}/account`)
  await page.getByText(/^You sign in through 127\.0\.0\.1:\d+, which determines/).waitFor()
  await eventually(() => page.getByLabel('Current password').count()).toBe(0)
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

// Conformance: C-16.85.
it('lets administrators see and deactivate users of the provider', async () => {
  const { app, serve } = await startBoth()
  await serve()
  const user = await browser.open(app, '/account')
  await user.getByRole('link', { name: 'Grace Church account' }).click()
  await user.getByRole('heading', { name: 'Your account' }).waitFor()

  const page = await browser.openAs(app, 'admin', '/admin/people')
  const ana = row(page, 'Ana Smith')
  await ana.getByText(/^127\.0\.0\.1:\d+$/).waitFor()
  await row(page, 'the-admin').getByText('Password', { exact: true }).waitFor()
  await eventually(() => ana.getByRole('button', { name: /Reset password/ }).count()).toBe(0)
  await ana.getByRole('button', { name: /Edit/ }).click()
  await page.getByLabel('Active').uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await ana.getByText('No', { exact: true }).waitFor()
  await user.reload()
  await user.getByRole('heading', { name: 'Sign in' }).waitFor()
})
