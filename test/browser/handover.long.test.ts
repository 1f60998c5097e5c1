/** Handing over to the next shift, and printing, with a real service. The tests count presses. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  findViolations,
  messages,
  phone,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { startCheckedSystem } from '../support/checked-system.ts'
import { eventually } from '../support/eventually.ts'
import { addEvent } from '../support/recorded-show.ts'

const browser = browserForTests()

async function startShow() {
  const { config, channelsOf } = await startCheckedSystem()
  const app = await startApp(config)
  const [first] = await channelsOf(app)
  await app.put('/api/slots/1/', { performer_name: 'Nora' })
  await app.put('/api/slots/1/', { performer_name: 'Ben', role: 'Fiyero' })
  const { id } = (await app.post('/api/shows/', { title: 'Matinee' })).json
  await app.post(`/api/shows/${id}/checks/`, { channel_id: first, result: 'fail', note: 'Crackles' })
  const data = { slot: 1, title: 'Nora', name: 'H01' }
  for (const minutes of [1, 5]) {
    const time = Date.now() - minutes * 60_000
    await addEvent(app, 'rf_dropout', first, { time, until: time + 2300, data })
  }
  await app.post('/api/markers/', { text: 'Overture' })
  await app.post('/api/silences/', { channels: [first], until: new Date(Date.now() + 3_600_000).toISOString() })
  return { app, show: id as number }
}

/** Lets tests count what is sent to the printer. */
async function watchPrinter(page: Page) {
  await page.evaluate('window.printed = 0; window.print = () => { window.printed += 1 }')
  return () => page.evaluate<number>('window.printed')
}

const itemsOf = (page: Page, name: string) =>
  page.locator('.handover-section', { has: page.getByRole('heading', { name }) }).getByRole('listitem')

// Conformance: C-21.104, C-21.105.
it('lists changes in words, hands over in two presses, and lists earlier handovers', async () => {
  const { app } = await startShow()
  const page = await browser.openAs(app, 'operator', '/shows')
  const steps = countSteps()
  await steps.step(page.getByRole('link', { name: 'Handover', exact: true }).click())
  await eventually(() => itemsOf(page, 'Changes').allInnerTexts()).toEqual([
    expect.stringMatching(/^1 Nora → Ben, role Fiyero \(local user, .*\)$/),
    expect.stringMatching(/^1 nobody → Nora \(local user, .*\)$/),
  ])
  await eventually(() => itemsOf(page, 'Dropouts and losses').innerText()).toMatch(
    /^1 Nora: RF dropout ×2 \(.* – .*\)$/,
  )
  await eventually(() => itemsOf(page, 'Failed line checks').innerText()).toContain('1 Ben: Crackles')
  await eventually(() => page.getByText('Every handover will be listed here').count()).toBe(1)
  await eventually(() => findViolations(page)).toEqual([])
  await app.put('/api/slots/1/', { label: 'Lead' })
  await eventually(() => itemsOf(page, 'Changes').first().innerText()).toContain('1 Ben: label Lead')

  await page.getByLabel('Note for the next shift').fill('Pack 12 crackles.')
  await steps.step(page.getByRole('button', { name: 'Hand over' }).click())
  await messages(page).getByText('Handed over.').waitFor()
  expect(steps.count).toBe(2)
  await eventually(() => page.locator('.document-heading').innerText()).toContain('handed over by the-operator')
  await eventually(() => page.locator('.handover-note').innerText()).toContain('Pack 12 crackles.')
  await eventually(() => itemsOf(page, 'Changes').count()).toBe(3)
  await page.getByRole('link', { name: 'Current period' }).click()
  await page.getByRole('button', { name: 'Hand over' }).waitFor()
  await eventually(() => page.locator('.handover-note').innerText()).toContain('Pack 12 crackles.')
  await eventually(() => itemsOf(page, 'Changes').count()).toBe(0)
  await page.locator('.handover-past').getByRole('link').click()
  await eventually(() => itemsOf(page, 'Changes').count()).toBe(3)
})

// Conformance: C-21.105.
it('fits a phone, and explains an empty handover', async () => {
  const { app } = await startShow()
  const page = await browser.openAs(app, 'operator', '/handover', phone)
  const button = page.getByRole('button', { name: 'Hand over' })
  await itemsOf(page, 'Changes').first().waitFor()
  await itemsOf(page, 'Silences').first().waitFor()
  const bottom = async () => {
    const status = await page.locator('.status-line').boundingBox()
    const box = await button.boundingBox()
    return (box?.y ?? 0) + (box?.height ?? 0) - (status?.y ?? phone.viewport.height)
  }
  await eventually(bottom).toBeLessThanOrEqual(0)
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  const empty = await startApp()
  const blank = await browser.openAs(empty, 'operator', '/handover', phone)
  await blank.getByText('Nothing to hand over').waitFor()
  await blank.getByText('Open alerts, failed line checks').waitFor()
})

// Conformance: C-21.108.
it('prints the line check, the report, the crew sheet and the handover in two presses each', async () => {
  const { app, show } = await startShow()
  await app.post(`/api/shows/${show}/start`, undefined)
  const pages: readonly (readonly [string, string, string])[] = [
    [`/check?show=${show}`, 'Print report', 'Line check: Matinee'],
    [`/shows/${show}`, 'Report', 'Matinee'],
    [`/shows/${show}`, 'Crew sheet', 'Crew sheet: Matinee'],
    ['/shows', 'Handover', 'Handover'],
  ]
  for (const [path, link, heading] of pages) {
    const page = await browser.openAs(app, 'operator', path)
    const printed = await watchPrinter(page)
    const steps = countSteps()
    await steps.step(page.getByRole('link', { name: link, exact: true }).click())
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await steps.step(page.getByRole('button', { name: 'Print' }).click())
    expect([link, steps.count, await printed()]).toEqual([link, 2, 1])
  }
  const page = await browser.openAs(app, 'operator', `/check-reports/${show}`)
  const rows = page.getByRole('region', { name: 'Line check' }).locator('tbody tr')
  await eventually(() => rows.allInnerTexts()).toEqual([
    expect.stringMatching(/^1\tBen\t.*\t80%\t.*\tFail\tlocal user, .*\tCrackles$/),
    expect.stringMatching(/^2\t.*\tNot checked\t/),
  ])
  await eventually(() => findViolations(page)).toEqual([])
  const report = await browser.openAs(app, 'operator', `/reports/${show}`)
  await report.getByRole('region', { name: 'Line check' }).getByText('Crackles').waitFor()
  await app.post(`/api/shows/${show}/end`, undefined)
  const small = await browser.openAs(app, 'operator', `/check-reports/${show}`, phone)
  await small.getByText('Crackles').waitFor()
  await eventually(() => scrollsHorizontally(small)).toBe(false)
})
