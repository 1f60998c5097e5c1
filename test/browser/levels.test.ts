/** Meters, levels and charts on the canvas, compared pixel by pixel. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { receiver, sendLevels, startFakeService, withDetails } from '../support/browser/fake-service.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

async function openMonitor(monitored: ReceiverInData, path = '/') {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [monitored]
  const page = await open(service, path)
  await page.locator('.card').waitFor()
  return { service, page }
}

/** Reads the RGBA pixels of the canvas that covers an element. */
const readPixels = (page: Page, selector: string) =>
  page.evaluate<number[]>(`(() => {
    const canvas = document.querySelector('.meter-layer canvas')
    const place = document.querySelector('${selector}').getBoundingClientRect()
    const field = canvas.getBoundingClientRect()
    return [...canvas.getContext('2d').getImageData(
      place.left - field.left, place.top - field.top, place.width, place.height).data]
  })()`)

it('paints a chart of the last minutes, and meters and levels that follow the updates', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  const countGreen = async (selector: string) => {
    const data = await readPixels(page, selector)
    return data.filter((green, index) => index % 4 === 1 && green > (data[index - 1] ?? 0) + 40).length
  }
  await eventually(async () => (await readPixels(page, '.meter-value')).some((item) => item > 0)).toBe(true)
  const [chart, meter, level] = [
    await countGreen('.chart'),
    await countGreen('.meter-strip'),
    await readPixels(page, '.meter-value'),
  ]
  for (let index = 0; index < 8; index++) sendLevels(service, -50, -4 - index)
  await eventually(() => countGreen('.chart')).toBeGreaterThan(chart)
  await eventually(() => countGreen('.meter-strip')).toBeGreaterThan(meter)
  sendLevels(service, -63, -11)
  await eventually(() => readPixels(page, '.meter-value')).not.toEqual(level)
})

it('changes nothing in the DOM but the labels while levels cross no limit', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  await page.getByRole('img', { name: '−50 dBm' }).waitFor()
  await page.evaluate(`(() => {
    window.changes = 0
    const observer = new MutationObserver((records) => { window.changes += records.length })
    observer.observe(document.querySelector('.cards'), { subtree: true, childList: true, characterData: true })
  })()`)
  for (let rf = -51; rf >= -60; rf -= 1) sendLevels(service, rf, -20)
  await page.getByRole('img', { name: '−60 dBm' }).waitFor()
  await eventually(() => page.evaluate('window.changes')).toBe(0)
})

it('shows RF in percent as number and bar if the equipment reports no dBm', async () => {
  const withRfPercent = (rf_percent: number) =>
    withDetails(receiver(1, [{ rf_level: null, audio_level: null }]), [{ rf_percent }])
  const { service, page } = await openMonitor(withRfPercent(20))
  await page.getByRole('img', { name: '20%' }).waitFor()
  const countBlue = async () => {
    const data = await readPixels(page, '.meter-strip')
    return data.filter((blue, index) => index % 4 === 2 && blue > (data[index - 2] ?? 0) + 80).length
  }
  await eventually(countBlue).toBeGreaterThan(0)
  const countBefore = await countBlue()
  service.send({ type: 'channel', id: 1, receiver_id: 1, details: { rf_percent: 80 } })
  await page.getByRole('img', { name: '80%' }).waitFor()
  await eventually(async () => (await countBlue()) / countBefore).toBeCloseTo(4, 0)
})

it('leaves nothing of larger text behind after the window becomes smaller', async () => {
  const { page } = await openMonitor(receiver(1, [{}]), '/channels/1')
  await page.setViewportSize({ width: 3840, height: 2160 })
  await page.getByRole('img', { name: '−50 dBm' }).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  // Longer than the time between two reads of the style.
  await page.waitForTimeout(1_000)
  const pixels = String(await readPixels(page, '.meters'))
  await page.evaluate("window.dispatchEvent(new Event('resize'))")
  await page.waitForTimeout(1_000)
  expect(String(await readPixels(page, '.meters')) === pixels).toBe(true)
})
