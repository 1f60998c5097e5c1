/** A technician's tasks on the monitor: cards, table, keyboard, phone and paper. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { noData } from '../../src/domain/alerts/alert.ts'
import { configFor, startApp, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import {
  type FakeService,
  offline,
  receiver,
  sendLevels,
  startFakeService,
  withDetails,
} from '../support/browser/fake-service.ts'
import { buildAlert, buildGroup } from '../support/builders.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

async function startService(receivers: FakeService['data']['receivers']): Promise<FakeService> {
  const service = await startFakeService('')
  onTestEnd(() => service.close())
  service.data.receivers = receivers
  return service
}

const racks = (count: number) => Array.from({ length: count }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
const slotsOf = (page: Page) => page.locator('tbody [data-column=slot]').allInnerTexts()
const scrollTop = (page: Page) => page.evaluate<number>('scrollY')

/** The width of the search field that its hint leaves, in CSS pixels. */
const roomForHint = (page: Page) =>
  page.evaluate<number>(`(() => {
    const field = document.querySelector('.search')
    const { font, paddingLeft, paddingRight } = getComputedStyle(field)
    const context = document.createElement('canvas').getContext('2d')
    context.font = font
    const { width } = context.measureText(field.placeholder)
    return field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - width
  })()`)

const alertData = { ...noData, name: 'Singer 1', slot: 1, battery: 15, threshold: 20, receiver: 'Rack 1' }

it('acknowledges an alert on its card with one press, and announces each new alert once', async () => {
  const service = await startService([receiver(1, [{ battery: 15 }, {}])])
  const alert = buildAlert({ id: 9, data: alertData })
  const acknowledged = { ...alert, state: 'acknowledged', acknowledged_by: 'Sam' } as const
  service.data.responses['/api/alerts/9/acknowledge'] = acknowledged
  const page = await browser.open(service, '/')
  await page.locator('.card[data-severity=warning]').waitFor()
  service.send({ type: 'alert', ...alert })
  await page.locator('[aria-live=polite]').getByText('Singer 1').waitFor()
  const request = page.waitForRequest((sent) => sent.method() === 'POST')
  await page.locator('.card').first().getByRole('button', { name: /^Ack/ }).click()
  expect((await request).url()).toBe(`${service.url}/api/alerts/9/acknowledge`)
  service.send({ type: 'alert', ...acknowledged })
  await page.getByText('Acknowledged by Sam').first().waitFor({ state: 'attached' })
  await eventually(() => page.getByRole('button', { name: /^Acknowledge/ }).count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])

  service.data.responses['/api/auth/session'] = { permissions: ['view'], role: 'viewer' }
  await page.reload()
  await page.locator('.card').first().waitFor()
  await eventually(() => page.getByRole('button', { name: /^Assign performer/ }).count()).toBe(0)
  service.send({ type: 'alert', ...alert, id: 10, kind: 'battery_critical', severity: 'critical' })
  await page.locator('[aria-live=assertive]').getByText('Singer 1').waitFor()
  await eventually(() => page.getByRole('button', { name: /^Acknowledge/ }).count()).toBe(0)
})

it('shows in the table who handled an alert, the age of values that are not live, and words only for exceptions', async () => {
  const service = await startService([receiver(1, [{}, { battery: 15 }, null]), offline(receiver(2, [{}]))])
  const handled = { state: 'acknowledged', acknowledged_by: 'Sam' } as const
  service.data.alerts = [{ ...buildAlert({ id: 9, data: { ...alertData, slot: 2 } }), ...handled, channel_id: 2 }]
  const page = await browser.open(service, '/?layout=list')
  const stateOf = (slot: number) => page.getByRole('row', { name: `Singer ${slot}` }).locator('[data-column=state]')
  const ageOf = (slot: number) => stateOf(slot).locator('.age').allInnerTexts()
  await stateOf(2).getByText('Acknowledged by Sam').waitFor({ state: 'attached' })
  await eventually(() => stateOf(2).locator('.handled-by').innerText()).toBe('Sam')
  const age = [expect.stringMatching(/^\d+d$/)]
  await eventually(() => Promise.all([1, 2, 3, 5].map(ageOf))).toEqual([[], [], age, age])
  const word = stateOf(1).getByText('OK')
  await eventually(() => word.evaluate((text) => text.getBoundingClientRect().width)).toBeLessThan(2)
  await eventually(() => page.locator('.card').count()).toBe(0)
})

it('has one row of controls, and menus of at most eight entries, with many groups', async () => {
  const service = await startService([receiver(1, [{}, {}])])
  service.data.healthyManufacturers = ['Sennheiser']
  const titles = ['Act 1', 'Choir', 'Principals', 'Band', 'Spares', 'Understudies and swings', 'Guests', 'Presenters']
  service.data.groups = [...titles, 'Backing vocals', 'Orchestra', 'Foyer'].map((title, index) =>
    buildGroup(index + 1, { title, slots: [1] }),
  )
  const page = await browser.open(service, '/?group=11')
  await page.locator('.card').first().waitFor()
  for (const width of [1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    await eventually(async () => (await page.locator('.toolbar').boundingBox())?.height, `${width} px`).toBeLessThan(50)
    await eventually(() => roomForHint(page), `${width} px`).toBeGreaterThan(0)
    await eventually(() => scrollsHorizontally(page), `${width} px`).toBe(false)
  }
  const groups = page.getByRole('navigation', { name: 'Groups' }).getByRole('button')
  // All channels, the groups with keys, and the chosen one.
  await eventually(() => groups.count()).toBe(11)
  await eventually(() => groups.last().getAttribute('aria-pressed')).toBe('true')
  for (const name of ['Filter (1)', 'View', 'More options']) {
    await page.getByRole('button', { name, exact: true }).click()
    const entries = page.locator('.more:popover-open :is(button, select)')
    await eventually(() => entries.count(), name).toBeGreaterThan(2)
    await eventually(() => entries.count(), name).toBeLessThanOrEqual(8)
    await eventually(() => findViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
  }
})

it('assigns a performer from a card with two presses', async () => {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('both transmitters are detected', async () => {
    const { json } = await app.get('/api/units/')
    return (json as unknown[]).length === 2
  })
  await app.post('/api/performers/', { name: 'Nora', notes: '' })
  const page = await browser.openAs(app, 'operator', '/')
  await page
    .getByRole('button', { name: /^Assign performer/ })
    .first()
    .click()
  await dialog(page).getByRole('button', { name: 'Nora' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await dialog(page).getByRole('button', { name: 'Nora' }).click()
  await messages(page).getByText('assigned to Nora').waitFor()
  await page.locator('.card', { hasText: 'Nora' }).first().waitFor()
})

it('erases a stale chart to the right of the last sample', async () => {
  const service = await startService([receiver(1, [{}])])
  const page = await browser.open(service, '/')
  await page.locator('.card').waitFor()
  /** Number of colours in the last pixels of the chart: one if there is only its background. */
  const countColours = () =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.meter-layer canvas')
      const place = document.querySelector('.chart').getBoundingClientRect()
      const field = canvas.getBoundingClientRect()
      const right = Math.floor(place.right - field.left) - 1
      const top = Math.ceil(place.top - field.top) + 1
      const { data } = canvas.getContext('2d').getImageData(right - 3, top, 3, Math.floor(place.height) - 3)
      const colours = new Set()
      for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 3).join())
      return colours.size
    })()`)
  const sending = setInterval(() => sendLevels(service, -50 - Math.round(Math.random() * 9), -20), 100)
  onTestEnd(() => clearInterval(sending))
  await eventually(countColours).toBeGreaterThan(1)
  clearInterval(sending)
  service.isSilent = true
  await page.locator('.card[data-state=stale]').waitFor()
  await eventually(countColours).toBe(1)
})

it('keeps room for the name in the table at every width', async () => {
  const service = await startService([receiver(1, [{ name: 'H01 Maximiliane' }, {}]), offline(receiver(2, [{}]))])
  const page = await browser.open(service, '/?layout=list')
  for (const width of [1920, 1440, 1200, 900, 640, 390, 320]) {
    await page.setViewportSize({ width, height: 700 })
    const name = page.locator('tbody [data-column=name] a', { hasText: 'Maximiliane' })
    await name.waitFor()
    const isCut = () =>
      page.evaluate<boolean>(`(() => {
        const cell = document.querySelector('tbody [data-column=name]')
        return cell.scrollWidth > cell.clientWidth
      })()`)
    await eventually(isCut, `${width} px`).toBe(false)
    await eventually(() => scrollsHorizontally(page), `${width} px`).toBe(false)
    await eventually(() => page.locator('thead th[data-column=state]').count(), `${width} px`).toBe(1)
  }
})

it('sorts the table by any column in both directions, and lets the user choose its columns', async () => {
  const [rack] = [receiver(1, [{}, {}, {}, null])]
  const levels = [{ rf_a: -50, rf_b: -70 }, { rf_a: -61, rf_b: -52 }, { rf_a: -55 }, {}]
  const service = await startService([withDetails(rack, levels)])
  const page = await browser.open(service, '/?layout=list')
  await page.getByRole('img', { name: '−61 dBm' }).waitFor()
  await page.getByRole('button', { name: 'RF A' }).click()
  await eventually(() => slotsOf(page)).toEqual(['2', '3', '1', '4'])
  await page.getByRole('button', { name: 'RF A' }).click()
  await eventually(() => slotsOf(page)).toEqual(['1', '3', '2', '4'])
  await eventually(() => page.locator('th[aria-sort=descending]').innerText()).toContain('RF A')
  await page.getByRole('button', { name: 'View' }).click()
  await page.getByRole('button', { name: 'Columns' }).click()
  // Not `uncheck`, because the box is unchecked only once the address has changed; the next change starts from there.
  const quality = dialog(page).getByRole('checkbox', { name: 'Quality' })
  await quality.click()
  await eventually(() => quality.isChecked()).toBe(false)
  await dialog(page).getByRole('button', { name: 'Move Name up' }).click()
  await eventually(() => findViolations(page)).toEqual([])
  await dialog(page).getByRole('button', { name: 'Close' }).click()
  const heads = async () => (await page.locator('thead th').allInnerTexts()).map((text) => text.trim())
  await eventually(heads).not.toContain('Quality')
  await eventually(async () => (await heads()).slice(0, 2)).toEqual(['Name', 'Slot'])
  await eventually(() => new URL(page.url()).searchParams.get('columns')).toMatch(/^name,slot,/)
  await page.goto(`${service.url}/?layout=list`)
  await eventually(async () => (await heads())[0]).toBe('Name')
})

it.each(['', '?layout=list'])(
  'moves by arrow keys, opens with Enter, and returns to the same place: %s',
  async (query) => {
    const service = await startService(racks(30))
    const page = await browser.open(service, `/${query}`)
    const links = page.locator('.card-link, tbody th a')
    await links.nth(119).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('singer')
    // Without the focus, the field shows the search that the list has. A page that is still being filtered forgets how
    // far it is scrolled.
    await page.getByRole('searchbox').blur()
    await eventually(() => page.getByRole('searchbox').inputValue()).toBe('singer')
    await links.nth(60).focus()
    await page.keyboard.press('ArrowDown')
    const focused = () => page.evaluate<string>('document.activeElement.getAttribute("href") ?? ""')
    const below = await focused()
    expect(Number(below.split('/').at(-1))).toBeGreaterThan(61)
    await page.keyboard.press('ArrowUp')
    await eventually(() => focused()).toContain('/channels/61')
    const top = await scrollTop(page)
    expect(top).toBeGreaterThan(0)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/channels/61')
    await page.goBack()
    await links.nth(119).waitFor()
    await eventually(() => scrollTop(page)).toBeCloseTo(top, -1)
    await eventually(() => new URL(page.url()).searchParams.get('q')).toBe('singer')
  },
)

it('prints a table of the values, black on white', async () => {
  const service = await startService([receiver(1, [{}, { battery: 15 }])])
  const page = await browser.open(service, '/')
  await page.locator('.card').first().waitFor()
  await page.emulateMedia({ media: 'print' })
  const printed = page.getByRole('row', { name: /Singer 2/ })
  await printed.waitFor()
  for (const text of ['Battery low', '15%', '−50 dBm', '540.000 MHz'])
    await eventually(() => printed.innerText()).toContain(text)
  await eventually(() => page.evaluate('getComputedStyle(document.querySelector("tbody tr")).color')).toBe(
    'rgb(0, 0, 0)',
  )
  await eventually(() => page.locator('.card').count()).toBe(0)
  await page.emulateMedia({ media: 'screen' })
  await page.locator('.card').first().waitFor()
})

it('has a compact head and large targets on a phone, and says if the screen cannot stay awake', async () => {
  const service = await startService([receiver(1, [{}, { battery: 5 }, null])])
  service.data.groups = [buildGroup(1, { title: 'Act 1 with a long name', slots: [1, 2] })]
  const page = await browser.open(service, '/?group=1', {
    ...phone,
    viewport: { width: 320, height: 640 },
    isMobile: true,
  })
  await page.locator('.card').first().waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  const heights = await page.evaluate<number[]>(`
    [...document.querySelectorAll('.toolbar > *, .card button')]
      .filter((element) => element.checkVisibility() && !element.matches('[popover]'))
      .map((element) => element.getBoundingClientRect().height)`)
  expect(heights.length).toBeGreaterThan(3)
  for (const height of heights) expect(height).toBeGreaterThanOrEqual(44)
  expect((await page.locator('.toolbar').boundingBox())?.height).toBeLessThan(60)
  await eventually(() => roomForHint(page)).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Filter (1) Act 1' }).click()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await eventually(() => page.locator('.card').count()).toBe(3)
  await page.keyboard.press('Escape')

  service.data.responses['/api/group/'] = { ...service.data.groups[0], id: 2, title: 'Act 2', slots: [1, 3] }
  await page.getByRole('button', { name: 'More options' }).click()
  await page.getByRole('button', { name: 'New group' }).click()
  await dialog(page).getByLabel('Title').fill('Act 2')
  await dialog(page).getByRole('checkbox', { name: 'Select all' }).check()
  await dialog(page).getByRole('checkbox', { name: '2 H02 Singer 2' }).uncheck()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  const created = page.waitForRequest((sent) => sent.method() === 'POST')
  await press(page, 'Add')
  expect((await created).postDataJSON()).toEqual({ title: 'Act 2', slots: [1, 3] })
  await page.waitForURL(/group=2/)
  await page.addInitScript('delete Navigator.prototype.wakeLock')
  await page.reload()
  await page.getByRole('button', { name: 'View' }).click()
  const button = page.getByRole('button', { name: /^Keep screen awake: needs HTTPS/ })
  await eventually(() => button.isDisabled()).toBe(true)
})
