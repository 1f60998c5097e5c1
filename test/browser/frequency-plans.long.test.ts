/** Plans on the page of the frequencies, against a real service and simulated receivers. */

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { FrequencyPlanBody } from '../../src/contract/frequency-plans.ts'
import { configFor, deviceOf, startApp, startShure, until } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  dialog,
  findViolations,
  messages,
  press,
  row,
} from '../support/browser/browser.ts'
import { conflicts, openTab } from '../support/browser/frequencies-page.ts'
import { eventually } from '../support/eventually.ts'

const { openAs } = browserForTests()

/** A scan from 470 to 530 MHz that is quiet, apart from a signal of 4 MHz around this frequency. */
function scanWith(mhz: number): Buffer {
  const lines = Array.from({ length: 2401 }, (_, index) => {
    const at = 470 + index / 40
    return `${at.toFixed(3)},${Math.abs(at - mhz) <= 2 ? -70 : -105}`
  })
  return Buffer.from(lines.join('\n'))
}

const [stageMhz, foyerMhz] = [487, 505]

const comparison = (page: Page) => page.getByRole('region', { name: /^Comparison of / })

// Conformance: C-23.64, C-23.65.
it('coordinates 40 channels avoiding two scans, stores the plan and compares it with what is tuned, in 12 steps', async () => {
  const simulator = await startShure({ receivers: 10, channelsPerReceiver: 4 })
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  const tune = (index: number, frequency: string) =>
    simulator.show.set(deviceOf(simulator, Math.floor(index / 4)).id, { frequency }, (index % 4) + 1)
  // Too close to each other, and spread over the band that the coordination may use.
  const tuned = Array.from({ length: 40 }, (_, index) => (index === 39 ? 530 : 470 + index * 0.2).toFixed(3))
  for (const [index, frequency] of tuned.entries()) tune(index, frequency)
  simulator.push.flush()
  const list = async (): Promise<{ slot: number; mhz: string }[]> => (await app.get('/api/frequencies/')).json.carriers
  const carriers = await until('all channels are tuned', async () => {
    const found = await list()
    return found.length === 40 && found.every(({ mhz }) => tuned.includes(mhz)) ? found : null
  })
  const page = await openAs(app, 'operator', '/frequencies')
  const { step, ...steps } = countSteps()
  const tabs = page.getByRole('navigation', { name: 'Parts of the page' })
  const upload = page.getByRole('button', { name: 'Upload scan' })
  await step(tabs.getByRole('button', { name: 'Scans' }).click())
  for (const [name, mhz] of [
    ['stage.csv', stageMhz],
    ['foyer.csv', foyerMhz],
  ] as const) {
    await step(upload.click())
    await step(page.getByLabel('File').setInputFiles({ name, mimeType: 'text/csv', buffer: scanWith(mhz) }))
    await step(press(page, 'Upload scan'))
    await messages(page).getByText(`${name}: 2401 points uploaded, 2401 rows read.`).waitFor()
  }
  await step(tabs.getByRole('button', { name: 'Carriers' }).click())
  await step(page.getByRole('button', { name: 'Select all' }).click())
  await step(page.getByRole('button', { name: 'Suggest (40)' }).click())
  await step(press(page, 'Suggest'))
  await conflicts(page).getByRole('heading', { name: 'No conflicts' }).waitFor()
  await conflicts(page).getByText('With 2 scans, ').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await step(page.getByRole('button', { name: 'Store as plan (40)' }).click())
  await messages(page)
    .getByText(/^Plan of .* stored\.$/)
    .waitFor()
  await comparison(page)
    .getByText(/differ/)
    .waitFor()
  expect(steps.count).toBeLessThanOrEqual(12)

  const [plan] = (await app.get('/api/frequency-plans/')).json as [FrequencyPlanBody]
  expect(plan).toMatchObject({ conflict_count: 0, settings: { level: 'standard' } })
  expect(new Set(plan.carriers.map(({ slot }) => slot)).size).toBe(40)
  for (const { mhz } of plan.carriers) {
    for (const signal of [stageMhz, foyerMhz]) expect(Math.abs(Number(mhz) - signal)).toBeGreaterThan(2)
  }

  // The crew tunes all but two, and the comparison follows.
  const changed = plan.carriers.filter(({ slot, mhz }) => carriers.some((one) => one.slot === slot && one.mhz !== mhz))
  const late = changed.slice(0, 2).map(({ slot }) => slot)
  for (const { slot, mhz } of plan.carriers) {
    const index = tuned.indexOf(carriers.find((one) => one.slot === slot)?.mhz ?? '')
    if (!late.includes(slot)) tune(index, mhz)
  }
  simulator.push.flush()
  await comparison(page)
    .getByText(/(^| )2 differ$/)
    .waitFor()
  const differing = comparison(page).locator('tbody tr').filter({ hasText: 'Differs' })
  await eventually(() => differing.locator('[data-column="slot"]').allInnerTexts()).toEqual(late.map(String))
  await eventually(() => findViolations(page)).toEqual([])
})

// Conformance: C-23.66, C-23.130.
it('explains an empty list, and edits, duplicates, uses, tries, compares, exports and deletes plans with undo', async () => {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 3 })
  for (const [index, frequency] of ['500.000', '506.000', '513.100'].entries()) {
    simulator.show.set(deviceOf(simulator).id, { name: `Vox ${index + 1}`, frequency }, index + 1)
  }
  simulator.push.flush()
  const app = await startApp({ manufacturers: [configFor(simulator)] })
  await until('the channels are tuned', async () => (await app.get('/api/frequencies/')).json.carriers.length === 3)
  await app.post('/api/shows/', { title: 'Gala night' })
  const page = await openAs(app, 'operator', '/frequencies?tab=plans')
  await page.getByRole('heading', { name: 'No plans yet' }).waitFor()
  await page.getByRole('button', { name: 'Show carriers' }).click()
  await page.getByRole('checkbox', { name: '1 Vox 1' }).check()
  await page.getByRole('checkbox', { name: '2 Vox 2' }).check()
  await page.getByRole('button', { name: 'Store as plan (2)' }).click()
  const items = page.locator('.plan')
  const first = items.first()
  await first.getByRole('button', { name: /^Edit/ }).click()
  await page.getByLabel('Title').fill('Gala')
  await dialog(page).getByLabel('Show').selectOption('Gala night')
  await press(page, 'Save')
  await messages(page).getByText('Gala saved.').waitFor()
  await first.getByText('for Gala night · 2 carriers').waitFor()
  await comparison(page).getByText('1 more is not in this plan: 3 Vox 3 (513.100 MHz).').waitFor()

  await first.getByRole('button', { name: 'Use Gala' }).click()
  await messages(page).getByText('Gala is the plan in force.').waitFor()
  await first.getByText('In force').waitFor()
  await eventually(() => first.getByRole('button', { name: 'Use Gala' }).count()).toBe(0)

  await first.getByRole('button', { name: 'Duplicate Gala' }).click()
  await eventually(() => items.count()).toBe(2)
  const [gala, copy] = (await app.get('/api/frequency-plans/')).json as [FrequencyPlanBody, FrequencyPlanBody]
  const body = {
    title: 'Matinee',
    carriers: gala.carriers.map((carrier) => ({ ...carrier, mhz: '520.000' })).slice(0, 1),
  }
  const headers = { 'content-type': 'application/json' }
  await app.send('PATCH', `/api/frequency-plans/${copy.id}/`, { headers, body: JSON.stringify(body) })
  await page.getByLabel('Compare with').selectOption('Matinee')
  const results = comparison(page).locator('[data-column="result"]')
  await eventually(async () => (await results.allInnerTexts()).slice(1)).toEqual(['Differs', 'Not in the other plan'])

  const matinee = items.filter({ hasText: 'Matinee' }).last()
  await matinee.getByRole('button', { name: 'Export Matinee' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Wireless Workbench' }).click(),
  ])
  expect(readFileSync(await download.path(), 'utf8')).toBe('520.000\r\n')

  await matinee.getByRole('button', { name: 'Try Matinee' }).click()
  await eventually(() => page.getByLabel('Frequency to try for 1 Vox 1, in MHz').inputValue()).toBe('520.000')
  await row(page, 'Vox 2').getByText('506.000 MHz').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()

  await openTab(page, 'Plans')
  await first.getByRole('button', { name: 'Delete Gala' }).click()
  await dialog(page).getByText('It is the plan in force.').waitFor()
  await press(page, 'Delete')
  await eventually(() => items.count()).toBe(1)
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await eventually(() => items.count()).toBe(2)
  await first.getByText('In force').waitFor()
})

// Conformance: C-23.110.
it('imports a show of Wireless Workbench after a preview, and undoes the import', async () => {
  const app = await startApp()
  const page = await openAs(app, 'operator', '/frequencies?tab=plans')
  const show = readFileSync(new URL('../coordination-fixtures/show.shw', import.meta.url))
  const choose = async (name: string, buffer: Buffer) => {
    await page.getByLabel('File').setInputFiles({ name, mimeType: 'application/xml', buffer })
    await dialog(page).getByRole('button', { name: 'Preview' }).click()
  }
  await page.getByRole('button', { name: 'Import' }).click()
  await choose('broken.shw', show.subarray(0, 2000))
  await eventually(() => dialog(page).textContent()).toContain('not well-formed XML')
  await choose('show.shw', show)
  await eventually(() => dialog(page).textContent()).toContain('Import Spring musical?')
  await eventually(() => dialog(page).textContent()).toContain('3 placeholders are added: 1 Nora Ø, 2 Paul, 3 Paul 2.')
  expect((await app.get('/api/frequency-plans/')).json).toEqual([])
  await dialog(page).getByRole('button', { name: 'Import' }).click()
  await eventually(() => comparison(page).textContent()).toContain('Nora Ø')
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await until('the import is undone', async () => {
    const [plans, placeholders] = [await app.get('/api/frequency-plans/'), await app.get('/api/placeholders/')]
    return plans.json.length === 0 && placeholders.json.length === 0
  })
})
