/** A whole line check on a phone, against a real service and a simulated receiver, while a second phone watches. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import { createInstallation, until } from '../support/app.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

/** A service with a receiver of four channels, whose transmitters report their battery life in minutes. */
async function start() {
  const receiver = await startStringsSimulator({ family: 'ad' })
  onTestEnd(() => receiver.close())
  const usual = { transmitter: true, battery: 90, rf_level: -50, audio_level: -90 }
  for (const [index, name] of ['Nora', 'Paul', 'Clara', 'Host'].entries())
    receiver.change(index + 1, { ...usual, name })
  receiver.change(2, { battery: 15 })
  const installation = await createInstallation({
    manufacturers: [{ code: 'shure', config: { devices: [receiver.url] } }],
  })
  const service = await installation.serve()
  const url = `http://127.0.0.1:${service.port}`
  await until('all transmitters are received', async () => {
    const channels = (await service.receivers()).flatMap(({ channels }) => channels)
    return channels.length === 4 && channels.every(({ transmitter }) => transmitter !== null)
  })
  return { receiver, service: { ...service, url } }
}

const rowOf = (page: Page, name: string) => page.getByRole('link', { name: new RegExp(name) })
const finding = (page: Page, name: string) =>
  page.locator('tr', { has: page.getByRole('rowheader', { name, exact: true }) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const namesOf = (page: Page) => page.locator('.check-row .check-name > bdi:first-child').allInnerTexts()

async function expectGood(page: Page): Promise<void> {
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
}

// Conformance: C-13.27, C-13.28.
it('is done on a phone from the first channel to the last, and others see every result live', async () => {
  const { receiver, service } = await start()
  const page = await open(service, '/check', phone)
  await page.getByRole('heading', { name: 'No show to check' }).waitFor()
  await expectGood(page)
  const ends_at = new Date(Date.now() + 4 * 3_600_000).toISOString()
  const show = (await service.post('/api/shows/', { title: 'Evening show', ends_at })).json
  await page.getByRole('link', { name: /Evening show/ }).click()
  await page.getByText('0 of 4 checked').waitFor()
  const watcher = await open(service, `/check?show=${show.id}`, phone)
  await watcher.getByText('0 of 4 checked').waitFor()
  await expectGood(page)

  // No message announces that audio is received.
  await watcher.getByRole('link', { name: /Clara.*No audio/ }).waitFor()
  receiver.change(3, { audio_level: -20 })
  await eventually(() => rowOf(watcher, 'Clara').innerText()).not.toContain('No audio')
  receiver.change(3, { audio_level: -90 })
  await watcher.getByRole('link', { name: /Clara.*No audio/ }).waitFor()

  // The walk test of the first channel finds a dropout.
  await rowOf(page, 'Nora').click()
  await eventually(() => finding(page, 'Walk test').innerText()).toContain('Not begun')
  await eventually(() => finding(page, 'Transmitter').getAttribute('data-judgement')).toBe('good')
  await eventually(() => finding(page, 'Battery').getAttribute('data-judgement')).toBe('good')
  await eventually(() => finding(page, 'Audio').getAttribute('data-judgement')).toBe('bad')
  await button(page, 'Begin walk test').click()
  await button(page, 'Begin again').waitFor()
  await watcher.getByRole('link', { name: /Nora.*Walk test/ }).waitFor()
  await eventually(() => finding(page, 'Walk test').innerText()).toContain('Lowest −50 dBm')
  receiver.change(1, { rf_level: -96, audio_level: -12 })
  await eventually(() => finding(page, 'Walk test').innerText()).toContain('Lowest −96 dBm')
  receiver.change(1, { rf_level: -50, audio_level: -90 })
  await eventually(() => finding(page, 'Walk test').innerText()).toContain('1 dropout')
  await eventually(() => finding(page, 'Walk test').getAttribute('data-judgement')).toBe('bad')
  await eventually(() => finding(page, 'Audio').getAttribute('data-judgement')).toBe('good')
  await expectGood(page)
  for (const name of ['Fail', 'Pass'])
    expect((await button(page, name).boundingBox())?.height).toBeGreaterThanOrEqual(60)
  await page.getByRole('textbox', { name: 'Note' }).fill('Dropout at the stairs')
  await button(page, 'Fail').click()
  await page.getByText(/^Failed .*a user on the local network/).waitFor()
  await eventually(() => page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('')
  await watcher.getByText('1 of 4 checked').waitFor()
  await watcher.getByRole('link', { name: /Nora.*Dropout at the stairs/ }).waitFor()

  // The second pack does not last until the end of the show.
  await page.getByRole('link', { name: /^Next: 2 Paul/ }).click()
  await eventually(() => finding(page, 'Battery').getAttribute('data-judgement')).toBe('bad')
  await watcher.getByRole('link', { name: /Clara/ }).click()
  await button(watcher, 'Pass').click()
  await watcher.getByText(/^Passed /).waitFor()
  await button(page, 'Pass').click()
  // The third channel was checked by the other phone.
  await page.getByRole('link', { name: /^Next: 4 Host/ }).click()
  await page.getByRole('heading', { name: /Host/ }).waitFor()
  await page.goBack()
  await page.getByText('3 of 4 checked').waitFor()
  await eventually(() => namesOf(page)).toEqual(['Nora', 'Paul', 'Clara', 'Host'])
  await button(page, 'Failed and unchecked first').click()
  await eventually(() => namesOf(page)).toEqual(['Nora', 'Host', 'Paul', 'Clara'])
  await rowOf(page, 'Host').click()
  await button(page, 'Pass').click()
  await page.getByRole('link', { name: 'No channel is left: all channels' }).click()
  await page.getByText('4 of 4 checked').waitFor()
  await page.getByText('1 failed').waitFor()
  await expectGood(page)

  // Without the service, nothing that is shown looks current, and a result is not lost silently.
  await rowOf(page, 'Nora').click()
  await eventually(() => finding(page, 'Transmitter').getAttribute('data-judgement')).toBe('good')
  service.kill('SIGKILL')
  await page.getByText('Connection lost.').first().waitFor()
  await eventually(() => finding(page, 'Transmitter').getAttribute('data-judgement')).toBe('unknown')
  await page.getByRole('textbox', { name: 'Note' }).fill('Better')
  await button(page, 'Pass').click()
  await page.locator('.check-actions .problem').waitFor()
  await eventually(() => page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('Better')
})
