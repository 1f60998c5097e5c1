/** The monitor in a browser, under the Content-Security-Policy and with network failures. */

import type { Browser, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { defaultContext, findViolations } from '../support/browser/browser.ts'
import { findBrowser } from '../support/browser/chromium.ts'
import {
  type FakeService,
  offline,
  receiver,
  startFakeService,
  update,
  withDetails,
} from '../support/browser/fake-service.ts'
import { buildGroup } from '../support/builders.ts'
import { eventually } from '../support/eventually.ts'

let browser: Browser
let service: FakeService
let page: Page
/** Errors in the page, and requests to other hosts. Failed requests are not included, because tests cause them. */
let errors: string[]

beforeAll(async () => {
  browser = await findBrowser()
})

beforeEach(async () => {
  service = await startFakeService('/venue')
  page = await browser.newPage(defaultContext)
  errors = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (entry) => {
    const isNetwork = /^Failed to load resource|^WebSocket connection/.test(entry.text())
    if (entry.type() === 'error' && !isNetwork) errors.push(entry.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url)) errors.push(`external request: ${request.url()}`)
  })
})
afterEach(async () => {
  await page.close()
  await service.close()
  expect(errors).toEqual([])
})

const card = (slot: number) => page.locator('.card', { hasText: `Singer ${slot}` })
const stateOf = (slot: number) => card(slot).getAttribute('data-state')
const listSlots = () => page.locator('.card-slot > [aria-hidden]').allInnerTexts()

// Conformance: S-1.4.
it('shows every state, updates live, and sorts problems first on request', async () => {
  service.data.receivers = [receiver(1, [{}, { battery: 40 }, { battery: 5 }, null]), offline(receiver(2, [{}]))]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  await eventually(() => Promise.all([1, 2, 3, 4, 5].map(stateOf))).toEqual([
    'ok',
    'battery_replace_soon',
    'battery_critical',
    'tx_off',
    'receiver_offline',
  ])
  await eventually(() => page.locator('.summary').innerText()).toContain('2 channels · 2 causes')
  await eventually(() => findViolations(page)).toEqual([])

  update(service, [{ battery: 18, rf_level: -63 }, { battery: 40 }, { battery: 5 }, null])
  await page.locator('.card[data-state=battery_low]', { hasText: 'Singer 1' }).waitFor()
  await card(1).getByRole('img', { name: '−63 dBm' }).waitFor()

  await eventually(() => listSlots()).toEqual(['1', '2', '3', '4', '5'])
  await page.getByRole('button', { name: 'View' }).click()
  await page.getByLabel('Sort').selectOption('Problems first')
  await eventually(() => new URL(page.url()).search).toBe('?sort=problems')
  await eventually(listSlots).toEqual(['3', '5', '1', '2', '4'])
})

it('treats mismatching encryption keys as a problem in cards and in the table', async () => {
  const rack = receiver(1, [{}, { battery: 15 }, {}, { battery: 40 }])
  service.data.receivers = [withDetails(rack, [{}, {}, { encryption: 'error' }, { encryption: 'on' }])]
  await page.goto(`${service.url}/?state=problems&sort=problems`)
  await page
    .locator('.card[data-state=encryption_error]', { hasText: 'Singer 3' })
    .getByText('Encryption error')
    .waitFor()
  await eventually(() => listSlots()).toEqual(['3', '2'])
  await eventually(() => page.locator('.summary').innerText()).toContain('2 channels · 2 causes')
  await page.goto(`${service.url}/?layout=list`)
  await page
    .getByRole('row', { name: /Singer 3/ })
    .getByText('Encryption error')
    .waitFor()
  await page.goto(`${service.url}/wall`)
  await page.locator('.card[data-state=encryption_error][data-attention]').getByText('Encryption error').waitFor()
})

// Reliability: 1.7.
it('escapes hostile names and keeps them within their card', async () => {
  const names = ['<img src=x onerror=alert(1)>', '\u202Egnp.exe', 'W'.repeat(255), '<script>alert(1)</script>']
  service.data.receivers = [
    receiver(
      1,
      names.map((name) => ({ name })),
    ),
  ]
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${service.url}/`)
  const shown = page.locator('.card-name')
  await shown.getByText('<script>alert(1)</script>').waitFor()
  await eventually(() => page.locator('.card-name img, .card-name script').count()).toBe(0)
  await eventually(() => shown.getByText('gnp.exe').count()).toBe(1)
  await eventually(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
})

it('explains an empty installation and a required sign-in', async () => {
  service.data.upstream = 'disabled'
  await page.goto(`${service.url}/?manufacturer=nobody&sort=sideways`)
  await page.getByText('micwatch serve --demo').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  service.data.needsSignIn = true
  await page.reload()
  await page.getByRole('heading', { name: 'Sign-in required' }).waitFor()
})

const receiverWithChannels = (count: number, transmitter: Parameters<typeof receiver>[1][number] = {}) =>
  receiver(
    1,
    Array.from({ length: count }, () => transmitter),
  )

function group(id: number, title: string, slots: number[], hide_charts = false) {
  return buildGroup(id, { title, slots, hide_charts })
}

it('filters by search, state and group, stores the filters in the URL, and reports that nothing matches', async () => {
  service.data.receivers = [receiver(1, [{}, { battery: 5, name: 'Anna' }, null, {}])]
  service.data.groups = [group(4, 'Band', [4, 65_001, 9, 1]), group(5, 'Nobody', [])]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()

  await page.keyboard.press('/')
  await page.keyboard.type('anna rack')
  await eventually(listSlots).toEqual(['2'])
  await eventually(() => new URL(page.url()).searchParams.get('q')).toBe('anna rack')
  await page.reload()
  await eventually(listSlots).toEqual(['2'])
  await page.getByLabel('Search').fill('nobody at all')
  await page.getByText('No channels match: “nobody at all”.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'Show all channels' }).click()
  await eventually(listSlots).toEqual(['1', '2', '3', '4'])

  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByLabel('State').selectOption('Problems only')
  await eventually(listSlots).toEqual(['2'])
  await page.getByLabel('State').selectOption('TX off')
  await eventually(listSlots).toEqual(['3'])
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await eventually(listSlots).toEqual(['1', '2', '3', '4'])
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Band' }).click()
  await eventually(listSlots).toEqual(['4', '9', '1'])
  await eventually(() => new URL(page.url()).search).toBe('?group=4')
  await eventually(() => page.locator('.planned').innerText()).toMatch(/9\s+Planned/)
  await eventually(() => page.locator('.spacer').count()).toBe(1)
  await page.keyboard.press('2')
  await page.getByRole('heading', { name: 'Nobody is empty' }).waitFor()
  await page.keyboard.press('0')
  await eventually(listSlots).toEqual(['1', '2', '3', '4'])
})

it('shows every value in a table that is sorted by column', async () => {
  service.data.receivers = [receiver(1, [{ battery: 90 }, { battery: 15, rf_level: -61 }, null, { battery: 40 }])]
  await page.goto(`${service.url}/?layout=list`)
  const row = page.getByRole('row', { name: /Singer 2/ })
  await row.getByRole('img', { name: '−61 dBm' }).waitFor()
  for (const text of ['H02', 'Battery low', '15%', '540.000 MHz', 'Rack 1·2'])
    await eventually(() => row.innerText()).toContain(text)
  const order = () => page.locator('tbody [data-column=slot]').allInnerTexts()
  await eventually(() => order()).toEqual(['1', '2', '3', '4'])
  await page.getByRole('button', { name: 'Battery' }).click()
  await eventually(order).toEqual(['2', '4', '1', '3'])
  await eventually(() => page.locator('[aria-sort=ascending]').innerText()).toContain('Battery')
  await eventually(() => findViolations(page)).toEqual([])
})

it('keeps the table head below the header while scrolling at any width', async () => {
  service.data.receivers = Array.from({ length: 10 }, (_, at) => receiver(at + 1, [{}, {}, {}, {}]))
  for (const width of [1440, 700, 390]) {
    await page.setViewportSize({ width, height: 700 })
    await page.goto(`${service.url}/?layout=list`)
    await page.locator('tbody tr').nth(39).waitFor()
    await page.mouse.move(width / 2, 400)
    await page.mouse.wheel(0, 500)
    const gap = () =>
      page.evaluate<number>(`(() => {
        const { top } = document.querySelector('.channels thead th').getBoundingClientRect()
        return scrollY === 0 ? -1 : top - Math.max(0, document.querySelector('.top-bar').getBoundingClientRect().bottom)
      })()`)
    await eventually(gap).toBeCloseTo(0, 0)
  }
})

it('renders only the cards and rows near the viewport, and paints their levels after a jump', async () => {
  service.data.receivers = Array.from({ length: 50 }, (_, at) => receiver(at + 1, [{}, {}, {}, {}]))
  for (const [address, selector] of [
    ['/', '.monitor-card'],
    ['/?layout=list', 'tbody tr'],
  ] as const) {
    await page.goto(service.url + address)
    const entries = page.locator(selector)
    await eventually(() => entries.count()).toBe(200)
    const levels = (index: number) => entries.nth(index).locator('.meter-value')
    const isRendered = async (index: number) =>
      (await levels(index).count()) > 0 &&
      levels(index)
        .first()
        .evaluate((level) => level.checkVisibility({ contentVisibilityAuto: true }))
    await eventually(() => isRendered(0)).toBe(true)
    // Find in page and screen readers reach the names of all channels.
    await eventually(() => entries.nth(199).textContent()).toContain('Singer 200')
    await eventually(() => levels(199).count()).toBe(0)
    await eventually(() => isRendered(199)).toBe(false)
    const readHeight = () => page.evaluate<number>('document.documentElement.scrollHeight')
    const height = await readHeight()
    await page.keyboard.press('End')
    await eventually(() => levels(199).first().getAttribute('aria-label')).toBe('−50 dBm')
    await eventually(() => isRendered(0)).toBe(false)
    // The browser does not know the exact height of what it has not rendered.
    await eventually(async () => Math.abs((await readHeight()) / height - 1)).toBeLessThan(0.05)
  }
})

it('has a key and a button for each command, and lists them in the help', async () => {
  service.data.receivers = [receiverWithChannels(2)]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.waitFor()
  await eventually(() => help.locator('kbd').allInnerTexts()).toEqual([
    '?',
    '/',
    '0–9',
    'w',
    'p',
    'l',
    'f',
    'q',
    'c',
    'm',
    'a',
    'Esc',
  ])
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'More options' }).click()
  const keys = () => page.locator('.more:popover-open .key').allInnerTexts()
  await eventually(keys).toEqual(['a', 'q', '?'])
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'View' }).click()
  await eventually(keys).toEqual(['c', 'f'])
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')

  await page.keyboard.press('q')
  const qr = page.getByRole('dialog', { name: 'Open this view on another device' })
  await qr.getByRole('img', { name: /^QR code of http/ }).waitFor()
  await eventually(() => qr.innerText()).toContain('MICWATCH_HOST=0.0.0.0')
  await eventually(() => findViolations(page)).toEqual([])
  await qr.getByRole('button', { name: 'Close' }).click()

  await eventually(() => page.locator('.chart').count()).toBe(2)
  await page.keyboard.press('c')
  await eventually(() => page.locator('.chart').count()).toBe(0)
  await page.keyboard.press('w')
  await page.waitForURL(`${service.url}/wall`)
})

it('restores the stored view, unless the URL specifies another one', async () => {
  service.data.receivers = [receiver(1, [{}, { battery: 5 }])]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'View' }).click()
  await page.getByLabel('Theme').selectOption('Light')
  await page.goto(`${service.url}/`)
  await eventually(listSlots).toEqual(['2', '1'])
  const theme = () => page.locator('html').getAttribute('data-theme')
  await eventually(() => theme()).toBe('light')
  await page.goto(`${service.url}/?sort=slot&theme=contrast`)
  await eventually(listSlots).toEqual(['1', '2'])
  await eventually(() => theme()).toBe('contrast')
})

it.each(['dark', 'light', 'contrast'])(
  'is readable in the %s theme in every state',
  async (theme) => {
    const inactive = offline(receiver(2, [{}, null]))
    const transmitters = [
      {},
      { battery: 40 },
      { battery: 15 },
      { battery: 5, rf_level: -95 },
      { battery: null },
      { rf_level: -95 },
    ]
    const wrongKey = { encryption: 'error' } as const
    service.data.receivers = [
      withDetails(receiver(1, transmitters.slice(0, 4)), [{}, {}, {}]),
      inactive,
      receiver(3, [...transmitters.slice(4), null]),
      withDetails(receiver(4, [{}]), [wrongKey]),
    ]
    service.data.groups = [group(1, 'All of them', [1, 2, 3, 4, 5, 6, 9, 10, 11, 13, 77, 65_001])]
    for (const query of ['', '&group=1', '&layout=list']) {
      await page.goto(`${service.url}/?theme=${theme}${query}`)
      await page.locator('[data-state=battery_critical]').waitFor()
      await eventually(() => findViolations(page)).toEqual([])
    }
    await page.goto(`${service.url}/wall?theme=${theme}`)
    await page.locator('[data-state=battery_critical]').waitFor()
    await eventually(() => findViolations(page)).toEqual([])
  },
  60_000,
)

it('hides the charts of a group with hidden charts', async () => {
  service.data.receivers = [receiverWithChannels(2)]
  service.data.groups = [group(1, 'With', [1, 2]), group(2, 'Without', [1, 2], true)]
  await page.goto(`${service.url}/?group=1`)
  await card(1).waitFor()
  await eventually(() => page.locator('.chart').count()).toBe(2)
  await page.keyboard.press('2')
  await eventually(() => page.locator('.chart').count()).toBe(0)
})

it('on a phone sorts problems first, fits the screen, and opens a channel with one tap', async () => {
  service.data.receivers = [receiver(1, [{}, {}, { battery: 5 }, {}]), receiver(2, [{}, {}, {}, {}])]
  service.data.groups = [group(1, 'A group with a rather long name', [1]), group(2, 'Another of them, longer', [2])]
  await page.setViewportSize({ width: 390, height: 844 })
  for (const query of ['', '?layout=list', '?group=1']) {
    await page.goto(`${service.url}/${query}`)
    await page.locator('[data-state]').first().waitFor()
    await eventually(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
    await eventually(() => findViolations(page)).toEqual([])
  }
  await page.goto(`${service.url}/`)
  await eventually(listSlots).toEqual(['3', '1', '2', '4', '5', '6', '7', '8'])
  await card(3).click({ position: { x: 40, y: 120 } })
  await page.waitForURL(`${service.url}/channels/3`)
})

it('opens its menu below the button and within the screen', async () => {
  service.data.receivers = [receiverWithChannels(1)]
  for (const width of [3840, 1440, 1000, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await page.goto(`${service.url}/`)
    const button = page.getByRole('button', { name: 'More options' })
    await button.click()
    const isPlaced = async () => {
      const [at, menu] = await Promise.all([button.boundingBox(), page.locator('.more:popover-open').boundingBox()])
      if (at === null || menu === null) return null
      const distance = menu.y - (at.y + at.height)
      const right = menu.x + menu.width
      return {
        isBelow: distance >= 0 && distance < 12,
        // The menu is at least as wide as the button, unless it reaches the edge of the screen.
        isAsWide: menu.x <= at.x && right >= Math.min(at.x + at.width, width - 24),
        isOnScreen: right <= width,
      }
    }
    await eventually(isPlaced).toEqual({ isBelow: true, isAsWide: true, isOnScreen: true })
  }
})

it('fits at 200% zoom', async () => {
  service.data.receivers = [receiverWithChannels(4)]
  // Equals 200% zoom in a window of 1440 by 900.
  await page.setViewportSize({ width: 720, height: 450 })
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  await eventually(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(720)
  await eventually(() => findViolations(page)).toEqual([])
})

it('stores the alarm sound setting per device', async () => {
  service.data.receivers = [receiverWithChannels(1)]
  await page.goto(`${service.url}/`)
  await card(1).waitFor()
  const soundButton = page.locator('.status-line .sound')
  await eventually(() => soundButton.getAttribute('aria-pressed')).toBe('false')
  await page.keyboard.press('m')
  await eventually(() => soundButton.getAttribute('aria-pressed')).toBe('true')
  await page.reload()
  await card(1).waitFor()
  await eventually(() => page.locator('.status-line').textContent()).toContain('blocked by the browser')
})

// Conformance: S-4.18.
it('shows the about page', async () => {
  service.data.version = '9.9.9'
  await page.goto(`${service.url}/about/`)
  await page.getByText('9.9.9').waitFor()
  await eventually(() => page.locator('a[href="/venue/api/data.json"]').count()).toBe(1)
  await eventually(() => findViolations(page)).toEqual([])
})
