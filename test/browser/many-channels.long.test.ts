/** Pages in a browser with more channels and manufacturers than fit. */

import { expect, it } from 'vitest'
import { browserForTests } from '../support/browser/browser.ts'
import { receiver, startFakeService } from '../support/browser/fake-service.ts'
import { buildAlert } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

it('shows more channels as the user scrolls, and as many as before on return', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = Array.from({ length: 250 }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  const page = await open(service, '/')
  const cards = page.locator('.card')
  await eventually(() => cards.count()).toBe(300)
  await eventually(() => page.getByRole('button', { name: 'Show more (700 channels)' }).count()).toBe(1)
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await eventually(() => cards.count()).toBe(600)
  const last = page.locator('.card a', { hasText: 'Singer 590' })
  await last.click()
  await page.getByRole('heading', { name: 'Singer 590' }).waitFor()
  await page.goBack()
  await eventually(() => cards.count()).toBeGreaterThanOrEqual(600)
  await eventually(() => last.evaluate((link) => link.getBoundingClientRect().top < innerHeight)).toBe(true)

  await page.goto(`${service.url}/?layout=list`)
  const rows = page.locator('tbody tr')
  await eventually(() => rows.count()).toBe(300)
  await page.getByRole('searchbox').fill('Singer 1000')
  await eventually(() => rows.count()).toBe(1)
  await eventually(() => page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  await eventually(() => rows.innerText()).toContain('Singer 1000')
})

// Conformance: C-21.113.
it('finds a channel for a filter among two thousand by typing', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = Array.from({ length: 500 }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  service.data.alerts = [1, 999].map((id) => buildAlert({ id, channel_id: id }))
  const page = await open(service, '/alerts')
  const items = page.locator('.alert')
  await eventually(() => items.count()).toBe(2)
  const channel = page.getByRole('combobox', { name: 'Channel' })
  const options = page.getByRole('listbox').getByRole('option')
  await channel.click()
  await eventually(() => options.count()).toBe(20)
  await channel.pressSequentially('singer 9')
  // One channel, and the four of Rack 9.
  await eventually(() => options.count()).toBe(5)
  await channel.pressSequentially('99')
  await eventually(() => options.allInnerTexts()).toEqual([expect.stringMatching(/^999 /)])
  await channel.press('Enter')
  await eventually(() => items.count()).toBe(1)
  expect(new URL(page.url()).search).toBe('?channel=999')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('singer 123')
  await eventually(() => options.count()).toBe(5)
  await eventually(() => options.first().innerText()).toMatch(/^123 /)
})

it('names the failing manufacturers, and counts the others if there are many', async () => {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}])]
  service.data.upstream = 'unhealthy'
  service.data.healthyManufacturers = Array.from({ length: 499 }, (_, index) => `Venue ${index + 1}`)
  const page = await open(service, '/')
  const items = page.getByRole('list', { name: 'Health' }).getByRole('listitem')
  await eventually(() => items.allInnerTexts()).toEqual(['Live', expect.stringContaining('Shure'), 'Healthy: 499'])
})
