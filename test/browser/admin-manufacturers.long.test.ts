/** Manufacturers: added, tested, edited, disabled and deleted in a browser against simulated systems. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { auditOf } from '../support/admin-lists.ts'
import {
  configFor,
  startApp,
  startLectrosonics,
  startShure,
  startSystemApi,
  type TestApp,
  until,
  withoutPush,
} from '../support/app.ts'
import {
  browserForTests,
  chooseBySearch,
  countSteps,
  dialog,
  findViolations,
  messages,
  press,
  returnTo,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { certify } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()
const path = '/api/admin/manufacturers/'
/** The address of equipment that is added. */
const address = (page: Page) => dialog(page).getByLabel('Address', { exact: true })

async function listManufacturers(app: TestApp) {
  const { json } = await app.get(path, await tokenHeaders(app, 'admin'))
  return json as { code: string; name: string; api_enabled: boolean; config: Record<string, unknown> }[]
}

it('tests the settings before they are saved, and adds the manufacturer', async () => {
  const shure = withoutPush(await startShure({ sharedKey: 'right' }))
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/')
  await page.getByRole('heading', { name: 'No systems configured' }).waitFor()
  await page.getByRole('link', { name: 'Add manufacturer' }).click()
  await page.getByRole('heading', { name: 'No manufacturers' }).waitFor()
  await page.getByRole('button', { name: 'Add manufacturer' }).click()
  await dialog(page).getByLabel('System type').selectOption('shure')
  await address(page).fill(shure.baseUrl)
  await dialog(page).getByLabel('Shared key', { exact: true }).fill('wrong')
  await press(page, 'Test connection')
  await dialog(page).getByText('credentials rejected', { exact: false }).waitFor()
  await dialog(page).getByLabel('Shared key', { exact: true }).fill('right')
  await press(page, 'Test connection')
  await dialog(page).getByText(`${shure.baseUrl} responded: 2 devices.`).waitFor()
  await eventually(() => listManufacturers(app)).toEqual([])
  await eventually(() => findViolations(page)).toEqual([])

  await dialog(page).getByText('Advanced').click()
  await eventually(() => dialog(page).getByLabel('Code').inputValue()).toBe('shure')
  // The error is shown next to the field, in the section that is opened for it, and the input is kept.
  await dialog(page).getByLabel('Timeout (s)').fill('90')
  await dialog(page).getByText('Advanced').click()
  await press(page, 'Save')
  await dialog(page).getByText('Expected whole seconds from 1 to 60.').waitFor()
  await page.locator('input[name="config.timeout"]:focus').waitFor()
  await dialog(page).getByLabel('Timeout (s)').fill('5')
  await dialog(page).getByLabel('Name', { exact: true }).fill('<b>Stage</b> left')
  await page.keyboard.press('Enter')
  await messages(page).getByText('<b>Stage</b> left added.').waitFor()
  await eventually(() => listManufacturers(app)).toMatchObject([
    { code: 'shure', name: '<b>Stage</b> left', config: { shared_key: '********', timeout: 5 } },
  ])
  await until('the receivers are found', async () => (await app.receivers()).length === 2)
  await rows(page).getByText('Healthy').waitFor()
  await eventually(() => page.locator('tbody b').count()).toBe(0)
})

it('links to set-up from an empty monitor, and later to this page for administrators', async () => {
  const app = await startApp()
  const newcomer = await browser.open(app, '/')
  await newcomer.getByRole('link', { name: 'Create administrator' }).waitFor()
  await eventually(() => findViolations(newcomer)).toEqual([])
  const operator = await browser.openAs(app, 'operator', '/')
  await browser.openAs(app, 'admin', '/')
  await newcomer.reload()
  await operator.reload()
  for (const page of [newcomer, operator]) {
    await page.getByText('Ask an administrator to add your systems', { exact: false }).waitFor()
    await eventually(() => page.getByRole('link', { name: 'Add manufacturer' }).count()).toBe(0)
    await eventually(() => findViolations(page)).toEqual([])
  }
})

it('discards the test result when the form changes', async () => {
  const shure = withoutPush(await startShure({ sharedKey: 'right' }))
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers')
  await page.getByRole('button', { name: 'Add manufacturer' }).click()
  await dialog(page).getByLabel('System type').selectOption('shure')
  await address(page).fill(shure.baseUrl)
  await dialog(page).getByLabel('Shared key', { exact: true }).fill('right')
  const testResult = dialog(page).getByText('responded: 2 devices.', { exact: false })
  await press(page, 'Test connection')
  await testResult.waitFor()
  await dialog(page).getByText('Advanced').click()
  await dialog(page).getByLabel('Individual devices').fill('nonsense')
  await testResult.waitFor({ state: 'detached' })

  const fieldError = dialog(page).locator('.problem')
  await press(page, 'Save')
  await fieldError.getByText('Line 1:', { exact: false }).waitFor()
  await dialog(page).getByLabel('Name', { exact: true }).fill('Stage')
  await eventually(() => fieldError.count()).toBe(1)
  await dialog(page).getByLabel('Individual devices').fill('')
  await fieldError.waitFor({ state: 'detached' })
  await eventually(() => dialog(page).getByLabel('Individual devices').getAttribute('aria-invalid')).toBe(null)
  await press(page, 'Test connection')
  await testResult.waitFor()

  // An error in another field discards the test result.
  await page.route(`**${path}`, (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 409, json: { error: 'Taken.' } }) : route.fallback(),
  )
  await press(page, 'Save')
  await fieldError.getByText('Taken.').waitFor()
  await eventually(() => testResult.count()).toBe(0)
})

it('edits without the secret, disables and enables, and keeps a manufacturer that has receivers', async () => {
  const shure = withoutPush(await startShure({ sharedKey: 'right' }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('the receivers are found', async () => (await app.receivers()).length === 2)
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers')
  await page.getByRole('button', { name: 'Edit Shure' }).click()
  await eventually(() => dialog(page).getByLabel('Shared key', { exact: true }).inputValue()).toBe('********')
  await dialog(page).getByText('Advanced').click()
  await dialog(page).getByLabel('Verify certificate (TLS)').uncheck()
  await dialog(page).getByText('Not verified: an attacker on the network', { exact: false }).waitFor()
  await dialog(page).getByLabel('Polling interval (s)').fill('7')
  // The form submits `********` unchanged, so the connection is tested with the stored key.
  await press(page, 'Test connection')
  await dialog(page).getByText('responded: 2 devices.', { exact: false }).waitFor()
  await press(page, 'Save')
  await messages(page).getByText('Shure saved.').waitFor()
  const { config = {} } = (await listManufacturers(app))[0] ?? {}
  expect(config).toMatchObject({ ssl_verify: false, poll_interval: 7, shared_key: '********' })
  const change = (await auditOf(app)).find(({ action }) => action === 'manufacturer.change')
  expect(JSON.stringify(change)).not.toContain('shared_key')

  await page.getByRole('button', { name: 'Test Shure' }).click()
  await page
    .getByRole('dialog', { name: 'Test of Shure' })
    .getByText('responded: 2 devices.', { exact: false })
    .waitFor()
  await press(page, 'Close')

  const toggle = page.getByRole('checkbox', { name: 'Enable Shure' })
  await toggle.click()
  await page.getByRole('dialog', { name: 'Disable Shure?' }).waitFor()
  await press(page, 'Disable')
  await messages(page).getByText('Shure disabled.').waitFor()
  expect((await listManufacturers(app))[0]?.api_enabled).toBe(false)
  await rows(page).getByText('Disabled').waitFor()
  await toggle.focus()
  await page.keyboard.press('Space')
  await messages(page).getByText('Shure enabled.').waitFor()
  expect((await listManufacturers(app))[0]?.api_enabled).toBe(true)

  await page.getByRole('button', { name: 'Delete Shure' }).click()
  await press(page, 'Delete')
  await dialog(page).getByText('It still has receivers: remove them first, or disable it instead.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await eventually(() => listManufacturers(app)).toHaveLength(1)
})

it('asks for the stored secret again as soon as the address differs', async () => {
  const [shure, other] = [await startShure({ sharedKey: 'right' }), await startShure({ sharedKey: 'right' })]
  const app = await startApp({ manufacturers: [configFor(withoutPush(shure))] })
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers')
  await page.getByRole('button', { name: 'Edit Shure' }).click()
  const [address, key] = [
    dialog(page).getByLabel('System address'),
    dialog(page).getByLabel('Shared key', { exact: true }),
  ]
  await address.fill(`${shure.baseUrl}/`)
  await eventually(() => key.inputValue()).toBe('********')
  await address.fill(other.baseUrl)
  await dialog(page).getByText('Enter it again, because the address has changed.').waitFor()
  await eventually(() => key.inputValue()).toBe('')
  await eventually(() => findViolations(page)).toEqual([])
  for (const action of ['Save', 'Test connection']) {
    await press(page, action)
    await dialog(page).getByText('Enter a value.', { exact: false }).first().waitFor()
  }
  // A key that was typed survives further changes of the address.
  await key.fill('right')
  await address.fill(shure.baseUrl)
  await address.fill(other.baseUrl)
  await press(page, 'Test connection')
  await dialog(page).getByText('responded: 2 devices.', { exact: false }).waitFor()
  await press(page, 'Save')
  await messages(page).getByText('Shure saved.').waitFor()
  await eventually(() => listManufacturers(app)).toMatchObject([{ config: { api_base_url: other.baseUrl } }])
})

it('shows at its field that the service requires a secret again', async () => {
  const shure = withoutPush(await startShure({ sharedKey: 'right' }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers')
  await page.getByRole('button', { name: 'Edit Shure' }).click()
  // Another administrator has changed the address meanwhile.
  await app.send('PATCH', `${path}shure/`, {
    headers: { 'content-type': 'application/json', ...(await tokenHeaders(app, 'admin')) },
    body: JSON.stringify({ config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'other' } }),
  })
  await dialog(page).getByLabel('System address').fill(`${shure.baseUrl}/`)
  await press(page, 'Save')
  await dialog(page)
    .getByText('Enter it again, because the stored value was not entered for', { exact: false })
    .waitFor()
  await page.locator('input[name="config.shared_key"][aria-invalid]:focus').waitFor()
})

/** Opens the page as the machine with this network would show it. The networks of the test machine are not scanned. */
async function findEquipment(page: Page, network: string): Promise<void> {
  await page.route('**/api/discover/networks/', (route) => route.fulfill({ json: network === '' ? [] : [network] }))
  await page.getByRole('link', { name: 'Find equipment' }).last().click()
  await page.getByRole('heading', { name: 'Find equipment' }).waitFor()
}

it('scans a network and shows the devices found or the error', async () => {
  const shure = withoutPush(await startShure({ richList: true }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('the receivers are found', async () => (await app.receivers()).length === 2)
  const page = await browser.openAs(app, 'operator', '/admin/manufacturers')
  await page.getByText('Requires the administrator role.').waitFor()
  await eventually(() => page.getByRole('button', { name: /^(Edit|Delete|Test|Add)/ }).count()).toBe(0)
  await findEquipment(page, '')
  await page.getByLabel('Network').fill('8.8.8.0/24')
  await page.keyboard.press('Enter')
  await page.getByText('not listed in discovery_ranges', { exact: false }).waitFor()
  const ip = (await app.receivers())[0]?.ip ?? ''
  await page.getByLabel('Network').fill(`${ip}/27`)
  await page.getByRole('button', { name: 'Scan' }).click()
  await page.getByText('2 devices found.').waitFor()
  await page.getByRole('cell', { name: ip }).waitFor()
  await eventually(() => page.getByRole('button', { name: 'Add' }).count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
  expect(shure.discoveryIps).toHaveLength(30)
})

it('finds an individual device from the empty monitor, and adds it in three steps', async () => {
  await startLectrosonics({ host: '127.0.78.1', port: 4080 })
  const app = await startApp({ config: { discovery_ranges: ['127.0.78.0/24'] } })
  const page = await browser.openAs(app, 'admin', '/')
  const steps = countSteps()
  await steps.step(findEquipment(page, '127.0.78.0/29'))
  await page.getByText('1 device found.').waitFor()
  await page.getByRole('cell', { name: 'tcp://127.0.78.1:4080' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  const tick = page.getByRole('checkbox', { name: 'DSQD' })
  await tick.uncheck()
  await eventually(() => page.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
  await tick.check()
  await steps.step(page.getByRole('button', { name: 'Add 1 device' }).click())
  await page.getByText('1 device added.', { exact: false }).waitFor()
  expect(steps.count).toBeLessThanOrEqual(3)
  await eventually(() => listManufacturers(app)).toMatchObject([
    { code: 'lectrosonics', config: { devices: ['tcp://127.0.78.1:4080'] } },
  ])
  await until('the receiver is monitored', async () => (await app.receivers()).length === 1)
})

// Conformance: C-21.54.
it('adds a receiver by its bare address in four steps, beside those of its manufacturer', async () => {
  await startLectrosonics({ host: '127.0.78.31', port: 4080 })
  const monitored = await startLectrosonics({ firstNumber: 2 })
  const app = await startApp({ manufacturers: [{ code: 'lectrosonics', config: { devices: [monitored.baseUrl] } }] })
  await until('one receiver is monitored', async () => (await app.receivers()).length === 1)
  const page = await browser.openAs(app, 'admin', '/')
  await page.route('**/api/discover/networks/', (route) => route.fulfill({ json: [] }))
  const steps = countSteps()
  await steps.step(page.getByRole('link', { name: 'Admin', exact: true }).click())
  await steps.step(page.getByRole('link', { name: 'Find equipment' }).last().click())
  await steps.step(page.getByLabel('Address', { exact: true }).fill('127.0.78.31'))
  await steps.step(page.getByRole('button', { name: 'Save' }).click())
  await messages(page).getByText('DSQD added.').waitFor()
  expect(steps.count).toBeLessThanOrEqual(4)
  await eventually(() => listManufacturers(app)).toMatchObject([
    { code: 'lectrosonics', config: { devices: [monitored.baseUrl, 'tcp://127.0.78.31:4080'] } },
  ])
  await until('both receivers are monitored', async () => (await app.receivers()).length === 2)

  // The address is monitored now, and another one does not respond.
  await page.getByLabel('Address', { exact: true }).fill('tcp://127.0.78.31')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('is already monitored.', { exact: false }).waitFor()
  await eventually(() => page.locator('.find-address a[href*="/receivers/"]').count()).toBe(1)
  await page.getByLabel('Address', { exact: true }).fill('127.0.78.32')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Nothing responds at 127.0.78.32.', { exact: false }).waitFor()
  await page.getByText('Protocols tried').click()
  await page.getByText('Shure: tcp://127.0.78.32:2202').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

it('adds a system by its bare address in five steps, with its certificate', async () => {
  const tls = await certify({ name: 'system-api.example' })
  const system = await startSystemApi({ host: '127.0.78.33', port: 10_000, tls, sharedKey: 'right' })
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/')
  await page.route('**/api/discover/networks/', (route) => route.fulfill({ json: [] }))
  const steps = countSteps()
  await steps.step(page.getByRole('link', { name: 'Find equipment' }).last().click())
  await steps.step(page.getByLabel('Address', { exact: true }).fill('127.0.78.33'))
  await steps.step(page.getByRole('button', { name: 'Save' }).click())
  await page.getByText('System API needs its password or key.').waitFor()
  await page.getByText('SHA-256 of its certificate:', { exact: false }).waitFor()
  await page.locator('input[name="config.password"][aria-invalid]:focus').waitFor()
  await steps.step(page.getByLabel('Password or key', { exact: true }).fill('right'))
  await steps.step(page.getByRole('button', { name: 'Save' }).click())
  await messages(page).getByText('System API added.').waitFor()
  expect(steps.count).toBeLessThanOrEqual(5)
  const config = {
    api_base_url: system.baseUrl,
    password: '********',
    fingerprint: expect.stringMatching(/^[\dA-F:]+$/),
  }
  await eventually(() => listManufacturers(app)).toMatchObject([{ code: 'shure', config }])
  await until('the receivers are found', async () => (await app.receivers()).length === 2)
  await page.getByRole('link', { name: 'Manufacturers' }).last().click()
  await rows(page).getByText('Healthy').waitFor()
})

it('adds a whole address without contacting it, and says so until it responds', async () => {
  const device = await startLectrosonics()
  device.setFault({ type: 'hang' })
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers')
  await page.getByRole('button', { name: 'Add manufacturer' }).click()
  await dialog(page).getByLabel('System type').selectOption('lectrosonics')
  await address(page).fill(device.baseUrl)
  await press(page, 'Save')
  await messages(page).getByText('Lectrosonics added.').waitFor()
  await rows(page).getByText('Not contacted yet').waitFor()
  device.setFault(null)
  await rows(page).getByText('Healthy').waitFor()
})

it('lets a user choose among the systems that may respond at an address', async () => {
  const shure = withoutPush(await startShure({ sharedKey: 'right' }))
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers')
  await page.getByRole('button', { name: 'Add manufacturer' }).click()
  await address(page).fill(shure.baseUrl)
  await dialog(page).getByLabel('Password or key', { exact: true }).fill('right')
  await press(page, 'Save')
  await dialog(page).getByText('More than one kind of equipment responds. Choose one.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await dialog(page).getByRole('radio', { name: 'Shure' }).check()
  await press(page, 'Save')
  await messages(page).getByText('Shure added.').waitFor()
  await until('the receivers are found', async () => (await app.receivers()).length === 2)
})

it('puts the channels of a new receiver on slots that wait for them', async () => {
  await startLectrosonics({ host: '127.0.78.41', port: 4080 })
  const app = await startApp({ config: { discovery_ranges: ['127.0.78.0/24'] } })
  const headers = await tokenHeaders(app, 'operator')
  const enter = (slot: number, performer_name: string) => app.put(`/api/slots/${slot}/`, { performer_name }, headers)
  for (const [slot, name] of [
    [7, 'Nora'],
    [8, 'Ben'],
    [9, 'Ada'],
    [20, 'Zoe'],
  ] as const)
    await enter(slot, name)
  const page = await browser.openAs(app, 'admin', '/admin')
  await findEquipment(page, '127.0.78.40/30')
  const waiting = page.getByRole('listitem').filter({ hasText: /^(7 Nora|8 Ben|9 Ada|20 Zoe)/ })
  await eventually(() => waiting.count()).toBe(4)
  // The slots after the first one are proposed for the other channels.
  await chooseBySearch(page, 'Channel 1', '7 Nora')
  const chosen = () =>
    Promise.all([1, 2, 3, 4].map((channel) => page.getByRole('combobox', { name: `Channel ${channel}` }).inputValue()))
  await eventually(chosen).toEqual(['7 Nora', '8 Ben', '9 Ada', '20 Zoe'])
  await page.getByText('Channel 3', { exact: true }).dragTo(waiting.filter({ hasText: 'Ben' }))
  await eventually(chosen).toEqual(['7 Nora', '', '8 Ben', '20 Zoe'])
  await chooseBySearch(page, 'Channel 4', 'Next free slot')
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Add 1 device' }).click()
  await page.getByText('DSQD added. Slots: 7 and 8.').waitFor()
  const [receiver] = await app.receivers()
  expect(
    receiver?.channels.filter(({ slot }) => slot === 7 || slot === 8).map(({ channel, slot }) => [channel, slot]),
  ).toEqual([
    [1, 7],
    [3, 8],
  ])
  const { json } = await app.get('/api/slots/7/')
  expect(json).toMatchObject({ performer: { name: 'Nora' }, placeholder_id: null })
})

it('says which part failed if a chosen slot is taken meanwhile', async () => {
  await startLectrosonics({ host: '127.0.78.45', port: 4080 })
  const app = await startApp({ config: { discovery_ranges: ['127.0.78.0/24'] } })
  const headers = { 'content-type': 'application/json', ...(await tokenHeaders(app, 'operator')) }
  const write = (method: string, path: string, body: object) =>
    app.send(method, path, { headers, body: JSON.stringify(body) })
  await write('PUT', '/api/slots/7/', { performer_name: 'Nora' })
  const page = await browser.openAs(app, 'admin', '/admin')
  await findEquipment(page, '127.0.78.44/30')
  await chooseBySearch(page, 'Channel 1', '7 Nora')
  // Another user makes the slot a wired one as the receiver is added.
  await page.route('**/api/slots/', async (route) => {
    if (route.request().method() === 'PUT') {
      const { json } = await app.get('/api/slots/7/')
      await write('PATCH', `/api/placeholders/${json.placeholder_id}/`, { kind: 'wired' })
    }
    await route.fallback()
  })
  await page.getByRole('button', { name: 'Add 1 device' }).click()
  await page.getByText('DSQD was added, but its channels were not put on the chosen slots.', { exact: false }).waitFor()
  await until('the receiver is monitored', async () => (await app.receivers()).length === 1)
})

it('asks for the shared password before it adds devices to which it would be sent', async () => {
  const config = { password: 'secret', devices: ['https://127.0.78.20'] }
  const app = await startApp({ manufacturers: [{ code: 'sennheiser', config }] })
  const device = { ip: '127.0.78.21', device_type: 'receiver', model: 'EW-DX EM 2', channels: 2, firmware: null }
  const devices = [{ ...device, address: 'https://127.0.78.21', manufacturer: 'sennheiser' }]
  const page = await browser.openAs(app, 'admin', '/admin')
  await page.route('**/api/discover/', (route) => route.fulfill({ json: { discovered: 1, devices } }))
  await findEquipment(page, '127.0.78.20/30')
  await page.getByRole('button', { name: 'Add 1 device' }).click()
  await page.getByText('Enter a value.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByLabel('Password (Sennheiser)', { exact: true }).fill('secret')
  await page.getByRole('button', { name: 'Add 1 device' }).click()
  await page.getByText('1 device added.', { exact: false }).waitFor()
  await eventually(() => listManufacturers(app)).toMatchObject([
    { config: { password: '********', devices: ['https://127.0.78.20', 'https://127.0.78.21'] } },
  ])
})

it('opens the form of a system that was found', async () => {
  await startSystemApi({ host: '127.0.78.9', port: 10_000, tls: await certify({ name: 'system-api.example' }) })
  const config = { discovery_ranges: ['127.0.78.0/24'] }
  const app = await startApp({ manufacturers: [{ code: 'shure' }], config })
  const page = await browser.openAs(app, 'admin', '/admin')
  await findEquipment(page, '127.0.78.8/30')
  await page.getByRole('cell', { name: 'https://127.0.78.9:10000' }).waitFor()
  await page.getByRole('button', { name: 'Set up' }).click()
  await eventually(() => address(page).inputValue()).toBe('https://127.0.78.9:10000')
  await eventually(() => dialog(page).getByLabel('System type').inputValue()).toBe('shure')
  await eventually(() => findViolations(page)).toEqual([])
})

it('fits a phone and shows errors', async () => {
  const shure = withoutPush(await startShure({ sharedKey: 'right' }))
  const app = await startApp({
    manufacturers: [configFor(shure, { shared_key: 'wrong', api_base_url: shure.baseUrl })],
  })
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'light' } as const
  const page = await browser.openAs(app, 'admin', '/admin/manufacturers', phone)
  await rows(page).getByText('credentials rejected', { exact: false }).waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Edit Shure' }).click()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByText('Advanced').tap()
  const fields = ['Timeout (s)', 'Polling interval (s)'] as const
  const boxOf = async (name: string) => {
    const box = await page.locator('.field', { has: page.getByText(name, { exact: true }) }).boundingBox()
    if (box === null) throw new Error(`The field ${name} is not visible.`)
    return box
  }
  // One field below the other on a phone, and side by side on a wide screen.
  const [first, second] = [await boxOf(fields[0]), await boxOf(fields[1])]
  expect(second.y - first.y - first.height).toBeCloseTo(24, 0)
  await page.setViewportSize({ width: 1440, height: 900 })
  await eventually(async () => (await boxOf(fields[0])).y - (await boxOf(fields[1])).y).toBeCloseTo(0, 0)
  await page.setViewportSize(phone.viewport)
  await page.keyboard.press('Escape')
  await page.route('**/api/admin/manufacturers/', (route) => route.abort())
  await returnTo(page)
  await page.getByText('Refresh failed', { exact: false }).waitFor()
  await eventually(() => rows(page).count()).toBe(1)
})
