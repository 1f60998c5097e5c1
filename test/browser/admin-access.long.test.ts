/** Users, tokens and the audit log in a browser against a real service. */

import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  row,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()

it('adds a user, changes the role, deactivates, resets the password and removes', async () => {
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  const page = await browser.openAs(app, 'admin', '/admin/people')
  await row(page, 'the-admin (you)').getByText('Add another one first').waitFor()
  await eventually(() => page.getByRole('button', { name: 'Remove the-admin' }).isDisabled()).toBe(true)

  // Only the keyboard is used. Invalid input is kept.
  await page.getByRole('button', { name: 'Add user' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('ana')
  await page.keyboard.press('Tab')
  await page.keyboard.press('o')
  await page.keyboard.press('Tab')
  await page.keyboard.type('short')
  await page.keyboard.press('Enter')
  await page.getByText('Expected at least 12 characters.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => page.getByLabel('User name').inputValue()).toBe('ana')
  await page.getByLabel('Password', { exact: true }).fill('a stage full of horses')
  await page.keyboard.press('Enter')
  await messages(page).getByText('ana added').waitFor()
  await row(page, 'ana').getByText('Operator').waitFor()
  const signIn = (text: string) => app.post('/api/auth/login', { username: 'ana', password: text })
  expect((await signIn('a stage full of horses')).status).toBe(200)

  await page.getByRole('button', { name: 'Reset password ana' }).click()
  await page.getByLabel('New password', { exact: true }).fill('another stage of horses')
  await press(page, 'Reset password')
  await messages(page).getByText('Password of ana reset.').waitFor()
  expect((await signIn('another stage of horses')).status).toBe(200)

  await page.getByRole('button', { name: 'Edit ana' }).click()
  await page.getByLabel('Role').selectOption('Administrator')
  await press(page, 'Save')
  await row(page, 'ana').getByText('Administrator').waitFor()
  await eventually(() => page.getByRole('button', { name: 'Remove the-admin' }).isEnabled()).toBe(true)
  await page.getByRole('button', { name: 'Edit ana' }).click()
  await page.getByLabel('Active').uncheck()
  await press(page, 'Save')
  await row(page, 'ana').getByText('No', { exact: true }).waitFor()
  expect((await signIn('another stage of horses')).status).toBe(401)

  await page.getByRole('button', { name: 'Remove ana' }).click()
  await page.getByRole('dialog', { name: 'Remove ana?' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await press(page, 'Remove')
  await messages(page).getByText('ana removed.').waitFor()
  await eventually(() => row(page, 'ana').count()).toBe(0)
  const { json } = await app.get('/api/admin/users/', admin)
  expect(json.map((item: { username: string }) => item.username)).toEqual(['the-admin'])

  // The service rejects what the page could not check.
  await page.getByRole('button', { name: 'Edit the-admin' }).click()
  await page.getByLabel('Role').selectOption('Viewer')
  await press(page, 'Save')
  await dialog(page).getByText('At least one active local administrator must remain.').waitFor()
})

it('shows the required role, and an unreachable service', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'operator', '/admin/people')
  await page.getByRole('heading', { name: 'No permission' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.route('**/api/admin/tokens/**', (route) => route.abort())
  await page.goto(`${app.url}/admin/tokens`)
  await page.getByRole('heading', { name: 'Cannot reach Micwatch' }).waitFor()
})

// Conformance: C-5.54.
it('creates a token that is shown once, edits it and revokes it', async () => {
  const app = await startApp({ config: { server: { host: '0.0.0.0' } } })
  const page = await browser.openAs(app, 'admin', '/admin/tokens')
  await page.getByRole('heading', { name: 'No tokens' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByLabel('Name').fill('<b>Lighting</b> desk')
  await page.getByLabel('Role').selectOption('Operator')
  await page.getByLabel('Expires').selectOption('on a date')
  await press(page, 'Create')
  await dialog(page).getByText('Enter a date in the future.').waitFor()
  await page.getByLabel('Expires').selectOption('in 30 days')
  await press(page, 'Create')
  const token = await page.getByRole('textbox', { name: 'Token', exact: true }).inputValue()
  await eventually(() => findViolations(page)).toEqual([])
  const readSession = async () => (await app.get('/api/auth/session', { authorization: `Bearer ${token}` })).json
  await eventually(() => readSession()).toMatchObject({ kind: 'token', name: '<b>Lighting</b> desk', role: 'operator' })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy Token' }).click()
  await page.getByText('Copied.').waitFor()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(token)
  await page.getByRole('button', { name: 'Done' }).click()
  await eventually(() => page.content()).not.toContain(token)
  await page.reload()
  await row(page, '<b>Lighting</b> desk').getByText('the-admin').waitFor()
  await eventually(() => page.locator('tbody b').count()).toBe(0)

  await page.getByRole('button', { name: 'Edit <b>Lighting</b> desk' }).click()
  await page.getByLabel('Name').fill('Lighting')
  await page.getByLabel('Expires').selectOption('never')
  await press(page, 'Save')
  await page.getByRole('button', { name: 'Revoke Lighting', exact: true }).waitFor()
  await eventually(() => readSession()).toMatchObject({ name: 'Lighting', role: 'operator' })
  await page.getByRole('button', { name: 'Revoke Lighting' }).click()
  await press(page, 'Revoke')
  await page.getByRole('heading', { name: 'No tokens' }).waitFor()
  expect((await app.get('/api/auth/session', { authorization: `Bearer ${token}` })).status).toBe(401)
})

it('creates a kiosk link that opens a read-only screen', async () => {
  const app = await startApp({ config: { server: { host: '0.0.0.0', mount: '/venue' } } })
  const admin = await tokenHeaders(app, 'admin')
  await app.post('/api/group/', { title: 'Band', slots: [1, 2] }, admin)
  const page = await browser.openAs(app, 'admin', '/admin/tokens', phone)
  await page.getByRole('button', { name: 'Create kiosk link' }).click()
  await page.getByLabel('Name').fill('Foyer')
  await page.getByLabel('Shows').selectOption('Wall, Band')
  await press(page, 'Create')
  const link = await page.getByRole('textbox', { name: 'Kiosk link' }).inputValue()
  await page.getByRole('img', { name: link }).waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  const screen = await browser.open(app, link.slice(app.url.length))
  await screen.waitForURL(`${app.url}/wall?group=1&kiosk=1`)
})

// Conformance: C-5.56.
it('shows the audit log with filters and pages', async () => {
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  for (let index = 1; index <= 51; index += 1) await app.post('/api/performers/', { name: `<i>${index}</i>` }, admin)
  await app.post('/api/admin/users/', { username: 'ana', password: 'a stage full of horses', role: 'viewer' }, admin)
  await app.post('/api/auth/login', { username: 'ana', password: 'not it at all' })
  const page = await browser.openAs(app, 'admin', '/admin/audit')
  await row(page, 'Added a user').filter({ hasText: 'user ana' }).getByText('role: viewer').waitFor()
  await eventually(() => page.locator('tbody i').count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Next' }).click()
  await row(page, 'Added a performer').first().waitFor()
  await eventually(() => new URL(page.url()).search).toBe('?page=2')

  await page.getByLabel('Action').selectOption('Performers')
  await page.getByText('1–50 of 51').waitFor()
  await page.getByLabel('Result').selectOption('Failed')
  await page.getByRole('heading', { name: 'No matching entries' }).waitFor()
  await page.getByLabel('Action').selectOption('Any')
  await row(page, 'Signed in').getByText('Failed').waitFor()
  await eventually(() => new URL(page.url()).search).toBe('?result=failed')
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await page.getByLabel('User').fill('the-admin')
  await row(page, 'the-admin').first().waitFor()
  await row(page, 'Added a performer').first().waitFor({ state: 'detached' })
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByRole('button', { name: 'Filters (1)' }).click()
  await eventually(() => findViolations(page)).toEqual([])
})
