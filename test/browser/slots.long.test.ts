/** Slots and people on the pages: assigning, editing, merging, and two people who change the same slot. */

import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { SlotRecord } from '../../src/contract/slots.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'

const { open, openAs } = browserForTests()

/** Starts a service with a receiver in the slots 1 and 2, and Mic 7 without equipment. */
async function start(config: object = {}) {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure)], config })
  const headers = await tokenHeaders(app, 'operator')
  await until('both channels are known', async () => (await app.get('/api/slots/', headers)).json.length === 2)
  await app.put('/api/slots/7/', { label: 'Mic 7' }, headers)
  return app
}

const recordOf = async (app: TestApp, slot: number): Promise<SlotRecord> => (await app.get(`/api/slots/${slot}/`)).json
const performerIn = async (app: TestApp, slot: number) => (await recordOf(app, slot)).performer?.name ?? null
const card = (page: Page, slot: number) =>
  page.locator('.card, tbody tr', {
    has: page.locator('.card-slot > [aria-hidden], [data-column=slot]', { hasText: new RegExp(`^${slot}\\s*$`) }),
  })
const assignButton = (page: Page, slot: number) => card(page, slot).getByRole('button', { name: /^Assign performer/ })
const tile = (page: Page, slot: number) => page.locator('.tile', { has: page.getByText(String(slot), { exact: true }) })

// Conformance: C-21.40.
it('assigns a new performer to a slot without equipment in three steps, and known ones in two', async () => {
  const app = await start()
  const page = await openAs(app, 'operator', '/')
  const steps = countSteps()
  await steps.step(assignButton(page, 7).click())
  await dialog(page).getByRole('searchbox').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await steps.step(page.keyboard.type('Nora'))
  await dialog(page).getByRole('button', { name: 'Assign to new performer Nora' }).waitFor()
  await steps.step(page.keyboard.press('Enter'))
  await until('Nora is assigned', async () => (await performerIn(app, 7)) === 'Nora')
  expect(steps.count).toBe(3)
  await messages(page).getByText('Slot 7 assigned to Nora.').waitFor()
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await until('nobody is assigned', async () => (await performerIn(app, 7)) === null)
  expect((await app.get('/api/performers/')).json).toEqual([])

  // From the table, for a known performer, found without regard to accents.
  await app.post('/api/performers/', { name: 'Zoë' })
  await page.goto(`${app.url}/?layout=list`)
  await assignButton(page, 1).click()
  await dialog(page).getByRole('button', { name: 'Zoë' }).click()
  await messages(page).getByText('assigned to Zoë').waitFor()
  await assignButton(page, 7).click()
  await dialog(page).getByRole('searchbox').fill('zoe')
  await eventually(() =>
    dialog(page)
      .getByRole('button', { name: /^Assign to new/ })
      .count(),
  ).toBe(0)
  await page.keyboard.press('Enter')
  await until('Zoë is assigned to both', async () => (await performerIn(app, 7)) === 'Zoë')
  // The focus returns to the button also when the list of performers was loaded before the dialog opened.
  await eventually(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
    'Assign performer: Zoë',
  )
  await page.setViewportSize({ width: 1920, height: 900 })
  await card(page, 7).getByRole('cell', { name: 'Zoë', exact: true }).waitFor()
  await eventually(() => performerIn(app, 1)).toBe('Zoë')

  // A slot of a group that holds nothing yet.
  const { json: group } = await app.post('/api/group/', { title: 'Choir', slots: [30] })
  await page.goto(`${app.url}/?group=${group.id}`)
  await assignButton(page, 30).click()
  await dialog(page).getByRole('button', { name: 'Zoë' }).click()
  await until('Zoë is assigned there', async () => (await performerIn(app, 30)) === 'Zoë')

  // From the page of the channel, with everything that can be entered.
  const { channel_id } = await recordOf(app, 2)
  await page.goto(`${app.url}/channels/${channel_id}`)
  await page.getByRole('button', { name: 'Edit slot' }).click()
  await dialog(page).getByLabel('Label').fill('  Choir ')
  await dialog(page).getByLabel('Role').fill('Alto')
  await dialog(page).getByRole('radio', { name: 'Teal' }).check()
  await dialog(page).getByLabel('Planned frequency').fill('abc')
  await dialog(page).getByLabel('Note').fill('Wig')
  await eventually(() => findViolations(page)).toEqual([])
  await press(page, 'Save')
  await dialog(page)
    .getByText(/^Expected a frequency|^Text with a frequency|frequency in MHz/i)
    .waitFor()
  await dialog(page).getByLabel('Planned frequency').fill('518,3')
  await press(page, 'Save')
  await messages(page).getByText('Slot 2 saved.').waitFor()
  await eventually(() => recordOf(app, 2)).toMatchObject({
    ...{ label: 'Choir', role: 'Alto', color: 'teal', note: 'Wig', performer: null },
    planned: { frequency: '518.300', profile: null, transmitter: null },
  })
  await page.getByRole('button', { name: 'Edit slot' }).click()
  await press(page, 'Clear slot')
  await until('the slot is cleared', async () => (await recordOf(app, 2)).label === null)
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await until('the slot is restored', async () => (await recordOf(app, 2)).label === 'Choir')

  // Pocket: two taps, without overflow.
  const pocket = await openAs(app, 'operator', '/', phone)
  await assignButton(pocket, 1).tap()
  await eventually(() => scrollsHorizontally(pocket)).toBe(false)
  await dialog(pocket).getByRole('button', { name: 'Unassign Zoë' }).tap()
  await until('Zoë is unassigned', async () => (await performerIn(app, 1)) === null)
})

// Conformance: C-21.40.
it('shows what another person has changed meanwhile, and keeps either or both', async () => {
  const app = await start()
  const [ada, bob] = [await openAs(app, 'operator', '/'), await openAs(app, 'admin', '/')]
  const openBoth = async () => {
    const { label, role, note } = await recordOf(app, 7)
    for (const page of [ada, bob]) {
      await until('the dialog shows the stored record, which the page knows later than the service', async () => {
        await assignButton(page, 7).click()
        const fields = ['Label', 'Role', 'Note'].map((name) => dialog(page).getByLabel(name).inputValue())
        const isCurrent = isDeepStrictEqual(
          await Promise.all(fields),
          [label, role, note].map((value) => value ?? ''),
        )
        if (!isCurrent) await press(page, 'Cancel')
        return isCurrent
      })
    }
  }
  const saveFirst = async (label: string, value: string) => {
    await dialog(ada).getByLabel(label).fill(value)
    await press(ada, 'Save')
    await dialog(ada).waitFor({ state: 'detached' })
  }
  await openBoth()
  await saveFirst('Label', 'Lead')
  await dialog(bob).getByLabel('Label').fill('Solo')
  await dialog(bob).getByLabel('Note').fill('Wig')
  await press(bob, 'Save')
  await dialog(bob).getByText('Another user has just changed this, so nothing was saved.').waitFor()
  await dialog(bob).getByText('Label: Mic 7 → Lead').waitFor()
  await dialog(bob).getByText('(yours: Solo)').waitFor()
  await eventually(() => findViolations(bob)).toEqual([])
  await eventually(() => recordOf(app, 7)).toMatchObject({ label: 'Lead', note: null })
  await press(bob, 'Keep theirs')
  await eventually(() => dialog(bob).getByLabel('Label').inputValue()).toBe('Lead')
  await press(bob, 'Save')
  await until('the note is added', async () => (await recordOf(app, 7)).note === 'Wig')
  await eventually(async () => (await recordOf(app, 7)).label).toBe('Lead')

  await openBoth()
  await saveFirst('Label', 'Star')
  await dialog(bob).getByLabel('Label').fill('Solo')
  await press(bob, 'Save')
  await press(bob, 'Keep mine')
  await until('the own label is stored', async () => (await recordOf(app, 7)).label === 'Solo')

  await openBoth()
  await saveFirst('Role', 'Glinda')
  await dialog(bob).getByRole('searchbox').fill('Nora')
  await dialog(bob).getByRole('button', { name: 'Assign to new performer Nora' }).click()
  await press(bob, 'Keep both')
  await until('Nora is assigned', async () => (await performerIn(app, 7)) === 'Nora')
  await eventually(() => recordOf(app, 7)).toMatchObject({ role: 'Glinda', label: 'Solo', note: 'Wig' })
})

// Conformance: C-21.41.
it('puts a channel on a placeholder by mouse, touch and keyboard, and explains a late move', async () => {
  const app = await start()
  const { channel_id } = await recordOf(app, 1)
  const page = await openAs(app, 'operator', '/')
  await page.locator('.card').nth(2).waitFor()
  await page.keyboard.press('a')
  await tile(page, 7).waitFor()
  const undo = async () => {
    await page.locator('.arrange-bar').getByRole('button', { name: 'Undo' }).click()
    // The page knows the change later than the service.
    await messages(page).getByText('Undone.').waitFor()
  }
  const isMerged = (slot: number) =>
    until('the channel is on the placeholder', async () => {
      const record = await recordOf(app, slot)
      return record.channel_id === channel_id && record.label === 'Mic 7'
    })
  const isRestored = () =>
    until('the placeholder is restored', async () => {
      const [first, record] = [await recordOf(app, 1), await recordOf(app, 7)]
      return first.channel_id === channel_id && record.placeholder_id !== null && record.label === 'Mic 7'
    })

  await tile(page, 1).getByRole('button').first().hover()
  await page.mouse.down()
  await tile(page, 7).hover()
  await tile(page, 7)
    .getByText(/^Put .* on Mic 7$/)
    .waitFor()
  await page.mouse.up()
  await isMerged(7)
  await messages(page).getByText('Moved onto the placeholder in slot 7.').waitFor()
  await undo()
  await isRestored()

  await tile(page, 1).getByRole('button').first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^7 *Put .* on Mic 7$/ }).press('Enter')
  await isMerged(7)
  await undo()
  await isRestored()

  // The selection follows the channel to the slot to which another person moves it.
  await tile(page, 1).getByRole('button').first().press('Enter')
  await app.put('/api/slots/', { moves: [{ channel_id, slot: 5 }] })
  await eventually(() => tile(page, 5).getByRole('button').first().getAttribute('aria-pressed')).toBe('true')
  await page.getByRole('button', { name: /^7 *Put .* on Mic 7$/ }).click()
  await isMerged(7)
  await undo()
  await until('the channel is in slot 5', async () => (await recordOf(app, 5)).channel_id === channel_id)

  await page.route('**/api/slots/', async (route) => {
    await app.put('/api/slots/', { moves: [{ channel_id, slot: 1 }] })
    await route.continue()
  })
  await tile(page, 5).getByRole('button').first().dragTo(tile(page, 9))
  await page.getByText('Nothing was moved, because another user has moved slot 5 to slot 1.').waitFor()
  await page.unroute('**/api/slots/')
  await eventually(async () => (await recordOf(app, 1)).channel_id).toBe(channel_id)

  const pocket = await open(app, '/', phone)
  await pocket.locator('.card').nth(2).waitFor()
  await pocket.keyboard.press('a')
  await tile(pocket, 1).getByRole('button').first().tap()
  await eventually(() => scrollsHorizontally(pocket)).toBe(false)
  await pocket.getByRole('button', { name: /^7 *Put .* on Mic 7$/ }).tap()
  await isMerged(7)
})

// Conformance: C-21.42.
it('offers to move a performer to the slot that receives their pack, and moves nobody automatically', async () => {
  const app = await startApp()
  const pack = (channel: number) => ({ channel, transmitter: { name: 'H01', details: { model: 'MTP60' } } })
  const off = (channel: number) => ({ channel, transmitter: null })
  const receive = (...channels: readonly object[]) =>
    app.post('/api/ingest/', { source: 'script', receivers: [{ api_device_id: 'rack', name: 'Rack', channels }] })
  await receive(pack(1), off(2))
  await until('the pack is known', async () => (await app.get('/api/units/')).json.length === 1)
  await app.put('/api/slots/1/', { performer_name: 'Nora', role: 'Glinda' })
  await app.put('/api/slots/2/', { performer_name: 'Ben' })
  await receive(off(1), pack(2))
  const page = await openAs(app, 'operator', '/')
  const button = page.getByRole('button', { name: 'Move Nora here?' })
  await card(page, 2).filter({ has: button }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  const cast = async () => [await performerIn(app, 1), await performerIn(app, 2)].join()
  await eventually(cast).toBe('Nora,Ben')
  await button.click()
  await messages(page).getByText('Nora moved from slot 1 to slot 2, and Ben to slot 1.').waitFor()
  await eventually(cast).toBe('Ben,Nora')
  await eventually(() => recordOf(app, 2)).toMatchObject({ role: 'Glinda' })
  await eventually(() => button.count()).toBe(0)
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await eventually(cast).toBe('Nora,Ben')
})

it('offers no edit to a viewer', async () => {
  const app = await start({ require_login: true })
  for (const path of ['/', '/?layout=list']) {
    const page = await openAs(app, 'viewer', path)
    await card(page, 7).first().waitFor()
    await eventually(() => page.getByRole('button', { name: /^Assign performer|^Edit slot/ }).count()).toBe(0)
  }
  const page = await openAs(app, 'viewer', '/channels/1')
  await page.getByRole('heading', { name: 'Assignment' }).waitFor()
  await eventually(() => page.getByRole('button', { name: 'Edit slot' }).count()).toBe(0)
})
