/** The wall in a browser: all channels fit on every screen. */

import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { browserForTests, findViolations } from './browser.ts'
import { type FakeService, receiver, startFakeService } from './fake-service.ts'

const { open } = browserForTests()

async function start(channels: number, transmitter: Parameters<typeof receiver>[1][number] = {}): Promise<FakeService> {
  const service = await startFakeService('/venue')
  onTestFinished(() => service.close())
  const names = ['Elsbeth', 'Maria Callas', 'The Man in Black', 'Bartholomew', 'W'.repeat(60), 'Li']
  service.data.receivers = Array.from({ length: Math.ceil(channels / 4) }, (_, index) =>
    receiver(
      index + 1,
      Array.from({ length: Math.min(4, channels - index * 4) }, (_, channel) => ({
        name: `H${index} ${names[(index + channel) % names.length]}`,
        ...transmitter,
      })),
    ),
  )
  return service
}

/** Describes the cards that extend beyond the screen or truncate their content. */
const findOverflows = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.wall .card')].flatMap((card) => {
    const { left, top, right, bottom } = card.getBoundingClientRect()
    const overflows = left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5
    const isTruncated = card.scrollHeight > card.clientHeight + 1
    if (!overflows && !isTruncated) return []
    return [card.innerText + (overflows ? ' extends beyond the screen ' : ' is truncated ') + card.scrollHeight + ' in ' + card.clientHeight]
  })`)

const shapes = [
  { width: 1920, height: 1080 },
  { width: 1080, height: 1920 },
  { width: 1366, height: 600 },
  { width: 844, height: 390 },
]

it.each([8, 60, 300])(
  'fits %i channels on every screen shape, as cards and as a table',
  async (count) => {
    const service = await start(count)
    const page = await open(service, '/wall')
    for (const viewport of shapes) {
      await page.setViewportSize(viewport)
      for (const layout of ['grid', 'list']) {
        await page.goto(`${service.url}/wall?layout=${layout}`)
        await expect.poll(() => page.locator('.wall .card').count()).toBe(count)
        await expect.poll(async () => (await findOverflows(page)).join()).toBe('')
        const size = await page.evaluate<number[]>(
          '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]',
        )
        expect(size).toEqual([viewport.width, viewport.height])
      }
    }
  },
  60_000,
)

it('truncates no slot and no icon for any number of channels and states', async () => {
  const service = await start(300, { battery: 8, rf_level: -95, audio_level: 0 })
  service.data.receivers = service.data.receivers.map((receiver) => ({ ...receiver, is_active: receiver.id % 2 === 0 }))
  const page = await open(service, '/wall')
  await page.locator('.card[data-state=receiver_lost]').nth(149).waitFor()
  const findTruncated = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll('.card')].flatMap((card) => {
      const slot = card.querySelector('.card-slot').getBoundingClientRect()
      const flags = card.querySelector('.flags').getBoundingClientRect()
      const icons = [...card.querySelectorAll('.flag')].map((icon) => icon.getBoundingClientRect())
      const visible = icons.filter((icon) => icon.top < flags.bottom)
      const isComplete = visible.length > 0 && slot.right <= flags.left && visible.every((icon) => icon.left >= flags.left - 0.5)
      return isComplete ? [] : [card.innerText + ': ' + visible.length]
    })`)
  await expect.poll(findTruncated).toEqual([])
})

it('shows controls only while the pointer moves', async () => {
  const service = await start(4)
  const page = await open(service, '/wall')
  await page.locator('.card').first().waitFor()
  expect(await page.locator('a, button, select, input').count()).toBe(0)
  expect(await findViolations(page)).toEqual([])
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'QR code of this view' }).waitFor()
  expect(await findViolations(page)).toEqual([])
  await page.keyboard.press('?')
  const keys = await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).locator('kbd').allInnerTexts()
  expect(keys).toEqual(['?', '0–9', 'd', 'p', 'l', 'f', 'q', 'g', 'c', 'm', 'Esc'])
}, 150_000)

it('shows a group in its order with planned and blank slots', async () => {
  const service = await start(4)
  service.data.groups = [{ id: 2, title: 'Band', slots: [3, 65_001, 9, 1], hide_charts: true, manufacturer: null }]
  const page = await open(service, '/wall?group=2&layout=sideways&detail=everything&theme=pink')
  const listSlots = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll('.wall-cards > li')].map((item) =>
      item.matches('.spacer') ? 'blank' : item.querySelector('.card-slot [aria-hidden]').innerText)`)
  await expect.poll(listSlots).toEqual(['3', 'blank', '9', '1'])
  expect(await page.locator('.planned').innerText()).toContain('Planned')
  expect(await page.locator('.chart').count()).toBe(0)
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
}, 60_000)

it('applies the detail setting', async () => {
  const service = await start(4)
  const page = await open(service, '/wall?detail=full')
  await expect.poll(() => page.locator('.wall .chart').count()).toBe(4)
  await page.goto(`${service.url}/wall?detail=status`)
  await page.locator('.card').first().waitFor()
  expect(await page.locator('.meters, .chart, .card-foot').count()).toBe(0)
}, 60_000)

it('animates alarms only, and nothing with reduced motion', async () => {
  const service = await start(4)
  service.data.receivers = [receiver(1, [{}, { battery: 15 }, { battery: 5 }, { rf_level: -95 }])]
  const page = await open(service, '/wall')
  await page.locator('.card[data-state=critical]').waitFor()
  const countAnimations = () => page.evaluate<number>('document.getAnimations().length')
  expect(await countAnimations()).toBe(1)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect.poll(countAnimations).toBe(0)
}, 60_000)

it('shows performer names and pictures', async () => {
  const service = await start(2)
  const picture =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const anna = { id: 5, name: '<b>Anna Netrebko</b>', notes: '' }
  service.data.assignments = [{ channel_id: 2, wireless_unit: 8, performer: { id: anna.id, name: anna.name } }]
  service.data.performers = [{ ...anna, picture: null, picture_tag: '200:AAAA' }]
  service.data.responses = { '/api/performers/5/': { ...anna, picture } }
  const page = await open(service, '/wall')
  const card = page.locator('.card', { hasText: '<b>Anna Netrebko</b>' })
  await card.waitFor()
  expect(await card.locator('.card-slot').innerText()).toContain('2')
  await expect.poll(() => page.evaluate("document.querySelector('.card img').naturalWidth")).toBe(1)
  await page.keyboard.press('g')
  await expect.poll(() => card.locator('img').count()).toBe(0)
}, 60_000)

it('marks all values as stale with their age when the service is unreachable, and recovers automatically', async () => {
  const service = await start(60)
  const page = await open(service, '/wall')
  await page.locator('.card[data-state=good]').first().waitFor()
  service.isDown = true
  await expect.poll(() => page.locator('.card[data-state=stale]').count()).toBe(60)
  const age = async () => Number(/are (\d+) sec old/.exec(await page.locator('.banner').innerText())?.[1])
  const first = await age()
  await expect.poll(age).toBeGreaterThan(first)
  await expect.poll(async () => (await findOverflows(page)).join()).toBe('')
  service.isDown = false
  await expect.poll(() => page.locator('.card[data-state=good]').count(), { timeout: 20_000 }).toBe(60)
  expect(await page.locator('.banner').count()).toBe(0)
}, 60_000)
