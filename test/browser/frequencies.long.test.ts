/** The page of the frequencies in a browser against a real service. */

import { it } from 'vitest'
import { startApp } from '../support/app.ts'
import {
  browserForTests,
  findViolations,
  messages,
  press,
  row,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { conflicts, openTab } from '../support/browser/frequencies-page.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

// Conformance: C-15.84.
it('shows, checks and suggests frequencies, scans and TV channels of a real service', async () => {
  const app = await startApp()
  // With the generic profile, 2 × 506 − 512 hits 500.
  const carriers = [
    { slot: 1, name: 'Vox 1', frequency: '500.000' },
    { slot: 2, name: 'Vox 2', frequency: '506.000' },
    { slot: 3, name: 'Vox 3', frequency: '512.000' },
  ]
  for (const placeholder of carriers) await app.post('/api/placeholders/', { kind: 'wireless', ...placeholder })
  const page = await browser.openAs(app, 'admin', '/frequencies')
  await conflicts(page)
    .getByText('1 Vox 1 (500.000 MHz) is hit exactly by 2 × (2 Vox 2) − (3 Vox 3); needs 200 kHz.')
    .waitFor()

  await page.getByRole('button', { name: 'Try other frequencies' }).click()
  const field = page.getByLabel('Frequency to try for 3 Vox 3, in MHz')
  await field.fill('513.1')
  await field.press('Enter')
  await conflicts(page).getByRole('heading', { name: 'No conflicts' }).waitFor()
  await page.getByRole('checkbox', { name: 'Vox 1' }).check()
  await page.getByRole('checkbox', { name: 'Vox 2' }).check()
  await page.getByRole('button', { name: 'Suggest (2)' }).click()
  await page.getByLabel('Ranges in MHz', { exact: true }).fill('520-526')
  await press(page, 'Suggest')
  await eventually(() => page.getByLabel('Frequency to try for 1 Vox 1, in MHz').inputValue()).toMatch(/^52\d\.\d{3}$/)
  await conflicts(page).getByRole('heading', { name: 'No conflicts' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Discard' }).click()

  await openTab(page, 'Scans')
  const scans = page.getByRole('region', { name: 'Scans', exact: true })
  await scans.getByRole('button', { name: 'Upload scan' }).click()
  const buffer = Buffer.from(Array.from({ length: 200 }, (_, index) => `${500 + index / 10},-95`).join('\r\n'))
  await page.getByLabel('File').setInputFiles({ name: 'foyer.csv', mimeType: 'text/csv', buffer })
  await press(page, 'Upload scan')
  await messages(page).getByText('foyer.csv: 200 points uploaded, 200 rows read.').waitFor()
  await scans.getByText('500.000–519.900 MHz, 200 points').waitFor()

  await openTab(page, 'TV')
  const tv = page.getByRole('region', { name: 'TV channels in use' })
  await tv.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('checkbox', { name: '25 (502–510 MHz)' }).check()
  await press(page, 'Save')
  await conflicts(page).getByText('Vox 2 (506.000 MHz) touches a TV channel in use.').waitFor()

  await openTab(page, 'Profiles')
  const generic = page.getByRole('table', { name: 'Profiles' }).getByRole('row', { name: /^Generic/ })
  await generic.getByRole('button', { name: /^Edit/ }).click()
  await page.getByLabel('2T3O in kHz').fill('0')
  await press(page, 'Save')
  const hits = conflicts(page).getByText(/is hit exactly by 2 × \(\d Vox/)
  await eventually(() => hits.count()).toBe(0)
  await generic.getByRole('button', { name: /^Reset/ }).click()
  await press(page, 'Reset')
  await hits.first().waitFor()

  // Another user moves a carrier; the page of a viewer follows.
  const viewer = await browser.openAs(app, 'viewer', '/frequencies', { viewport: { width: 320, height: 700 } })
  await conflicts(viewer).getByText('is hit exactly').first().waitFor()
  const [, , moved] = (await app.get('/api/placeholders/')).json
  const body = JSON.stringify({ frequency: '513.100' })
  const headers = { 'content-type': 'application/json' }
  await app.send('PATCH', `/api/placeholders/${moved.id}/`, { headers, body })
  await row(viewer, 'Vox 3').getByText('513.100 MHz').waitFor()
  await eventually(() => conflicts(viewer).getByText('is hit exactly').count()).toBe(0)
  await eventually(() => scrollsHorizontally(viewer)).toBe(false)
  await eventually(() => findViolations(viewer)).toEqual([])
})
