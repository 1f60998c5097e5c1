/** The alarm of a device in a real browser: what is heard, what is notified, and a screen that is full. */

import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import type { TransmitterBody } from '../../src/model/api.ts'
import { browserForTests } from './browser.ts'
import { type FakeService, receiver, startFakeService, update } from './fake-service.ts'

const { open } = browserForTests()

type Told = readonly (Partial<TransmitterBody> | null)[]

async function startHouse(told: Told): Promise<FakeService> {
  const service = await startFakeService('/house')
  onTestFinished(() => service.close())
  service.house.receivers = [receiver(1, told)]
  return service
}

function say(service: FakeService, told: Told) {
  service.house.receivers = [receiver(1, told)]
  service.say(update(told))
}

const stateOf = (page: Page, slot: number) =>
  page.locator('.card', { hasText: `Singer ${slot}` }).getAttribute('data-state')

/** Alarms are judged when this is counted: once a second. */
async function needHand(page: Page, count: number) {
  await page.locator('.summary', { hasText: new RegExp(`^\\D*\\d+ channels\\s*${count} need`) }).waitFor()
}

/** From the next load on, every tone of the page is noted as it begins; it sounds all the same. */
async function noteTones(page: Page) {
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

it('is heard once for each microphone that needs somebody, and not where nobody wants it', async () => {
  const service = await startHouse([{}, {}])
  const page = await open(service, '/')
  await noteTones(page)
  say(service, [{ battery: 5 }, {}])
  await expect.poll(() => stateOf(page, 1)).toBe('critical')
  expect(await tones(page)).toEqual([])

  // Whoever switches it on hears it.
  await page.keyboard.press('m')
  await expect.poll(() => tones(page)).toEqual(alarm)
  say(service, [{ battery: 4 }, { battery: 15 }])
  await expect.poll(() => tones(page)).toEqual([...alarm, ...alarm])
  // A dip passes by itself.
  say(service, [{ battery: 90, rf_level: -95 }, { battery: 14 }])
  await expect.poll(() => stateOf(page, 1)).toBe('rf_weak')
  say(service, [{ battery: 90 }, { battery: 14 }])
  await needHand(page, 1)
  expect(await tones(page)).toHaveLength(4)
  say(service, [{ battery: 8 }, { battery: 14 }])
  await expect.poll(() => tones(page)).toHaveLength(6)

  await page.keyboard.press('m')
  say(service, [{ battery: 90 }, { battery: 14 }])
  await needHand(page, 1)
  say(service, [{ battery: 7 }, { battery: 14 }])
  await needHand(page, 2)
  expect(await tones(page)).toHaveLength(6)
})

it('is heard after a restart too, once somebody has touched the page', async () => {
  const service = await startHouse([{}])
  const page = await open(service, '/wall')
  await page.locator('.card').waitFor()
  await page.keyboard.press('m')
  await noteTones(page)
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'blocked by the browser' }).waitFor()
  await page.mouse.click(200, 200)
  await page.getByRole('button', { name: 'Alarm sound', pressed: true }).waitFor()
  say(service, [{ battery: 5 }])
  await expect.poll(() => tones(page)).toEqual(alarm)
})

it('notifies of who needs somebody, and where they are', async () => {
  const service = await startHouse([{}, {}])
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
  const wanted = page.locator('.more button', { hasText: 'Notifications' })
  await page.getByRole('button', { name: 'More options' }).click()
  await wanted.click()
  await expect.poll(() => wanted.getAttribute('aria-pressed')).toBe('true')
  say(service, [{}, { battery: 5 }])
  await expect.poll(notified).toEqual([expect.stringMatching(/^Singer 2.*critical \| .*2.*Rack 1.* \| micwatch-2$/)])
  say(service, [{}, { battery: 4 }])
  await expect.poll(() => page.locator('.card', { hasText: '4%' }).count()).toBe(1)
  expect(await notified()).toHaveLength(1)

  await wanted.click()
  await expect.poll(() => wanted.getAttribute('aria-pressed')).toBe('false')
  say(service, [{ battery: 5 }, { battery: 4 }])
  await expect.poll(() => stateOf(page, 1)).toBe('critical')
  expect(await notified()).toHaveLength(1)
})

it('says where the browser refuses notifications', async () => {
  const service = await startHouse([{}])
  const page = await open(service, '/', { permissions: [] })
  await page.getByRole('button', { name: 'More options' }).click()
  const refused = page.getByRole('button', { name: 'Notifications are blocked in the browser settings' })
  await refused.waitFor()
  expect(await refused.isDisabled()).toBe(true)
})

it('fills the screen and gives it back, by a key and by a button', async () => {
  const service = await startHouse([{}])
  const page = await open(service, '/wall')
  await page.locator('.card').waitFor()
  const isFull = () => page.evaluate<boolean>('document.fullscreenElement === document.documentElement')
  await page.keyboard.press('f')
  await expect.poll(isFull).toBe(true)
  await page.keyboard.press('f')
  await expect.poll(isFull).toBe(false)
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'Full screen' }).click()
  await expect.poll(isFull).toBe(true)
})
