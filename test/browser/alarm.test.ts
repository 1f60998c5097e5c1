/** Alarm sound, notifications and full screen in a browser. */

import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import type { TransmitterBody } from '../../src/contract/resources/channels.ts'
import { browserForTests } from './browser.ts'
import { type FakeService, receiver, startFakeService, update } from './fake-service.ts'

const { open } = browserForTests()

type Transmitters = readonly (Partial<TransmitterBody> | null)[]

async function start(transmitters: Transmitters): Promise<FakeService> {
  const service = await startFakeService('/venue')
  onTestFinished(() => service.close())
  service.data.receivers = [receiver(1, transmitters)]
  return service
}

function sendUpdate(service: FakeService, transmitters: Transmitters) {
  service.data.receivers = [receiver(1, transmitters)]
  update(service, transmitters)
}

const stateOf = (page: Page, slot: number) =>
  page.locator('.card', { hasText: `Singer ${slot}` }).getAttribute('data-state')

/** Waits until the summary counts this many problems. It is updated together with the alarms, once per second. */
async function waitForProblems(page: Page, count: number) {
  await page.locator('.summary', { hasText: new RegExp(`^\\D*\\d+ channels\\s*${count} need`) }).waitFor()
}

/** Reloads the page, and records every tone that it starts from then on. */
async function recordTones(page: Page) {
  await page.addInitScript(`
    globalThis.tones = []
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (when) {
      tones.push(this.frequency.value + ' Hz, ' + this.context.state)
      start.call(this, when)
    }`)
  await page.reload()
  await page.locator('.card').first().waitFor()
}
const tones = (page: Page) => page.evaluate<string[]>('tones')
const alarm = ['880 Hz, running', '660 Hz, running']

it('sounds once for each channel that needs attention, and only where it is enabled', async () => {
  const service = await start([{}, {}])
  const page = await open(service, '/')
  await recordTones(page)
  sendUpdate(service, [{ battery: 5 }, {}])
  await expect.poll(() => stateOf(page, 1)).toBe('critical')
  expect(await tones(page)).toEqual([])

  // Enabling the alarm sound plays it once.
  await page.keyboard.press('m')
  await expect.poll(() => tones(page)).toEqual(alarm)
  sendUpdate(service, [{ battery: 4 }, { battery: 15 }])
  await expect.poll(() => tones(page)).toEqual([...alarm, ...alarm])
  // Weak RF does not sound the alarm, because RF dips usually recover.
  sendUpdate(service, [{ battery: 90, rf_level: -95 }, { battery: 14 }])
  await expect.poll(() => stateOf(page, 1)).toBe('rf_weak')
  sendUpdate(service, [{ battery: 90 }, { battery: 14 }])
  await waitForProblems(page, 1)
  expect(await tones(page)).toHaveLength(4)
  sendUpdate(service, [{ battery: 8 }, { battery: 14 }])
  await expect.poll(() => tones(page)).toHaveLength(6)

  await page.keyboard.press('m')
  sendUpdate(service, [{ battery: 90 }, { battery: 14 }])
  await waitForProblems(page, 1)
  sendUpdate(service, [{ battery: 7 }, { battery: 14 }])
  await waitForProblems(page, 2)
  expect(await tones(page)).toHaveLength(6)
})

it('sounds after a reload once the user has interacted with the page', async () => {
  const service = await start([{}])
  const page = await open(service, '/wall')
  await page.locator('.card').waitFor()
  await page.keyboard.press('m')
  await recordTones(page)
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'blocked by the browser' }).waitFor()
  await page.mouse.click(200, 200)
  await page.getByRole('button', { name: 'Alarm sound', pressed: true }).waitFor()
  sendUpdate(service, [{ battery: 5 }])
  await expect.poll(() => tones(page)).toEqual(alarm)
})

it('sends a notification with the name and the slot', async () => {
  const service = await start([{}, {}])
  const page = await open(service, '/', { permissions: ['notifications'] })
  await page.addInitScript(`
    globalThis.notified = []
    globalThis.Notification = class extends Notification {
      constructor(title, options) {
        super(title, options)
        notified.push([title, options.body, options.tag].join(' | '))
      }
    }`)
  await page.reload()
  await page.locator('.card').first().waitFor()
  const notified = () => page.evaluate<string[]>('notified')
  const notificationsButton = page.locator('.more button', { hasText: 'Notifications' })
  await page.getByRole('button', { name: 'More options' }).click()
  await notificationsButton.click()
  await expect.poll(() => notificationsButton.getAttribute('aria-pressed')).toBe('true')
  sendUpdate(service, [{}, { battery: 5 }])
  await expect.poll(notified).toEqual([expect.stringMatching(/^Singer 2.*critical \| .*2.*Rack 1.* \| micwatch-2$/)])
  sendUpdate(service, [{}, { battery: 4 }])
  await expect.poll(() => page.locator('.card', { hasText: '4%' }).count()).toBe(1)
  expect(await notified()).toHaveLength(1)

  await notificationsButton.click()
  await expect.poll(() => notificationsButton.getAttribute('aria-pressed')).toBe('false')
  sendUpdate(service, [{ battery: 5 }, { battery: 4 }])
  await expect.poll(() => stateOf(page, 1)).toBe('critical')
  expect(await notified()).toHaveLength(1)
})

it('reports that the browser blocks notifications', async () => {
  const service = await start([{}])
  const page = await open(service, '/', { permissions: [] })
  await page.getByRole('button', { name: 'More options' }).click()
  const blockedButton = page.getByRole('button', { name: 'Notifications are blocked in the browser settings' })
  await blockedButton.waitFor()
  expect(await blockedButton.isDisabled()).toBe(true)
})

it('toggles full screen by key and by button', async () => {
  const service = await start([{}])
  const page = await open(service, '/wall')
  await page.locator('.card').waitFor()
  const isFullScreen = () => page.evaluate<boolean>('document.fullscreenElement === document.documentElement')
  await page.keyboard.press('f')
  await expect.poll(isFullScreen).toBe(true)
  await page.keyboard.press('f')
  await expect.poll(isFullScreen).toBe(false)
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'Full screen' }).click()
  await expect.poll(isFullScreen).toBe(true)
})
