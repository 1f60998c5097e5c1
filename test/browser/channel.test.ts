/** The page of one channel in a real browser, against the whole service. */

import { expect, it } from 'vitest'
import { channelOf, entryOf, firstDevice, startApp, startShure, until } from '../app.ts'
import { atEnd } from '../scope.ts'
import { browserForTests, findings, isTooWide } from './browser.ts'
import { receiver, startFakeService } from './fake-service.ts'

const { open } = browserForTests()

async function startHouse() {
  const shure = await startShure()
  const app = await startApp({ manufacturers: [entryOf(shure)] })
  const { id: device } = firstDevice(shure)
  const receiver = await until('it is known', () => app.receiver(device))
  const { id: channel, slot } = channelOf(receiver)
  return { app, show: shure.show, device, receiver, channel, slot }
}

it.concurrent('tells everything about a channel, and follows it', async () => {
  const { app, show, device, receiver, channel, slot } = await startHouse()
  show.set(device, { name: 'H04 Elsbeth', battery: 81, rf_level: -52, audio_level: -18, transmitter: true }, 1)
  await app.post('/api/group/', { title: 'Band', slots: [slot] })
  const page = await open(app, `/channels/${channel}`)
  await page.locator('.card', { hasText: 'Elsbeth' }).waitFor()
  const text = () => page.locator('main').innerText()
  const { serial_number, mac_address } = receiver as unknown as Record<string, string>
  for (const told of [receiver.ip, receiver.model, serial_number, mac_address, 'Band', '81 %']) {
    await until(`${told} is told`, async () => (await text()).includes(String(told)))
  }
  expect(await page.title()).toContain('Elsbeth')
  expect((await findings(page)).join()).toBe('')

  show.set(device, { battery: 6 }, 1)
  await page.locator('.card[data-state=critical]').waitFor()
  await page.locator('.alerts [data-severity=critical]').waitFor({ timeout: 15_000 })
  expect((await findings(page)).join()).toBe('')
  await page.getByRole('link', { name: 'Band' }).click()
  await page.waitForURL(/\?group=\d+$/)
}, 60_000)

it.concurrent('shows what some gear tells besides, and its marks', async () => {
  const service = await startFakeService('')
  atEnd(() => service.close())
  const told = receiver(1, [
    { details: { model: 'AD2', muted: false, battery_minutes: 245, battery_is_estimate: true, power_mw: 10 } },
  ])
  const details = { rf_a: -58, rf_b: -71, antennas: 'A', quality: 80, muted: true, encryption: 'error' as const }
  service.house.receivers = [{ ...told, channels: told.channels.map((one) => ({ ...one, details })) }]
  service.house.answers['/api/receivers/1/'] = service.house.receivers[0]
  const page = await open(service, '/channels/1')
  const text = () => page.locator('main').innerText()
  for (const shown of ['A −58 dBm, B −71 dBm', '80 %', 'keys do not match', 'AD2', '4:05 h', 'about 90 %', '10 mW']) {
    await until(`${shown} is shown`, async () => (await text()).includes(shown))
  }
  for (const mark of ['Muted', 'Encryption keys do not match']) await page.getByTitle(mark).first().waitFor()
  expect(await isTooWide(page)).toBe(false)
}, 60_000)

it.concurrent('keeps its history over a reload, and says since when', async () => {
  const { app, channel } = await startHouse()
  const page = await open(app, `/channels/${channel}`)
  const since = async () => /Since \d\d:\d\d:\d\d/.exec(await page.locator('main').innerText())?.[0]
  const told = await until('it has begun', since)
  expect(await page.getByRole('img', { name: /^Chart of / }).count()).toBe(2)
  await page.reload()
  expect(await until('it goes on', since)).toBe(told)
}, 60_000)

it.concurrent('fits a phone, with its QR code and a way back', async () => {
  const { app, channel } = await startHouse()
  const page = await open(app, `/channels/${channel}`, { viewport: { width: 390, height: 844 } })
  await page.locator('.card').waitFor()
  await page.getByRole('img', { name: /^QR code of http/ }).waitFor()
  expect(await isTooWide(page)).toBe(false)
  expect((await findings(page)).join()).toBe('')
  await page.getByRole('link', { name: 'All microphones' }).click()
  await page.locator('.card').nth(3).waitFor()
}, 60_000)

it.concurrent('says that there is no such channel', async () => {
  const { app } = await startHouse()
  const page = await open(app, '/channels/99999')
  await page.getByRole('heading', { name: 'There is no such channel' }).waitFor()
  expect((await findings(page)).join()).toBe('')
}, 60_000)
