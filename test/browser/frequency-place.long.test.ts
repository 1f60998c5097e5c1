/** The place on the page of the frequencies, against a real service: bands of the country, and TV stations nearby. */

import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { browserForTests, findViolations, messages, press, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const { openAs } = browserForTests()

const stations = [
  'channel,latitude,longitude,erp_kw,name',
  '27,48.1351,11.5820,50,Munich',
  '33,52.5208,13.4094,50,Alexanderplatz',
  '47,52.5208,13.4094,,Alexanderplatz second',
  '40,52.5208,13.4094,100,Alexanderplatz first',
].join('\n')

// Conformance: C-23.125, C-23.127.
it('shows the bands of the country of a location behind the carriers, edits and resets them', async () => {
  const app = await startApp()
  await app.post('/api/placeholders/', { kind: 'wireless', slot: 1, name: 'Vox 1', frequency: '600.000' })
  await app.post('/api/placeholders/', { kind: 'wireless', slot: 2, name: 'Vox 2', frequency: '620.000' })
  const location = { name: 'Berlin', country: 'de', latitude: 52.52, longitude: 13.405 }
  expect((await app.post('/api/admin/locations/', location, await tokenHeaders(app, 'admin'))).json).toMatchObject({
    ...location,
    country: 'DE',
  })
  const page = await openAs(app, 'admin', '/frequencies?tab=place')
  const bands = page.getByRole('region', { name: 'Bands' })
  const table = bands.getByRole('table', { name: 'Bands of Germany (DE)' })
  await table.getByRole('row', { name: /608\.000 to 614\.000 MHz Forbidden Radio astronomy/ }).waitFor()
  await bands.getByText(/^Table of .+ old\. It is not legal advice/).waitFor()
  await page.getByRole('region', { name: 'Place', exact: true }).getByText('52.52, 13.405').waitFor()
  const picture = () => page.evaluate<string>("document.querySelector('.spectrum-canvas').toDataURL()")
  const builtIn = await picture()
  await eventually(() => findViolations(page)).toEqual([])

  await bands.getByRole('button', { name: 'Edit' }).click()
  const lines = page.getByLabel('One band per line')
  await lines.fill('470-608; free; Vfg. 34/2020\n608-614; maybe')
  await press(page, 'Save')
  await page.getByRole('dialog').getByText('Line 2: enter a range, a semicolon and a status.').waitFor()
  await lines.fill('470-700; licensed; Our licence')
  await press(page, 'Save')
  await messages(page).getByText('Bands of Germany (DE) saved.').waitFor()
  await table.getByRole('row', { name: '470.000 to 700.000 MHz Licensed Our licence' }).waitFor()
  await bands.getByText(/^Edited on .+ by the-admin, .+ ago\./).waitFor()
  await eventually(picture).not.toBe(builtIn)
  await bands.getByRole('button', { name: 'Back to the built-in table' }).click()
  await press(page, 'Back to the built-in table')
  await table.getByRole('row', { name: /608\.000 to 614\.000 MHz Forbidden/ }).waitFor()

  const operator = await openAs(app, 'operator', '/frequencies?tab=place&country=US')
  await operator.getByRole('table', { name: 'Bands of United States (US)' }).waitFor()
  // A forbidden band is no conflict.
  expect((await app.get('/api/frequencies/')).json.conflicts).toEqual([])
})

// Conformance: C-23.126.
it('lists imported TV stations by distance and power, and marks no TV channel', async () => {
  const app = await startApp()
  const page = await openAs(app, 'admin', '/frequencies?tab=place')
  const list = page.getByRole('region', { name: 'TV stations nearby' })
  await list.getByText('No TV stations imported.', { exact: false }).waitFor()
  const upload = async (text: string) => {
    await list.getByRole('button', { name: 'Import stations' }).click()
    const buffer = Buffer.from(text)
    await page.getByLabel('File').setInputFiles({ name: 'stations.csv', mimeType: 'text/csv', buffer })
    await press(page, 'Import stations')
  }
  await upload(`${stations}\n33,ninety,13,1,Wrong`)
  await page.getByRole('dialog').getByText('Line 6, latitude', { exact: false }).waitFor()
  await page.keyboard.press('Escape')
  await upload(stations)
  await messages(page).getByText('4 TV stations imported.').waitFor()
  await list.getByText(/^4 stations, imported .+ ago\.$/).waitFor()
  await list.getByText('Enter the coordinates of the place', { exact: false }).waitFor()

  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Country').fill('D')
  await page.getByLabel('Coordinates').fill('52.52 N; 13.405 E')
  await press(page, 'Apply')
  await page.getByRole('dialog').getByText('Enter a country code of two letters').waitFor()
  await page.getByLabel('Country').fill('de')
  await press(page, 'Apply')
  await eventually(() => list.locator('tbody [data-column="name"]').allInnerTexts()).toEqual([
    ...['Alexanderplatz first', 'Alexanderplatz', 'Alexanderplatz second', 'Munich'],
  ])
  await eventually(() => list.locator('tbody [data-column="distance"]').first().innerText()).toBe('0.3 km')
  await page.getByRole('table', { name: 'Bands of Germany (DE)' }).waitFor()
  await page.reload()
  await eventually(() => list.locator('tbody tr').count()).toBe(4)
  await eventually(() => findViolations(page)).toEqual([])
  for (const width of [320, 390, 1440, 3840]) {
    await page.setViewportSize({ width, height: 900 })
    await eventually(() => scrollsHorizontally(page)).toBe(false)
  }
  expect((await app.get('/api/config/')).json.TV_IN_USE).toBe('')
})

// Conformance: C-23.127.
it('keeps the country and the coordinates of a location on the page Racks', async () => {
  const app = await startApp()
  const admin = await tokenHeaders(app, 'admin')
  await app.post('/api/admin/locations/', { name: 'Hall' }, admin)
  const page = await openAs(app, 'admin', '/admin/layout')
  await page.getByRole('button', { name: 'Edit Hall' }).click()
  await page.getByLabel('Country').fill('gb')
  await page.getByLabel('Coordinates').fill('51.5')
  await press(page, 'Save')
  await page.getByRole('dialog').getByText('Enter latitude and longitude in degrees').waitFor()
  await page.getByLabel('Coordinates').fill('51,5; -0,12')
  await press(page, 'Save')
  await eventually(async () => (await app.get('/api/admin/locations/', admin)).json[0]).toMatchObject({
    ...{ name: 'Hall', country: 'GB', latitude: 51.5, longitude: -0.12 },
  })
})
