/** Arranging slots and groups in a browser against a real service. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Group } from '../../src/contract/groups.ts'
import { configFor, startApp, startShure, type TestApp, until } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const { open, openAs } = browserForTests()

/** Starts a service with two receivers that have two channels each, in slots 1 to 4. */
async function start(config: object = {}) {
  const shure = await startShure()
  const app = await startApp({ manufacturers: [configFor(shure)], config })
  return app
}

async function startArranging(app: TestApp): Promise<Page> {
  await until('every channel is listed', async () => (await listSlots(app)).length === 4)
  const page = await open(app, '/')
  await page.locator('.card').nth(3).waitFor()
  await page.keyboard.press('a')
  await page.locator('.tile').first().waitFor()
  return page
}

async function listSlots(app: TestApp): Promise<{ id: number; slot: number }[]> {
  const channels = (await app.receivers()).flatMap((receiver) => receiver.channels)
  return channels.map(({ id, slot }) => ({ id, slot })).sort((a, b) => a.id - b.id)
}

const listGroups = async (app: TestApp): Promise<Group[]> => (await app.get('/api/groups/')).json
const tile = (page: Page, slot: number) => page.locator('.tile', { has: page.getByText(String(slot), { exact: true }) })

it('moves a channel to a free slot by drag and drop, and undoes it', async () => {
  const app = await start()
  const page = await startArranging(app)
  await eventually(() => findViolations(page)).toEqual([])
  const [first] = await listSlots(app)
  await tile(page, 1).getByRole('button').dragTo(tile(page, 6))
  await until('the channel is moved', async () => (await listSlots(app))[0]?.slot === 6)
  await page.getByRole('status').getByText('Moved to slot 6.').waitFor()
  await page.locator('.arrange-bar').getByRole('button', { name: 'Undo' }).click()
  await until('the channel is back in its slot', async () => (await listSlots(app))[0]?.slot === first?.slot)
})

it('swaps and inserts by keyboard, in one request each, and undoes both with Ctrl+Z', async () => {
  const app = await start()
  const page = await startArranging(app)
  const before = await listSlots(app)
  const waitForSlots = (slots: number[]) =>
    until(`slots are ${slots}`, async () => (await listSlots(app)).map(({ slot }) => slot).join() === slots.join())
  const writes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && writes.push(request.url().replace(app.url, '')))
  await tile(page, 1).getByRole('button').focus()
  await page.keyboard.press('Enter')
  await eventually(() => tile(page, 1).getByRole('button').getAttribute('aria-pressed')).toBe('true')
  await page.keyboard.press('Escape')
  await eventually(() => tile(page, 1).getByRole('button').getAttribute('aria-pressed')).toBe('false')
  await page.keyboard.press('Enter')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await waitForSlots([3, 2, 1, 4])
  await page.getByText('Slots 1 and 3 swapped.').waitFor()

  // The channel in slot 4 is inserted before slot 2.
  await tile(page, 4).getByRole('button').press('Enter')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Shift+Enter')
  await waitForSlots([4, 3, 1, 2])
  await page.getByText('Moved to slot 2; 2 others shifted.').waitFor()
  expect(writes).toEqual(['/api/slots/', '/api/slots/'])
  await page.keyboard.press('Control+z')
  await waitForSlots([3, 2, 1, 4])
  await page.keyboard.press('Control+z')
  await waitForSlots(before.map(({ slot }) => slot))
})

it('drags a tile with a finger, and keeps its state visible', async () => {
  const app = await start()
  await until('every channel is listed', async () => (await listSlots(app)).length === 4)
  const page = await open(app, '/', phone)
  await page.locator('.card').nth(3).waitFor()
  await page.keyboard.press('a')
  await tile(page, 1).locator('small').waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  const from = await tile(page, 1).locator('.tile-handle').boundingBox()
  const to = await tile(page, 2).boundingBox()
  if (from === null || to === null) throw new Error('The tiles are not visible.')
  const touch = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove', { x, y, width, height }: typeof from) =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints: [{ x: x + width / 2, y: y + height / 2 }] })
  await send('touchStart', from)
  await send('touchMove', to)
  await page.locator('.tile[data-over]').waitFor()
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await until(
    'the channels are swapped',
    async () => (await listSlots(app)).map(({ slot }) => slot).join() === '2,1,3,4',
  )
})

it('adds, edits, moves and removes a placeholder, and undoes the removal', async () => {
  const app = await start()
  const page = await startArranging(app)
  const listPlaceholders = async () => (await app.get('/api/placeholders/')).json
  const waitFor = (expected: object[]) =>
    until('the placeholder is stored', async () => {
      const placeholders = await listPlaceholders()
      return (
        JSON.stringify(
          placeholders.map(({ id: _, version: __, ...fields }: { id: number; version: number }) => fields),
        ) === JSON.stringify(expected)
      )
    })
  await page.getByRole('button', { name: 'Add a placeholder in slot 5' }).click()
  await dialog(page).getByLabel('Kind').selectOption('In-ear monitor')
  await dialog(page).getByLabel('Name').fill('<b>IEM 1</b>')
  await dialog(page).getByLabel('Frequency').fill('518,3')
  await eventually(() => findViolations(page)).toEqual([])
  await press(page, 'Add')
  const stored = { slot: 5, name: '<b>IEM 1</b>', kind: 'iem', frequency: '518.300', note: '' }
  await waitFor([stored])
  await tile(page, 5).getByText('<b>IEM 1</b>', { exact: true }).waitFor()
  await tile(page, 5).getByRole('button', { name: /^5 / }).dragTo(tile(page, 1))
  await waitFor([{ ...stored, slot: 1 }])
  expect((await listSlots(app))[0]?.slot).toBe(5)

  await app.put('/api/slots/1/', { performer_name: 'Nora' })
  await page.getByRole('button', { name: 'Edit Nora, slot 1' }).click()
  await dialog(page).getByLabel('Slot').fill('2')
  await press(page, 'Save')
  await dialog(page)
    .getByText(/^Slot 2 is used by /)
    .waitFor()
  await press(page, 'Remove')
  await waitFor([])
  await page.locator('.arrange-bar').getByRole('button', { name: 'Undo' }).click()
  await waitFor([{ ...stored, slot: 1 }])
  await eventually(async () => (await app.get('/api/slots/1/')).json.performer?.name).toBe('Nora')
  await page.locator('.arrange-bar').getByRole('button', { name: 'Undo' }).click()
  await waitFor([stored])
})

it('explains a conflict with another user, and shows the current slots', async () => {
  const app = await start()
  const page = await startArranging(app)
  const [first] = await listSlots(app)
  await page.route('**/api/slots/', async (route) => {
    await app.post('/api/placeholders/', { kind: 'blank', slot: 6 })
    await route.continue()
  })
  await tile(page, 1).getByRole('button').dragTo(tile(page, 6))
  await page.getByText('Another user has just changed these slots, so nothing was moved.').waitFor()
  await tile(page, 6).getByText('Blank', { exact: true }).waitFor()
  expect((await listSlots(app))[0]).toEqual(first)
})

it('creates, fills, reorders, renames and deletes a group, and undoes the deletion', async () => {
  const app = await start()
  const page = await startArranging(app)
  await page.getByLabel('New group name').fill('<i>Band</i>')
  await page.keyboard.press('Enter')
  const [created] = await until('the group is created', async () => {
    const groups = await listGroups(app)
    return groups.length === 1 ? groups : null
  })
  expect(created).toMatchObject({ title: '<i>Band</i>', slots: [] })

  const tab = page.getByRole('navigation', { name: 'Groups' }).locator('button', { hasText: '<i>Band</i>' })
  const waitForSlots = (slots: number[]) =>
    until(`slots are ${slots}`, async () => (await listGroups(app))[0]?.slots.join() === slots.join())
  await tile(page, 2).getByRole('button').dragTo(tab)
  await waitForSlots([2])
  await tab.click()
  const groupList = page.getByRole('list', { name: '<i>Band</i>' })
  const otherSlots = page.getByRole('list', { name: 'Not in this group' })
  await otherSlots.getByRole('button', { name: /slot 4$/ }).click()
  await groupList.getByRole('button', { name: /to slot 2$/ }).click()
  await waitForSlots([4, 2])
  // The second slot is added without waiting for the response to the first one; both are stored.
  await page.getByRole('button', { name: 'Add blank slot' }).click()
  await page.getByLabel('Planned slot number').fill('12')
  await page.keyboard.press('Enter')
  await waitForSlots([4, 2, 5, 12])
  await groupList.getByRole('button', { name: /, slot 12$/ }).press('Enter')
  await groupList.getByRole('button', { name: /to slot 4$/ }).press('Enter')
  await waitForSlots([12, 4, 2, 5])
  await eventually(() => findViolations(page)).toEqual([])
  await groupList.getByRole('button', { name: 'Remove Planned from this group' }).click()
  await waitForSlots([4, 2, 5])

  await page.getByLabel('Group name').fill('Choir')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Hide charts' }).click()
  await until('the title and the chart setting are stored', async () => {
    const [group] = await listGroups(app)
    return group?.title === 'Choir' && group.hide_charts
  })
  await page.getByRole('button', { name: 'Delete group' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Delete group Choir?' })
  await confirmation.getByRole('button', { name: 'Delete group' }).click()
  await until('the group is deleted', async () => (await listGroups(app)).length === 0)
  await page.locator('.arrange-bar').getByRole('button', { name: 'Undo' }).click()
  await waitForSlots([4, 2, 5])
  await page.locator('.arrange-bar').getByRole('button', { name: 'Undo' }).click()
  await until('the chart setting is restored', async () => (await listGroups(app))[0]?.hide_charts === false)
})

it('shows why an edit failed and the actual state', async () => {
  const app = await start()
  const page = await startArranging(app)
  await page.getByLabel('New group name').fill('Band')
  await page.keyboard.press('Enter')
  const group = await until('the group is created', async () => (await listGroups(app))[0])
  await page.getByRole('button', { name: /^Band/ }).click()
  // Another user deletes the group while the request is on its way.
  await page.route(`**/api/groups/${group.id}/`, async (route) => {
    await app.send('DELETE', `/api/groups/${group.id}/`)
    await route.continue()
  })
  await page.getByRole('button', { name: 'Add blank slot' }).click()
  await page.getByText(`There is no group ${group.id}`).waitFor()
  await page.getByRole('button', { name: /^Band/ }).waitFor({ state: 'detached' })
})

it('shows a viewer which role is required', async () => {
  const app = await start({ require_login: true })
  const page = await openAs(app, 'viewer', '/')
  await page.locator('.card').first().waitFor()
  // Until the page has read the role of the user, it allows everything.
  await eventually(() => page.getByRole('button', { name: /^Assign performer/ }).count()).toBe(0)
  await page.keyboard.press('a')
  await page.getByText('Arranging requires the operator role. Your role is viewer.').waitFor()
  await eventually(() => page.locator('.tile').count()).toBe(0)
})
