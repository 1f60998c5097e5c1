/** Swapping to a spare on the pages, with a real service. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  dialog,
  findViolations,
  messages,
  phone,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

/** Starts a service with Nora in slot 1, whose battery is almost empty, and her spare in slot 2. */
async function startShow() {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 4, story: false }))
  shure.show.set(deviceOf(shure).id, { battery: 5 }, 1)
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('the battery is critical', async () => {
    const [receiver] = await app.receivers()
    return receiver?.channels[0]?.condition.attention === true
  })
  await app.put('/api/slots/1/', { performer_name: 'Nora' })
  await app.put('/api/slots/2/', { label: 'Spare' })
  const performerIn = async (slot: number) => (await app.get(`/api/slots/${slot}/`)).json.performer?.name ?? null
  const channelIn = async (slot: number) => (await app.get(`/api/slots/${slot}/`)).json.channel_id as number
  return { app, performerIn, channelIn }
}

// Conformance: C-21.34.
it('takes two presses from the card or the page of the channel, and can be undone', async () => {
  const { app, performerIn, channelIn } = await startShow()
  const channel = await channelIn(1)
  const page = await browser.openAs(app, 'operator', `/channels/${channel}`)
  await page.getByRole('button', { name: 'Edit spares' }).click()
  await dialog(page).getByLabel('Spares').fill('1')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await dialog(page).getByText('expected other slots').waitFor()
  await dialog(page).getByLabel('Spares').fill('2')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.locator('.spares').getByText('Spare').waitFor()

  const onPage = countSteps()
  await onPage.step(page.locator('.condition').getByRole('button', { name: 'Swap to spare: Nora' }).click())
  const spares = dialog(page).getByRole('list', { name: 'Spares' })
  await spares.getByText('Spare').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await onPage.step(spares.getByRole('button', { name: 'Swap equipment with Spare, slot 2' }).click())
  await messages(page).getByText('Equipment of slots 1 and 2 swapped.').waitFor()
  expect([onPage.count, await performerIn(1), await channelIn(2)]).toEqual([2, 'Nora', channel])
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await eventually(() => channelIn(1)).toBe(channel)

  await page.getByRole('link', { name: 'Monitor', exact: true }).click()
  const card = page.locator('.card', { hasText: 'Nora' })
  const onCard = countSteps()
  await onCard.step(card.getByRole('button', { name: 'Swap to spare: Nora' }).click())
  await onCard.step(dialog(page).getByRole('button', { name: 'Swap people with Spare, slot 2' }).click())
  await messages(page).getByText('People of slots 1 and 2 swapped.').waitFor()
  expect([onCard.count, await performerIn(1), await performerIn(2)]).toEqual([2, null, 'Nora'])
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await eventually(() => performerIn(1)).toBe('Nora')
})

// Conformance: C-21.34.
it('offers all slots on a phone, and searches them', async () => {
  const { app, performerIn } = await startShow()
  const page = await browser.openAs(app, 'operator', '/', phone)
  await page.locator('.card', { hasText: 'Nora' }).getByRole('button', { name: 'Swap to spare: Nora' }).click()
  await eventually(() => dialog(page).getByRole('listitem').count()).toBe(3)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await dialog(page).getByRole('searchbox').fill('spa')
  await eventually(() => dialog(page).getByRole('listitem').count()).toBe(1)
  await dialog(page).getByRole('button', { name: 'Swap people with Spare' }).click()
  await eventually(() => performerIn(2)).toBe('Nora')
})
