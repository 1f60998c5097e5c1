/** Sign-in, setup, kiosk screens, password change and sign-out in a browser. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startApp, type TestApp, until } from '../support/app.ts'
import { addUser, browserForTests, findViolations, scrollsHorizontally } from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { password } from '../support/users.ts'

const browser = browserForTests()
const lan = { server: { host: '0.0.0.0' } }
const phone = { viewport: { width: 390, height: 844 } }

it('redirects an administrative page to sign-in and back to the requested page', async () => {
  const app = await startApp({ config: { server: { mount: '/venue' } } })
  await addUser(app, 'ana', 'admin')
  const page = await browser.open(app, '/admin/?x=1')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  // Only the keyboard is used, so the first field must have the focus.
  await page.keyboard.type('ana')
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Administration' }).waitFor()
  await eventually(() => page.url()).toBe(`${app.url}/admin?x=1`)
  await page.getByText('Administrator').waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(`${app.url}/admin`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

it('has a header of one row on phones, and signs out on the account page', async () => {
  const app = await startApp()
  for (const width of [390, 320]) {
    const options = { hasTouch: true, viewport: { width, height: 844 } }
    const page = await browser.openAs(app, 'admin', '/admin', options)
    const header = page.getByRole('banner')
    await header.getByRole('link', { name: /Administrator$/ }).waitFor()
    const bar = page.getByRole('navigation', { name: 'Pages' })
    await bar.getByRole('button', { name: 'More' }).click()
    for (const name of ['Monitor', 'Wall', 'Alerts', 'Check', 'Admin', 'About']) {
      await bar.getByRole('link', { name, exact: true }).waitFor()
    }
    await page.keyboard.press('Escape')
    expect((await header.boundingBox())?.height).toBeLessThan(56)
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await header.getByRole('link', { name: /Administrator$/ }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }
})

it('ignores a redirect target on another site after sign-in', async () => {
  const app = await startApp()
  await addUser(app, 'ana', 'viewer')
  const page = await browser.open(app, `/sign-in?next=${encodeURIComponent('//evil.example/')}`)
  await page.getByLabel('User name').fill('ana')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${app.url}/`)
})

it('shows sign-in errors and the waiting time, and keeps the input', async () => {
  const app = await startApp({ config: lan })
  await addUser(app, 'ana', 'viewer')
  const page = await browser.open(app, '/sign-in', phone)
  await page.getByLabel('User name').fill('ana')
  await page.getByLabel('Password', { exact: true }).fill('not it at all')
  const alert = page.getByRole('alert')
  for (let tries = 1; tries <= 5; tries += 1) {
    await page.getByRole('button', { name: 'Sign in' }).click()
    await until('the sign-in is rejected', async () => (await alert.innerText()).includes('wrong'))
    await page.getByRole('button', { name: 'Sign in' }).isEnabled()
  }
  await eventually(() => page.getByLabel('User name').inputValue()).toBe('ana')
  await eventually(() => page.getByLabel('Password', { exact: true }).inputValue()).toBe('not it at all')
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(/Too many requests. Try again in \d+ min/).waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  await page.route('**/api/auth/login', (route) => route.abort())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The connection failed.').waitFor()
  await eventually(() => page.getByLabel('Password', { exact: true }).inputValue()).toBe('not it at all')
})

it('shows validation errors next to the fields, creates the first administrator, and signs in', async () => {
  const app = await startApp()
  const page = await browser.open(app, '/sign-in')
  await page.getByRole('link', { name: 'create the first administrator' }).click()
  await page.getByText('At least 12 characters').waitFor()
  await eventually(() => page.getByLabel('Set-up code').count()).toBe(0)
  await page.getByLabel('User name').fill('-')
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByText('Expected at least 12 characters.').waitFor()
  await eventually(() => page.getByLabel('Password', { exact: true }).getAttribute('aria-invalid')).toBe('true')
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByText(/^Expected 1 to 64 letters/).waitFor()
  await page.getByLabel('User name').fill('ana')
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('heading', { name: 'Administration' }).waitFor()
  await page.goto(`${app.url}/set-up`)
  await page.getByText('administrator account already exists').waitFor()
})

it('requires the set-up code when the service is reachable from other machines', async () => {
  const app = await startApp({ config: lan })
  const page = await browser.open(app, '/set-up')
  await page.getByLabel('User name').fill('ana')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Set-up code').fill('NOT-IT')
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByText('The set-up code is wrong or has expired.').waitFor()
  const code = (await readFile(join(app.dataDir, 'setup-code'), 'utf8')).trim().split('\n').at(-1) ?? ''
  await page.getByLabel('Set-up code').fill(code)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('heading', { name: 'Administration' }).waitFor()
})

it('a kiosk link opens a read-only screen until its token is revoked', async () => {
  const app = await startApp({ config: lan })
  const admin = await tokenHeaders(app, 'admin')
  const { json } = await app.post('/api/admin/tokens/', { name: 'Foyer', role: 'viewer' }, admin)
  const page = await browser.open(app, '/sign-in')
  // Simulates a screen that is started before the service.
  await page.route('**/api/auth/**', (route) => route.abort())
  await page.goto(`${app.url}/kiosk?next=/wall?detail=status#${json.token}`)
  await page.getByText('retries every few seconds').waitFor()
  await page.unroute('**/api/auth/**')
  await page.waitForURL(`${app.url}/wall?detail=status&kiosk=1`)
  await page.goBack()
  await eventually(() => page.url()).not.toContain(json.token)
  await page.goto(`${app.url}/`)
  await until('the page is open', async () => (await page.title()) === 'Micwatch')
  await page.goto(`${app.url}/kiosk`)
  await page.getByRole('heading', { name: 'This link contains no token' }).waitFor()

  await page.goto(`${app.url}/wall?detail=status`)
  await page.getByRole('heading', { name: 'No systems configured' }).waitFor()
  await app.send('DELETE', `/api/admin/tokens/${json.id}/`, { headers: admin })
  await page.getByRole('heading', { name: 'Sign-in required' }).waitFor()
  await page.getByText('the link has expired or was revoked', { exact: false }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await page.getByText('/wall?detail=status', { exact: true }).waitFor()

  await page.goto(`${app.url}/kiosk#${json.token}`)
  await page.reload()
  await page.getByRole('heading', { name: 'This kiosk link is not valid' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
})

it('a kiosk link asks a signed-in user before it signs the user out', async () => {
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  const { json } = await app.post('/api/admin/tokens/', { name: 'Foyer', role: 'viewer' }, admin)
  const page = await browser.openAs(app, 'operator', `/kiosk#${json.token}`)
  await page.getByRole('heading', { name: 'You are signed in as the-operator' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Open kiosk screen' }).click()
  await page.waitForURL(`${app.url}/wall?kiosk=1`)
  await page.goto(`${app.url}/account`)
  await page.getByText('not signed in with a user account').waitFor()
})

it('says that a role has changed, where pages may be read without signing in', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'operator', '/')
  await page.getByText('the-operator').waitFor()
  await page.getByRole('heading', { name: 'No systems configured' }).waitFor()
  const { id } = (await app.get('/api/admin/users/', await tokenHeaders(app, 'admin'))).json[0]
  await changeRole(app, id)
  await page.getByRole('alert').getByText('You were signed out, or your role has changed.').waitFor()
  await eventually(() => page.locator('body').innerText()).not.toMatch(/connection lost|API token|retrying/i)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('the-operator').waitFor({ state: 'detached' })
})

async function changeRole(app: TestApp, id: number) {
  const headers = { ...(await tokenHeaders(app, 'admin')), 'content-type': 'application/json' }
  const body = JSON.stringify({ role: 'viewer' })
  expect((await app.send('PATCH', `/api/admin/users/${id}/`, { headers, body })).status).toBe(200)
}

it('says that a role has changed, on a live page and on one with a list', async () => {
  const app = await startApp({ config: lan })
  const admin = await tokenHeaders(app, 'admin')
  const live = await browser.openAs(app, 'operator', '/')
  const list = await browser.openAs(app, 'operator', '/admin/groups')
  await live.getByRole('heading', { name: 'No systems configured' }).waitFor()
  await list.getByText('No groups').waitFor()
  const { json: users } = await app.get('/api/admin/users/', admin)
  const { id } = users.find(({ username }: { username: string }) => username === 'the-operator')
  await changeRole(app, id)
  for (const page of [live, list]) {
    await page.getByRole('alert').getByText('You were signed out, or your role has changed.').first().waitFor()
    await page.getByText('Signed out', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    await eventually(() => page.locator('body').innerText()).not.toMatch(/connection lost|API token|retrying/i)
    await eventually(() => findViolations(page)).toEqual([])
  }
})

it('warns only administrators about an unencrypted connection', async () => {
  const app = await startApp()
  const origin = 'http://mics.venue.example:8080'
  for (const [role, isWarned] of [
    ['admin', true],
    ['operator', false],
  ] as const) {
    const page = await browser.openAs(app, role, '/admin')
    const warning = page.getByText('is not encrypted')
    await page.getByText(`the-${role}`).waitFor()
    await eventually(() => warning.count()).toBe(0)
    // Serves the same page under a host name that does not refer to this machine.
    const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
    // A request may be pending when the test ends.
    onTestEnd(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
    await page.route(`${origin}/**`, async (route) => {
      const url = route.request().url().replace(origin, app.url)
      const response = await route.fetch({ url, headers: { accept: '*/*', cookie } })
      // Chromium ignores this header without TLS, and reports an error about it, which would fail the test.
      const { 'cross-origin-opener-policy': _, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
    await page.goto(`${origin}/admin`)
    await page.getByText(`the-${role}`).waitFor()
    await eventually(() => warning.count()).toBe(isWarned ? 1 : 0)
    await eventually(() => findViolations(page)).toEqual([])
  }
})

it('changes the password and revokes all other sessions', async () => {
  const app = await startApp({ config: lan })
  const page = await browser.openAs(app, 'operator', '/account')
  const elsewhere = await browser.openAs(app, 'operator', '/account')
  await page.getByLabel('Current password').fill('not it at all')
  await page.getByLabel('New password').fill('another fine password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('This is not your password.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByLabel('Current password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('status').getByText('Password changed.').waitFor()
  await eventually(() => page.getByLabel('New password').inputValue()).toBe('')
  await elsewhere.reload()
  await elsewhere.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
})
