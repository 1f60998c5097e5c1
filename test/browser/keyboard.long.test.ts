/** A show's work with the keyboard alone: no test here uses a pointer, or moves the focus by other means than keys. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import { startApp, until } from '../support/app.ts'
import { browserForTests, dialog, messages } from '../support/browser/browser.ts'
import { activate, moveTo } from '../support/browser/keyboard.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { openAs } = browserForTests()

/** A service with Nora, Paul and Clara, whose batteries are almost empty, and a spare. */
async function start() {
  const device = await startStringsSimulator({ family: 'ad' })
  onTestEnd(() => device.close())
  const usual = { transmitter: true, battery: 90, rf_level: -50, audio_level: -20 }
  for (const channel of [1, 2, 3, 4]) device.change(channel, usual)
  const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices: [device.url] } }] })
  await until('the slots are known', async () => (await app.get('/api/slots/')).json.length === 4)
  for (const [index, name] of ['Nora', 'Paul', 'Clara'].entries())
    await app.put(`/api/slots/${index + 1}/`, { performer_name: name, spares: [4] })
  await app.put('/api/slots/4/', { label: 'Spare' })
  for (const channel of [1, 2, 3]) device.change(channel, { battery: 5 })
  await until('the alerts are raised', async () => (await app.get('/api/alerts/?state=raised')).json.length === 3)
  const performerIn = async (slot: number) => (await app.get(`/api/slots/${slot}/`)).json.performer?.name ?? null
  return { app, performerIn }
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name })

// Conformance: C-21.122.
it('does a line check: starts it, passes, fails with a reason, goes to the next channel and finishes', async () => {
  const { app } = await start()
  const ends_at = new Date(Date.now() + 4 * 3_600_000).toISOString()
  await app.post('/api/shows/', { title: 'Evening show', ends_at })
  const page = await openAs(app, 'operator', '/')
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await activate(page, pages.getByRole('button', { name: 'More' }), { region: pages })
  await activate(page, pages.getByRole('link', { name: 'Check' }))
  await activate(page, link(page, /Evening show/))
  await page.getByText('0 of 4 checked').waitFor()
  await activate(page, link(page, /Nora/), { region: page.getByRole('list', { name: 'Channels' }) })
  await activate(page, button(page, 'Begin walk test'))
  await button(page, 'Begin again').waitFor()
  await activate(page, button(page, 'Pass'))
  await page.getByText(/^Passed /).waitFor()
  await activate(page, link(page, /^Next: 2 Paul/))
  await page.getByRole('heading', { name: /Paul/ }).waitFor()
  await moveTo(page, page.getByRole('textbox', { name: 'Note' }))
  await page.keyboard.type('Crackles')
  await activate(page, button(page, 'Fail'))
  await page.getByText(/^Failed /).waitFor()
  await activate(page, link(page, /^Next: 3 Clara/))
  await page.getByRole('heading', { name: /Clara/ }).waitFor()
  await activate(page, button(page, 'Pass'))
  await activate(page, link(page, /^Next: 4 Spare/))
  await page.getByRole('heading', { name: /Spare/ }).waitFor()
  await activate(page, button(page, 'Pass'))
  await activate(page, link(page, 'No channel is left: all channels'))
  await page.getByText('4 of 4 checked').waitFor()
  await link(page, /Paul.*Crackles/).waitFor()
})

// Conformance: C-21.122.
it('opens, acknowledges, takes back, snoozes and silences alerts', async () => {
  const { app } = await start()
  const page = await openAs(app, 'operator', '/')
  await activate(page, link(page, '3 open alerts'), { region: page.locator('.status-line') })
  const region = page.locator('.alert-list')
  const alert = (name: string) => region.getByRole('listitem').filter({ hasText: name })
  await activate(page, button(page, /^Acknowledge 1 Nora/), { region })
  await messages(page).getByText('Acknowledged for all users: 1 Nora').waitFor()
  await activate(page, button(page, 'Acknowledged 1'), { key: 'Shift+Tab' })
  await activate(page, button(page, /^Take back: 1 Nora/), { region })
  await page.getByRole('heading', { name: 'No acknowledged alerts' }).waitFor()
  await activate(page, button(page, 'Open 3'), { key: 'Shift+Tab' })

  await activate(page, alert('Paul').getByRole('button', { name: 'Snooze…' }), { region })
  await activate(page, dialog(page).getByRole('button', { name: '30 min' }))
  await alert('Paul')
    .getByText(/^Snoozed by the-operator/)
    .waitFor()
  await activate(page, alert('Clara').getByRole('button', { name: 'Silence…' }), { region })
  await moveTo(page, dialog(page).getByLabel('Reason'))
  await page.keyboard.type('Understudy')
  await page.keyboard.press('Enter')
  await alert('Clara').getByText('Silenced').waitFor()
})

// Conformance: C-21.122.
it('arranges: selects several tiles, moves them and undoes it', async () => {
  const { app, performerIn } = await start()
  const page = await openAs(app, 'operator', '/')
  await page.locator('.card').nth(3).waitFor()
  await page.keyboard.press('a')
  const region = page.getByRole('list', { name: 'Slots' })
  await moveTo(page, region.getByRole('button', { name: /^1 Nora/ }), { region })
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowRight')
  await page.getByText('2 tiles selected.').waitFor()
  await activate(page, region.getByRole('button', { name: /^5 / }), { region })
  await messages(page).getByText('Moved 2 tiles to slot 5 and following.').waitFor()
  await eventually(async () => [await performerIn(5), await performerIn(6)]).toEqual(['Nora', 'Paul'])
  await page.keyboard.press('Control+z')
  await eventually(async () => [await performerIn(1), await performerIn(2)]).toEqual(['Nora', 'Paul'])
  await activate(page, button(page, 'Done'), { region: page.locator('.arrange-bar') })
  await page.locator('.card').nth(3).waitFor()
})

// Conformance: C-21.122.
it('swaps to the spare and undoes it', async () => {
  const { app, performerIn } = await start()
  const page = await openAs(app, 'operator', '/')
  await activate(page, button(page, 'Swap to spare: Paul'), { region: page.locator('.cards') })
  await activate(page, dialog(page).getByRole('button', { name: 'Swap people with Spare, slot 4' }).first())
  await eventually(() => performerIn(4)).toBe('Paul')
  await activate(page, messages(page).getByRole('button', { name: 'Undo' }))
  await eventually(() => performerIn(2)).toBe('Paul')
})

// Conformance: C-21.122.
it('opens pages, slots, people and actions with the command palette', async () => {
  const { app } = await start()
  await app.post('/api/performers/', { name: 'Ida Lang' })
  const page = await openAs(app, 'operator', '/')
  await page.locator('.card').nth(3).waitFor()
  const choose = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(text)
    await dialog(page).getByRole('option', { name: option }).waitFor()
    const chosen = dialog(page).getByRole('option', { name: option, selected: true })
    for (let count = 0; count < 8 && (await chosen.count()) === 0; count++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
  }
  await choose('freq', /^Frequencies Page/)
  await page.waitForURL('**/frequencies')
  await choose('2', /^2 Paul/)
  await page.getByRole('heading', { name: '2 Paul' }).waitFor()
  await choose('ida', /^Ida Lang Person/)
  await page.waitForURL('**/admin/performers')
  await choose('acknowledge', /^Acknowledge 3 Clara/)
  await messages(page).getByText('Acknowledged for all users: 3 Clara').waitFor()
  expect((await app.get('/api/alerts/?state=acknowledged')).json).toHaveLength(1)
})
