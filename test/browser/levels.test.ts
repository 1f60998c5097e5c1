/** Meters, levels and charts on the canvas, compared pixel by pixel. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { ReceiverInData } from '../../src/contract/live.ts'
import { onTestEnd } from '../cleanup.ts'
import { browserForTests } from './browser.ts'
import { receiver, startFakeService, update, withDetails } from './fake-service.ts'

const { open } = browserForTests()

async function openMonitor(monitored: ReceiverInData) {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [monitored]
  const page = await open(service, '/')
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

it('paints a chart of the last minute, and meters and levels that follow the updates', async () => {
  const { service, page } = await openMonitor(receiver(1, [{}]))
  const countGreen = async (selector: string) => {
    const data = await readPixels(page, selector)
    return data.filter((green, index) => index % 4 === 1 && green > (data[index - 1] ?? 0) + 40).length
  }
  await expect.poll(async () => (await readPixels(page, '.meter-value')).some((item) => item > 0)).toBe(true)
  const [chart, meter, level] = [
    await countGreen('.chart'),
    await countGreen('.meter-strip'),
    await readPixels(page, '.meter-value'),
  ]
  for (let index = 0; index < 8; index++) service.send(update([{ audio_level: -4 - index }]))
  await expect.poll(() => countGreen('.chart'), { timeout: 10_000 }).toBeGreaterThan(chart)
  await expect.poll(() => countGreen('.meter-strip')).toBeGreaterThan(meter)
  service.send(update([{ rf_level: -63 }]))
  await expect.poll(() => readPixels(page, '.meter-value')).not.toEqual(level)
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
  await expect.poll(countBlue).toBeGreaterThan(0)
  const countBefore = await countBlue()
  const { channels } = withRfPercent(80)
  service.send({ type: 'device_update', manufacturer: 'shure', receiver_id: 1, data: { channels } })
  await page.getByRole('img', { name: '80%' }).waitFor()
  await expect.poll(async () => (await countBlue()) / countBefore).toBeCloseTo(4, 0)
})
