/** The hardware layout: locations and their receivers, edited in a browser and checked in the service. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startSsc1Simulator } from '../../simulators/sennheiser/ssc1.ts'
import { startChargerSimulator } from '../../simulators/shure/strings/charger.ts'
import { auditOf } from '../support/admin-lists.ts'
import { configFor, startApp, startShure, until, withoutPush } from '../support/app.ts'
import { browserForTests, findViolations, messages, returnTo, scrollsHorizontally } from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const browser = browserForTests()

async function start() {
  const shure = withoutPush(await startShure({ richList: true, receivers: 3 }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('all receivers are known', async () => (await app.receivers()).length === 3)
  const admin = await tokenHeaders(app, 'admin')
  const locationNames = async () => {
    const { json } = await app.get('/api/admin/receivers/', admin)
    return json.map((item: { location: { name: string } | null }) => item.location?.name ?? null) as (string | null)[]
  }
  const movements = async () => {
    const { json } = await app.get('/api/admin/movements/?acknowledged=false', admin)
    return json as { detected_by: string; movement_type: string; reason: string }[]
  }
  const names = (await app.receivers()).map(({ name }) => name)
  return { app, admin, locationNames, movements, names }
}

const locationBox = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

async function addLocation(page: Page, name: string, parent?: string) {
  await page.getByRole('button', { name: 'Add location', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  if (parent !== undefined) await dialog.getByLabel('Parent location').selectOption({ label: parent })
  await page.keyboard.press('Enter')
  await messages(page).getByText(`${name} saved.`).waitFor()
}

// Conformance: S-1.5.
it('creates nested locations, moves receivers there, and undoes the move', async () => {
  const { app, admin, locationNames, movements, names } = await start()
  const page = await browser.openAs(app, 'admin', '/admin/layout')
  await page.getByText('3 receivers, 3 without a location.').waitFor()
  await page.getByRole('button', { name: 'Add location', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByText('Expected text of 1 to 255 characters.').waitFor()
  await page.keyboard.press('Escape')
  await addLocation(page, 'Hall')
  await addLocation(page, 'Rack 1', 'Hall')
  await locationBox(page, 'Rack 1').getByText('Empty. Select receivers and choose Move').waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  for (const name of names.slice(0, 2)) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  await page.getByRole('button', { name: 'Move (2)', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Move 2 receivers' })
  await eventually(() => findViolations(page)).toEqual([])
  await dialog.getByLabel('To').selectOption({ label: 'Hall / Rack 1' })
  await dialog.getByLabel('Reason').fill('built for the tour')
  await dialog.getByRole('button', { name: 'Move' }).click()
  await messages(page).getByText('Moved 2 receivers.').waitFor()
  await eventually(() => locationNames()).toEqual(['Rack 1', 'Rack 1', null])
  const logged = await movements()
  expect(logged).toHaveLength(2)
  expect(logged[0]).toMatchObject({
    detected_by: 'manual',
    movement_type: 'location_only',
    reason: 'built for the tour',
  })
  const rack = locationBox(page, 'Rack 1')
  await rack.getByRole('link', { name: names[1] ?? '' }).waitFor()
  await rack.getByText('Online', { exact: true }).nth(1).waitFor()
  const linked = rack.locator('a[href="/receivers/2"], a[href="/channels/3"]')
  await eventually(() => linked.count()).toBe(2)
  await page.getByText('3 receivers, 1 without a location.').waitFor()
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('Moved 2 receivers back.').waitFor()
  await eventually(() => locationNames()).toEqual([null, null, null])

  // An empty location can be deleted; a location that contains another one has no delete button.
  await eventually(() => page.getByRole('button', { name: 'Delete Hall' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Edit Rack 1' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Rack A')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await messages(page).getByText('Rack A saved.').waitFor()
  await page.getByRole('button', { name: 'Delete Rack A' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Delete location Rack A?' })
  await confirmation.getByRole('button', { name: 'Delete' }).click()
  await messages(page).getByText('Rack A deleted.').waitFor()
  const { json } = await app.get('/api/admin/locations/', admin)
  expect(json.map((item: { name: string }) => item.name)).toEqual(['Hall'])
})

it('renames and moves a receiver, finds it by search, and removes it', async () => {
  const { app, admin, locationNames, movements, names } = await start()
  await app.post('/api/admin/locations/', { name: '<b>Hall</b>' }, admin)
  const page = await browser.openAs(app, 'admin', '/admin/layout')
  await page.getByRole('button', { name: `Edit ${names[0]}` }).click()
  const dialog = page.getByRole('dialog', { name: `Edit ${names[0]}` })
  await dialog.getByLabel('Name').fill('<i>Monitor</i> left')
  await dialog.getByLabel('Location').selectOption({ label: '<b>Hall</b>' })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await messages(page).getByText(`${names[0]} saved.`).waitFor()
  await locationBox(page, '<b>Hall</b>').getByText('<i>Monitor</i> left').waitFor()
  await eventually(() => page.locator('.box b, .box i').count()).toBe(0)
  await eventually(() => locationNames()).toEqual(['<b>Hall</b>', null, null])
  expect((await app.receivers())[0]?.name).toBe('<i>Monitor</i> left')
  await eventually(() => movements()).toHaveLength(1)
  // A new name creates no movement; an empty name restores the name that the system reports.
  await page.getByRole('button', { name: 'Edit <i>Monitor</i> left' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await until('the reported name is restored', async () => (await app.receivers())[0]?.name === names[0])
  await eventually(() => movements()).toHaveLength(1)

  await page.getByRole('searchbox', { name: 'Search' }).fill('hall')
  await page.getByText('1 receiver.', { exact: true }).waitFor()
  await eventually(() => new URL(page.url()).search).toBe('?search=hall')
  await page.getByRole('searchbox', { name: 'Search' }).fill('balcony')
  await page.getByRole('heading', { name: 'No matches' }).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).first().click()

  await page.getByRole('checkbox', { name: `Select ${names[2]}` }).check()
  await page.getByRole('button', { name: 'Remove (1)' }).click()
  const removal = page.getByRole('dialog', { name: 'Remove 1 receiver?' })
  await removal.getByText('are added again at the next poll').waitFor()
  await removal.getByRole('button', { name: 'Remove' }).click()
  await messages(page).getByText('Removed 1 receiver.').waitFor()
  expect((await auditOf(app)).map(({ action }) => action)).toEqual(
    expect.arrayContaining(['receiver.change', 'receiver.delete']),
  )
})

it('shows a viewer the layout without actions, fits a phone, and reports a failed refresh', async () => {
  const { app, admin, names } = await start()
  await app.post('/api/admin/locations/', { name: 'Hall', description: 'Main stage' }, admin)
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'light' } as const
  const page = await browser.openAs(app, 'viewer', '/admin/layout', phone)
  await locationBox(page, 'No location')
    .getByText(names[0] ?? '')
    .waitFor()
  await page.getByText('Requires the administrator role.').waitFor()
  await eventually(() => page.getByRole('button', { name: /^(Edit|Add|Delete)/ }).count()).toBe(0)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  await page.route('**/api/admin/hardware-layout/**', (route) => route.abort())
  await returnTo(page)
  await page.getByText('Refresh failed', { exact: false }).waitFor()
  await locationBox(page, 'Hall').getByText('Main stage').waitFor()
})

it('shows a charging fault with its reason beside the transmitter and as an alert', async () => {
  const charger = await startChargerSimulator({
    model: 'SBC220',
    name: 'Backstage',
    bays: [80, { charge: 0, error: 7 }],
  })
  onTestEnd(() => charger.close())
  const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices: [charger.url] } }] })
  await until('the alert is raised', async () => (await app.get('/api/alerts/?state=raised')).json.length > 0)
  const page = await browser.openAs(app, 'admin', '/admin/layout')
  await page
    .getByRole('list', { name: 'Transmitters in Backstage' })
    .getByText(/^No communication with battery/)
    .waitFor()
  const alerts = page.getByRole('region', { name: 'Equipment alerts' })
  await alerts.getByRole('heading', { name: 'Charger fault' }).waitFor()
  await alerts.getByText(/^No communication with battery/).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  charger.charge(2, 40)
  await alerts.waitFor({ state: 'detached', timeout: 20_000 })
})

it('shows the transmitters in a charger and their charging time', async () => {
  const charger = await startSsc1Simulator({ model: 'CHG70N', host: '127.0.0.9' })
  onTestEnd(() => charger.close())
  const app = await startApp({ manufacturers: [{ code: 'sennheiser', config: { devices: [charger.url] } }] })
  await until('the device is known', async () => (await app.get('/api/units/')).json[0]?.base_chassis)
  const page = await browser.openAs(app, 'admin', '/admin/layout')
  const packs = page.getByRole('list', { name: 'Transmitters in CHG70N' })
  await packs.getByText('64%, full in 1 hr 15 min').waitFor()
  charger.dock(2, { type: 'EW-DX SKM', serial: '1054000999', gauge: 100, minutesToFull: 0 })
  await until('the transmitter is known', async () => (await app.get('/api/units/')).json.length === 2, 15_000)
  await returnTo(page)
  await packs.getByText('EW-DX SKM, bay 2').waitFor()
  await eventually(() => packs.innerText()).toMatch(/bay 2\s+100%$/)
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})
