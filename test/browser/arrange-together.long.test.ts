/** Arranging several tiles at once and by two users at the same time, and the page Undo. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Group } from '../../src/contract/groups.ts'
import { configFor, startApp, startShure, type TestApp, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  findViolations,
  messages,
  phone,
  press,
  row,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const { open, openAs } = browserForTests()

/** Starts a service with twelve channels in the slots 1 to 12, and the groups Band (1, 2) and Choir. */
async function start() {
  const shure = withoutPush(await startShure({ receivers: 6, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('every channel is listed', async () => (await slotsOf(app)).length === 12)
  await app.post('/api/group/', { title: 'Band', slots: [1, 2] })
  await app.post('/api/group/', { title: 'Choir', slots: [] })
  return app
}

/** The slots of the channels, by their ids. */
async function slotsOf(app: TestApp): Promise<readonly number[]> {
  const channels = (await app.receivers()).flatMap((receiver) => receiver.channels)
  return channels.toSorted((a, b) => a.id - b.id).map(({ slot }) => slot)
}
const first = Array.from({ length: 12 }, (_, index) => index + 1)
const moved = (moves: Readonly<Record<number, number>>) => first.map((slot) => moves[slot] ?? slot)
const groupsOf = async (app: TestApp): Promise<Group[]> => (await app.get('/api/groups/')).json
const slotsIn = async (app: TestApp, title: string) =>
  (await groupsOf(app)).find((group) => group.title === title)?.slots.join()

async function arrange(page: Page): Promise<Page> {
  await page.locator('.card').nth(11).waitFor()
  await page.keyboard.press('a')
  await tile(page, 12).waitFor()
  return page
}
const tile = (page: Page, slot: number) => page.locator('.tile', { has: page.getByText(String(slot), { exact: true }) })
const button = (page: Page, slot: number) => tile(page, slot).locator('.tile-button')
const tab = (page: Page, title: string) =>
  page.getByRole('navigation', { name: 'Groups' }).locator('button', { hasText: title })
const selected = async (page: Page) => (await page.locator('.tile[data-selected] .tile-slot').allTextContents()).join()

/** Does `work` before the next request of the page to this address is sent. */
async function during(page: Page, address: string, work: () => Promise<unknown>) {
  await page.route(
    address,
    async (route) => {
      await work()
      await route.continue()
    },
    { times: 1 },
  )
}

// Conformance: C-21.71.
it('moves ten tiles to another group or slot in four steps, and undoes it', async () => {
  const app = await start()
  const page = await open(app, '/')
  const steps = countSteps()
  await steps.step(arrange(page))
  await steps.step(button(page, 1).click())
  await steps.step(button(page, 10).click({ modifiers: ['Shift'] }))
  await eventually(() => selected(page)).toBe('1,2,3,4,5,6,7,8,9,10')
  await page.getByText('10 tiles selected.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await steps.step(tab(page, 'Choir').click())
  await eventually(() => slotsIn(app, 'Choir')).toBe('1,2,3,4,5,6,7,8,9,10')
  expect(steps.count).toBe(4)

  await button(page, 1).click()
  await button(page, 10).click({ modifiers: ['Shift'] })
  await button(page, 13).click()
  await messages(page).getByText('Moved 10 tiles to slot 13 and following.').waitFor()
  await eventually(() => slotsOf(app)).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 11, 12])
  await page.keyboard.press('Control+z')
  await eventually(() => slotsOf(app)).toEqual(first)

  // Tiles of a group are moved to the other one, in two edits that are undone together.
  await tab(page, 'Band').click()
  const band = page.getByRole('list', { name: 'Band' })
  await band.locator('.tile-button').first().click()
  await band
    .locator('.tile-button')
    .nth(1)
    .click({ modifiers: ['Control'] })
  await page.getByRole('button', { name: 'Move 2 tiles to Choir' }).waitFor()
  await page.keyboard.press('Escape')
  await band.locator('.tile-button').nth(1).click()
  await band
    .locator('.tile-button')
    .first()
    .click({ modifiers: ['Control'] })
  await app.put(`/api/groups/${(await groupsOf(app))[1]?.id}/`, { slots: [9] })
  await tab(page, 'Choir').getByText('(1)').waitFor()
  await tab(page, 'Choir').click()
  await eventually(async () => [await slotsIn(app, 'Band'), await slotsIn(app, 'Choir')]).toEqual(['', '9,1,2'])
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await eventually(async () => [await slotsIn(app, 'Band'), await slotsIn(app, 'Choir')]).toEqual(['1,2', '9'])
})

// Conformance: C-21.71.
it('selects several tiles by keyboard and by touch, and drags them together', async () => {
  const app = await start()
  const page = await arrange(await open(app, '/'))
  await button(page, 2).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowRight')
  await eventually(() => selected(page)).toBe('2,3,4')
  await button(page, 6).focus()
  await page.keyboard.press('Space')
  await button(page, 3).focus()
  await page.keyboard.press('Space')
  await eventually(() => selected(page)).toBe('2,4,6')
  await button(page, 4).dragTo(button(page, 10))
  await eventually(() => slotsOf(app)).toEqual(moved({ 2: 10, 4: 11, 6: 12, 10: 2, 11: 4, 12: 6 }))
  // A tile that is not selected is dragged alone.
  await button(page, 1).click()
  await button(page, 5).dragTo(button(page, 14))
  await eventually(async () => (await slotsOf(app))[4]).toBe(14)

  const small = await arrange(await open(app, '/', phone))
  const select = small.getByRole('button', { name: 'Select several' })
  await select.tap()
  for (const slot of [1, 2, 3]) await button(small, slot).tap()
  await eventually(() => selected(small)).toBe('1,2,3')
  await button(small, 2).tap()
  await eventually(() => select.getAttribute('aria-pressed')).toBe('true')
  await eventually(() => scrollsHorizontally(small)).toBe(false)
  await tab(small, 'Choir').tap()
  await eventually(() => slotsIn(app, 'Choir')).toBe('1,3')
  await eventually(() => select.getAttribute('aria-pressed')).toBe('false')
})

// Conformance: C-21.72.
it('keeps the moves of two users at the same time, and shows each of them what the other did', async () => {
  const app = await start()
  const [ann, ben] = [await arrange(await open(app, '/')), await arrange(await open(app, '/'))]
  const states = () => Promise.all([ann, ben].map((page) => page.locator('.tile[data-kind=channel]').count()))
  await eventually(states).toEqual([12, 12])

  // The selection stays on the channel that the other person moves.
  await button(ann, 1).click()
  await button(ann, 2).click({ modifiers: ['Control'] })
  await button(ben, 1).dragTo(button(ben, 14))
  await eventually(() => selected(ann)).toBe('2,14')
  await button(ann, 13).click()
  await eventually(() => slotsOf(app)).toEqual(moved({ 1: 14, 2: 13 }))
  await ann.keyboard.press('Control+z')
  await eventually(() => slotsOf(app)).toEqual(moved({ 1: 14 }))
  await ben.keyboard.press('Control+z')
  await eventually(() => slotsOf(app)).toEqual(first)

  for (const [page, other] of [
    [ann, ben],
    [ben, ann],
  ] as const) {
    // The channel has been moved.
    await during(page, '**/api/slots/', async () => {
      await button(other, 3).dragTo(button(other, 14))
      await eventually(async () => (await slotsOf(app))[2]).toBe(14)
    })
    await button(page, 3).dragTo(button(page, 13))
    await page.getByText('Nothing was moved, because another user has moved slot 3 to slot 14.').waitFor()
    await eventually(() => slotsOf(app)).toEqual(moved({ 3: 14 }))
    await eventually(() => tile(page, 14).getAttribute('data-kind')).toBe('channel')

    // The slot has been taken.
    await during(page, '**/api/slots/', async () => {
      await button(other, 5).dragTo(button(other, 13))
      await eventually(async () => (await slotsOf(app))[4]).toBe(13)
    })
    await button(page, 4).dragTo(button(page, 13))
    await page.getByText('Another user has just changed these slots, so nothing was moved.').waitFor()
    await eventually(() => slotsOf(app)).toEqual(moved({ 3: 14, 5: 13 }))
    for (let step = 0; step < 2; step++) await other.keyboard.press('Control+z')
    await eventually(() => slotsOf(app)).toEqual(first)
    await eventually(() => tile(page, 5).getAttribute('data-kind')).toBe('channel')
  }

  // An edit that the other person has built on can no longer be undone.
  await button(ann, 6).dragTo(button(ann, 13))
  await eventually(async () => (await slotsOf(app))[5]).toBe(13)
  await eventually(() => tile(ben, 13).getAttribute('data-kind')).toBe('channel')
  await button(ben, 13).dragTo(button(ben, 14))
  await eventually(async () => (await slotsOf(app))[5]).toBe(14)
  await ann.keyboard.press('Control+z')
  await ann.getByText(/^Not undone: another user has moved the same channels since/).waitFor()
  await eventually(() => slotsOf(app)).toEqual(moved({ 6: 14 }))
})

// Conformance: C-21.72.
it('merges the changes of two users to one group, and overwrites none', async () => {
  const app = await start()
  const pages = [await arrange(await open(app, '/')), await arrange(await open(app, '/'))] as const
  for (const [page, other] of [pages, pages.toReversed() as unknown as typeof pages]) {
    const [band] = (await groupsOf(app)).filter(({ title }) => title === 'Band')
    const address = `**/api/groups/${band?.id}/`
    // Both add tiles.
    await button(page, 7).click()
    await during(page, address, async () => {
      await button(other, 8).click()
      await tab(other, 'Band').click()
      await eventually(() => slotsIn(app, 'Band')).toBe('1,2,8')
    })
    await tab(page, 'Band').click()
    await eventually(() => slotsIn(app, 'Band')).toBe('1,2,8,7')
    await messages(page).getByText('Both changes were kept.').waitFor()
    await eventually(() => tab(other, 'Band').textContent()).toContain('(4)')
    await page.keyboard.press('Control+z')
    await eventually(() => slotsIn(app, 'Band')).toBe('1,2,8')
    await other.keyboard.press('Control+z')
    await eventually(() => slotsIn(app, 'Band')).toBe('1,2')

    // Both rename it; the second change is refused.
    for (const each of [page, other]) await tab(each, 'Band').click()
    const rename = async (each: Page, title: string) => {
      await each.getByLabel('Group name').fill(title)
      await each.keyboard.press('Enter')
    }
    await during(page, address, async () => {
      await rename(other, 'Strings')
      await eventually(() => slotsIn(app, 'Strings')).toBe('1,2')
    })
    await rename(page, 'Brass')
    await page.getByText('Nothing was changed, because another user has just changed the group Strings.').waitFor()
    await eventually(() => slotsIn(app, 'Strings')).toBe('1,2')

    // One hides the charts while the other changes the order; the deletion of what has changed is refused.
    await during(page, address, async () => {
      await other.getByRole('button', { name: 'Hide charts' }).click()
      await eventually(async () => (await groupsOf(app)).find(({ id }) => id === band?.id)?.hide_charts).toBe(true)
    })
    const list = page.getByRole('list', { name: 'Strings' })
    await list.locator('.tile-button').first().dragTo(list.locator('.tile-button').last())
    await eventually(() => slotsIn(app, 'Strings')).toBe('2,1')
    await eventually(async () => (await groupsOf(app)).find(({ id }) => id === band?.id)?.hide_charts).toBe(true)
    await during(page, address, async () => {
      await other.getByRole('button', { name: 'Hide charts' }).click()
      await eventually(async () => (await groupsOf(app)).find(({ id }) => id === band?.id)?.hide_charts).toBe(false)
    })
    await page.getByRole('button', { name: 'Delete group' }).click()
    await press(page, 'Delete group')
    await page.getByText('Nothing was changed, because another user has just changed the group Strings.').waitFor()
    await eventually(() => slotsIn(app, 'Strings')).toBe('2,1')
    await app.put(`/api/groups/${band?.id}/`, { title: 'Band', slots: [1, 2] })
    for (const each of [page, other]) {
      await tab(each, 'Band').waitFor()
      await tab(each, 'All').click()
    }
  }
})

// Conformance: C-21.75.
it('lists what can be undone, with the user and the time, and undoes it', async () => {
  const app = await start()
  const ann = await arrange(await openAs(app, 'operator', '/'))
  await button(ann, 1).dragTo(button(ann, 14))
  await messages(ann).getByText('Moved to slot 14.').waitFor()
  await ann.locator('.arrange-bar').getByRole('link', { name: 'Undo list' }).click()
  const change = row(ann, 'Moved channels').first()
  await change.getByText('the-operator').waitFor()
  await change.getByText('1, 14', { exact: true }).waitFor()
  await eventually(() => findViolations(ann)).toEqual([])
  const admin = await openAs(app, 'admin', '/admin')
  await admin.getByRole('link', { name: /^Undo/ }).first().click()
  await row(admin, 'the-operator').first().getByRole('button', { name: /^Undo/ }).click()
  await messages(admin)
    .getByText(/^Undone: /)
    .waitFor()
  // The other list follows.
  await change.waitFor({ state: 'detached' })
  await row(ann, 'Added a group').first().waitFor()
  await eventually(() => row(admin, 'the-operator').count()).toBe(0)
  await ann.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(ann)).toBe(false)
})
