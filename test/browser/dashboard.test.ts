/** The pages in a real browser: what a technician sees, under the Content-Security-Policy, whatever the network does. */

import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { DeviceUpdate } from '../../src/model/messages.ts'
import { launchChromium } from '../chromium.ts'
import { type FakeService, receiver, startFakeService } from './fake-service.ts'

let browser: Browser
let service: FakeService
let page: Page
/** Whatever the browser complains of, but for requests that a test makes fail. */
let complaints: string[]

beforeAll(async () => {
  browser = await launchChromium()
}, 300_000)
afterAll(() => browser?.close())

beforeEach(async () => {
  service = await startFakeService('/house')
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  complaints = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (said) => {
    const isNetwork = /^Failed to load resource|^WebSocket connection/.test(said.text())
    if (said.type() === 'error' && !isNetwork) complaints.push(said.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url)) complaints.push(`asked elsewhere: ${request.url()}`)
  })
})
afterEach(async () => {
  await page.close()
  await service.close()
  expect(complaints).toEqual([])
})

const card = (slot: number) => page.locator('.card', { hasText: `Singer ${slot}` })
const stateOf = (slot: number) => card(slot).getAttribute('data-state')
const slots = () => page.locator('.card-slot > [aria-hidden]').allInnerTexts()

function update(told: Parameters<typeof receiver>[1]): DeviceUpdate {
  const { channels } = receiver(1, told)
  return { type: 'device_update', manufacturer: 'shure', receiver_id: 1, data: { channels } }
}

async function seriousFindings(): Promise<string[]> {
  await page.evaluate(axe.source)
  // axe has just been put there as a global; its types are not this file's business.
  const violations = await page.evaluate<{ id: string; impact: string }[]>('axe.run().then((run) => run.violations)')
  return violations.filter(({ impact }) => impact !== 'minor').map(({ id }) => id)
}

it('shows every state, follows what changes, and puts problems first on request', async () => {
  const lost = { ...receiver(2, [{}]), is_active: false }
  service.house.receivers = [receiver(1, [{}, { battery: 40 }, { battery: 5 }, null]), lost]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  expect(await Promise.all([1, 2, 3, 4, 5].map(stateOf))).toEqual([
    'good',
    'replace',
    'critical',
    'off',
    'receiver_lost',
  ])
  expect(await page.locator('.summary').innerText()).toContain('2 need a hand')
  expect(await seriousFindings()).toEqual([])

  service.say(update([{ battery: 18, rf_level: -63 }, { battery: 40 }, { battery: 5 }, null]))
  await page.locator('.card[data-state=low]', { hasText: 'Singer 1' }).waitFor()
  await card(1).getByText('−63 dBm').waitFor()

  expect(await slots()).toEqual(['1', '2', '3', '4', '5'])
  await page.getByRole('button', { name: 'Problems first' }).click()
  expect(new URL(page.url()).search).toBe('?sort=problems')
  expect(await slots()).toEqual(['3', '5', '1', '2', '4'])
})

it('notices a pulled cable within seconds, greys everything, and comes back by itself with the truth', async () => {
  service.house.receivers = [receiver(1, [{ battery: 90 }])]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()

  service.isSilent = true
  const since = Date.now()
  await page.locator('.card[data-state=stale]').waitFor()
  expect(Date.now() - since).toBeLessThan(5_000)
  expect(await page.locator('.banner').innerText()).toContain('old')
  expect(await seriousFindings()).toEqual([])

  service.isDown = true
  service.house.receivers = [receiver(1, [{ battery: 9 }])]
  service.isSilent = false
  service.isDown = false
  await page.locator('.card[data-state=critical]').waitFor({ timeout: 15_000 })
  expect(await page.locator('.banner').count()).toBe(0)
})

it('greys the channels of a manufacturer that does not answer', async () => {
  service.house.receivers = [{ ...receiver(1, [{}]) }]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  service.house.upstream = 'unhealthy'
  service.say({
    type: 'status_update',
    about: 'upstream',
    manufacturer: 'shure',
    message: 'shure does not answer',
    status: 'unhealthy',
  })
  await page.locator('.card[data-state=stale]').waitFor()
  expect(await page.locator('.footer').innerText()).toContain('Not answering')
})

it('keeps hostile names text, and in their place', async () => {
  const names = ['<img src=x onerror=alert(1)>', '\u202Egnp.exe', 'W'.repeat(255), '<script>alert(1)</script>']
  service.house.receivers = [
    receiver(
      1,
      names.map((name) => ({ name })),
    ),
  ]
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${service.url}/`)
  await page.getByText('<script>alert(1)</script>').waitFor()
  expect(await page.locator('.card-name img, .card-name script').count()).toBe(0)
  expect(await page.getByText('gnp.exe').count()).toBe(1)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
})

it('says what to do where there is nothing, and where sign-in is needed', async () => {
  service.house.upstream = 'disabled'
  await page.goto(`${service.url}/?manufacturer=nobody&sort=sideways`)
  await page.getByText('micwatch serve --demo').waitFor()
  expect(await seriousFindings()).toEqual([])
  service.house.needsSignIn = true
  await page.reload()
  await page.getByRole('heading', { name: 'Sign-in needed' }).waitFor()
})

it('tells about itself', async () => {
  await page.goto(`${service.url}/about/`)
  await page.getByText('9.9.9').waitFor()
  expect(await page.locator('a[href="/house/api/data.json"]').count()).toBe(1)
  expect(await seriousFindings()).toEqual([])
})
