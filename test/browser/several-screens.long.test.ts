/** Alerts on several screens: acknowledged on one, or missed by one that was asleep. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until } from '../support/app.ts'
import { browserForTests, findViolations, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { timeLimit } from '../support/time-limit.ts'

const { openAs } = browserForTests()

/** Starts a service with a receiver of two channels. */
async function start() {
  const shure = await startShure()
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const { id: device } = deviceOf(shure)
  await until('the device is known', () => app.receiver(device))
  const setBattery = (channel: number, battery: number) =>
    shure.show.set(device, { name: `Y1${channel}`, battery, transmitter: true }, channel)
  const alerts = async (state: string) => (await app.get(`/api/alerts/?state=${state}`)).json
  return { app, setBattery, alerts }
}

/** Longer than the interruptions that a screen ignores. */
const sleepMs = 11_000

/** Keeps the page from running, as a browser does while its computer sleeps. Returns a function that ends it. */
async function freeze(page: Page): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page)
  const isPaused = new Promise((resolve) => session.once('Debugger.paused', resolve))
  await session.send('Debugger.enable')
  await session.send('Debugger.pause')
  await isPaused
  return async () => {
    await session.send('Debugger.resume')
    await session.detach()
  }
}

/** Does what a tablet does that reloads the page when it wakes. */
async function leave(page: Page): Promise<() => Promise<void>> {
  const { href } = new URL(page.url())
  await page.goto('about:blank')
  return async () => {
    await page.goto(href)
  }
}

const banner = (page: Page) => page.getByRole('status').filter({ hasText: 'While this screen was asleep' })

// Conformance: C-21.112.
it.each([
  ['frozen', freeze],
  ['reloaded', leave],
] as const)('a screen that was %s says which alerts it missed', async (_, sleep) => {
  const { app, setBattery, alerts } = await start()
  const pages = [
    await openAs(app, 'operator', '/'),
    await openAs(app, 'viewer', '/', phone),
    await openAs(app, 'viewer', '/wall?kiosk=1'),
  ] as const
  const [page, small, kiosk] = pages
  for (const screen of pages) await screen.locator('.card').first().waitFor()

  const wakes = await Promise.all(pages.map(sleep))
  const sleptAt = performance.now()
  setBattery(1, 6)
  await until('the alert is raised', async () => (await alerts('open')).length === 1)
  setBattery(1, 90)
  await until('it is cleared', async () => (await alerts('open')).length === 0)
  setBattery(2, 6)
  await until('another one is raised', async () => (await alerts('open')).length === 1)
  await until('the screens have slept', async () => performance.now() - sleptAt > sleepMs)
  for (const wake of wakes) await wake()

  for (const screen of pages) await banner(screen).getByText('2 alerts, 1 still open').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(small)).toBe(false)
  await eventually(() => kiosk.locator('.status-line :is(a, button)').count()).toBe(0)

  await page.reload()
  await banner(page).getByText('2 alerts, 1 still open').waitFor()
  const [open] = await alerts('open')
  await app.post(`/api/alerts/${open.id}/acknowledge`, {})
  await banner(page).getByRole('link', { name: '2 alerts, none still open' }).click()
  await page.getByRole('button', { name: 'Cleared' }).and(page.locator('[aria-pressed=true]')).waitFor()
  await eventually(() => banner(page).count()).toBe(0)
  await banner(small).getByRole('button', { name: 'Dismiss' }).click()
  await eventually(() => banner(small).count()).toBe(0)
})

// Conformance: C-21.112.
it('a screen that missed nothing says nothing', async () => {
  const { app } = await start()
  const page = await openAs(app, 'viewer', '/')
  await page.locator('.card').first().waitFor()
  const wake = await freeze(page)
  const sleptAt = performance.now()
  await until('the screen has slept', async () => performance.now() - sleptAt > sleepMs)
  const counted = page.waitForResponse(/\/api\/alerts\/\?from=/)
  await wake()
  const response = await counted
  const { count } = await response.json()
  expect(count).toBe(0)
  await page.locator('.footer').getByText('Live').waitFor()
  await eventually(() => banner(page).count()).toBe(0)
})

/** Records when the page starts a tone, from its next load on. */
async function recordTones(page: Page) {
  await page.addInitScript(`
    globalThis.tones = []
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (when) {
      tones.push(Date.now())
      start.call(this, when)
    }`)
  await page.reload()
}
const tones = (page: Page) => page.evaluate<number[]>('tones')

// Conformance: C-21.112.
it('an acknowledgement on one screen ends the sound of the other within a second', async () => {
  const { app, setBattery } = await start()
  const [page, other] = [await openAs(app, 'operator', '/alerts'), await openAs(app, 'operator', '/')]
  await recordTones(other)
  await other.getByRole('button', { name: 'Sound off', exact: true }).click()
  // To check the volume.
  await eventually(() => tones(other)).toHaveLength(4)
  setBattery(1, 6)
  await eventually(() => tones(other)).toHaveLength(12)
  const isAcknowledged = page.waitForResponse(/\/acknowledge$/)
  await page.getByRole('button', { name: /^Acknowledge / }).click()
  await isAcknowledged
  const acknowledgedAt = Date.now()
  await other.getByRole('link', { name: '1 acknowledged alert' }).waitFor()
  await until('the sound would have been repeated', async () => Date.now() - acknowledgedAt > 2 * timeLimit(1_000))
  expect((await tones(other)).filter((at) => at > acknowledgedAt + timeLimit(1_000))).toEqual([])
})
