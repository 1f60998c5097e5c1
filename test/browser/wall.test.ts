/** The wall in a browser: all channels fit on every screen, in letters that can be read from a distance. */

import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { browserForTests, dialog, findViolations, phone, press } from '../support/browser/browser.ts'
import {
  condition,
  type FakeService,
  offline,
  receiver,
  sendLevels,
  startFakeService,
  update,
} from '../support/browser/fake-service.ts'
import { buildGroup, buildSlotRecord } from '../support/builders.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

async function start(channels: number, transmitter: Parameters<typeof receiver>[1][number] = {}): Promise<FakeService> {
  const service = await startFakeService('/venue')
  onTestFinished(() => service.close())
  const names = ['Elsbeth', 'Maria', 'Black', 'Bart', 'Ågot', 'Li', 'Noor', 'Jörg', 'Paul', 'Kim', 'Guy', 'Ayşe']
  const nameOf = (index: number) => (index % 12 === 11 ? 'W'.repeat(60) : (names[index % names.length] ?? ''))
  service.data.receivers = Array.from({ length: Math.ceil(channels / 4) }, (_, index) =>
    receiver(
      index + 1,
      Array.from({ length: Math.min(4, channels - index * 4) }, (_, channel) => ({
        name: `H${index} ${nameOf(index + channel)}`,
        ...transmitter,
      })),
    ),
  )
  return service
}

/** Describes the tiles that extend beyond the screen, and those whose content extends beyond them. */
const findOverflows = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.wall .card')].flatMap((card) => {
    const { left, top, right, bottom } = card.getBoundingClientRect()
    const overflows = left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5
    const isCut = [...card.querySelectorAll('.wall-name, .wall-status, .meters, .level-bars, .chart, .wall-foot')].some((part) => {
      const box = part.getBoundingClientRect()
      // The padding of a name is for descenders and accents.
      const spare = part.matches('.wall-name') ? parseFloat(getComputedStyle(part).fontSize) * 0.17 : 0
      return box.top + spare < top - 1 || box.bottom - spare > bottom + 1 || box.right > right + 1
    })
    return overflows || isCut ? [card.innerText + (overflows ? ' extends beyond the screen' : ' is cut')] : []
  })`)

/** Returns the number of pages that the page indicator names, and the number that the tiles need. */
async function countPages(page: Page, count: number): Promise<readonly [named: number, needed: number]> {
  const shown = await page.locator('.wall .card').count()
  const [, pages = '1'] = /of (\d+)/.exec(await page.locator('.status-line').innerText()) ?? []
  return [Number(pages), Math.ceil(count / shown)]
}

const shapes = [
  { width: 1920, height: 1080 },
  { width: 1080, height: 1920 },
  { width: 1366, height: 600 },
  { width: 844, height: 390 },
]

it.each([8, 60, 140])(
  'fits %i channels on every screen shape',
  async (count) => {
    const service = await start(count)
    const page = await open(service, '/wall')
    for (const viewport of shapes) {
      await page.setViewportSize(viewport)
      await page.locator('.wall .card').first().waitFor()
      await eventually(async () => {
        const [named, needed] = await countPages(page, count)
        return named - needed
      }).toBe(0)
      await eventually(async () => (await findOverflows(page)).join()).toBe('')
      const size = () =>
        page.evaluate<number[]>('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]')
      await eventually(size).toEqual([viewport.width, viewport.height])
    }
  },
  60_000,
)

it('scrolls on a phone, in readable letters', async () => {
  const service = await start(60, { battery: 8 })
  const page = await open(service, '/wall', phone)
  await eventually(() => page.locator('.wall .card').count()).toBe(60)
  await eventually(() => page.evaluate<number>('document.documentElement.scrollHeight')).toBeGreaterThan(1_100)
  await eventually(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  const sizeOf = (selector: string) =>
    page.evaluate<number>(`parseFloat(getComputedStyle(document.querySelector('${selector}')).fontSize)`)
  await eventually(() => sizeOf('.wall-name')).toBeGreaterThanOrEqual(20)
  await eventually(() => sizeOf('.wall-battery-text')).toBeGreaterThanOrEqual(13)
  // Problems and status line stay in view.
  await page.mouse.wheel(0, 5_000)
  await eventually(() => page.evaluate<number>('scrollY')).toBeGreaterThan(200)
  const strip = await page.locator('.wall-problem').first().boundingBox()
  expect(strip?.y).toBeLessThan(844)
})

it('truncates no slot and no icon for any number of channels and states', async () => {
  const service = await start(132, { battery: 8, rf_level: -95, audio_level: 0 })
  service.data.receivers = service.data.receivers.map((item) => (item.id % 2 === 0 ? item : offline(item)))
  const page = await open(service, '/wall', { viewport: { width: 1920, height: 1080 } })
  await page.locator('.card[data-state=receiver_offline]').nth(67).waitFor()
  const findTruncated = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll('.card')].flatMap((card) => {
      const slot = card.querySelector('.card-slot').getBoundingClientRect()
      const flags = card.querySelector('.flags').getBoundingClientRect()
      const icons = [...card.querySelectorAll('.flag')].map((icon) => icon.getBoundingClientRect())
      const visible = icons.filter((icon) => icon.top < flags.bottom - 1)
      const isComplete = visible.length === 0 || slot.right <= flags.left && visible.every((icon) => icon.left >= flags.left - 0.5)
      return isComplete ? [] : [card.innerText + ': ' + visible.length]
    })`)
  await eventually(findTruncated).toEqual([])
})

it('shows controls only while the pointer moves', async () => {
  const service = await start(4)
  const page = await open(service, '/wall')
  await page.locator('.card').first().waitFor()
  await eventually(() => page.locator('.wall-field :is(a, button), .wall-tools').count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'QR code of this view' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await eventually(() => help.locator('kbd').allInnerTexts()).toEqual(['?', '0–9', 'd', 'f', 'q', 'g', 'c', 'm', 'Esc'])
})

it('shows a group in its order with planned and blank slots', async () => {
  const service = await start(4)
  service.data.groups = [buildGroup(2, { title: 'Band', slots: [3, 65_001, 9, 1], hide_charts: true })]
  const page = await open(service, '/wall?group=2&layout=sideways&detail=everything&theme=pink')
  const listSlots = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll('.wall-cards > li')].map((item) =>
      item.matches('.spacer') ? 'blank' : item.querySelector('.card-slot [aria-hidden]').innerText)`)
  await eventually(listSlots).toEqual(['3', 'blank', '9', '1'])
  await eventually(() => page.locator('.planned').innerText()).toContain('Planned')
  await eventually(() => page.locator('.chart').count()).toBe(0)
  await eventually(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
})

it('applies the detail setting', async () => {
  const service = await start(4)
  const page = await open(service, '/wall')
  await eventually(() => page.locator('.wall .chart').count()).toBe(4)
  await page.goto(`${service.url}/wall?detail=status`)
  await page.locator('.card').first().waitFor()
  await eventually(() => page.locator('.meters, .chart, .wall-foot').count()).toBe(0)
})

it('describes the bars of a tile to a screen reader in numbers', async () => {
  const service = await start(4)
  const page = await open(service, '/wall?detail=status')
  const bars = page.locator('.wall-tile').first().getByRole('img', { name: /^RF/ })
  for (const [rf, audio] of [
    [62, 18],
    [81, 30],
  ] as const) {
    const read = () => {
      sendLevels(service, -rf, -audio)
      return bars.getAttribute('aria-label')
    }
    await eventually(read).toBe(`RF −${rf} dBm, audio −${audio} dBFS`)
  }
})

it('animates alarms only, and nothing with reduced motion', async () => {
  const service = await start(4)
  service.data.receivers = [receiver(1, [{}, { battery: 15 }, { battery: 5 }, { rf_level: -95 }])]
  const page = await open(service, '/wall', { reducedMotion: 'no-preference' })
  await page.locator('.card[data-state=battery_critical]').waitFor()
  const countAnimations = () => page.evaluate<number>('document.getAnimations().length')
  await eventually(() => countAnimations()).toBe(1)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await eventually(countAnimations).toBe(0)
})

it('shows performer names and pictures', async () => {
  const service = await start(2)
  const picture =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const name = '<b>Anna Netrebko</b>'
  const performer = { id: 5, name, picture }
  service.data.slotRecords = [buildSlotRecord(2, { title: name, title_from: 'performer', performer, color: 'teal' })]
  const page = await open(service, '/wall')
  const card = page.locator('.card', { hasText: '<b>Anna Netrebko</b>' })
  await card.waitFor()
  await eventually(() => card.locator('.card-slot').innerText()).toMatch(/2\s*Teal$/i)
  await eventually(() => page.evaluate("document.querySelector('.card img').naturalWidth")).toBe(1)
  await page.keyboard.press('g')
  await eventually(() => card.locator('img').count()).toBe(0)
})

it('marks all values as stale with their age when the service is unreachable, and recovers automatically', async () => {
  const service = await start(60)
  const page = await open(service, '/wall')
  await page.locator('.card[data-state=ok]').first().waitFor()
  service.isDown = true
  await eventually(() => page.locator('.card[data-state=stale]').count()).toBe(60)
  const age = async () => Number(/are (\d+) sec old/.exec(await page.locator('.banner').innerText())?.[1])
  const first = await age()
  await eventually(age).toBeGreaterThan(first)
  await eventually(async () => (await findOverflows(page)).join()).toBe('')
  service.isDown = false
  await eventually(() => page.locator('.card[data-state=ok]').count()).toBe(60)
  await eventually(() => page.locator('.banner').count()).toBe(0)
})

const television = { viewport: { width: 1920, height: 1080 } }

/** Measures the height of a capital letter in pixels. */
const capHeight = (page: Page, selector: string) =>
  page.evaluate<number>(`document.fonts.ready.then(() => {
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(document.querySelector('${selector}'))
    const context = document.createElement('canvas').getContext('2d')
    context.font = fontWeight + ' 1000px ' + fontFamily
    return context.measureText('H').actualBoundingBoxAscent / 1000 * parseFloat(fontSize)
  })`)

it('draws names at 1/200 of the viewing distance while the count allows, and never below 1/350', async () => {
  for (const count of [8, 60, 103, 199, 263]) {
    const service = await start(count)
    const page = await open(service, '/wall', television)
    await page.locator('.wall-tile').nth(7).waitFor()
    await eventually(() => page.evaluate('document.fonts.check(\'700 20px "Inter Variable"\')')).toBe(true)
    await eventually(() => page.locator('.wall-page').count()).toBe(count > 132 ? 1 : 0)
    // The sizes change once more when the typeface is loaded, and when the room for the tiles is measured.
    const least = count <= 60 ? 40 : 23
    await eventually(() => capHeight(page, '.wall-name'), `${count} channels`).toBeGreaterThanOrEqual(least)
    const countSizes = () =>
      page.evaluate<number>(
        "new Set([...document.querySelectorAll('.wall-name')].map((name) => getComputedStyle(name).fontSize)).size",
      )
    await eventually(countSizes, `${count} channels`).toBe(1)
    const moreThanHalf = async () =>
      (await capHeight(page, '.wall-battery-text')) - (await capHeight(page, '.wall-name')) / 2
    await eventually(moreThanHalf, `${count} channels`).toBeGreaterThanOrEqual(-0.01)
    await eventually(() => capHeight(page, '.wall-name'), `${count} channels`).toBeGreaterThanOrEqual(least)
    await page.close()
  }
})

it('turns pages every ten seconds, with the strip of problems on each, until it is paused', async () => {
  const service = await start(263)
  service.data.receivers = service.data.receivers.map((item) => (item.id === 60 ? offline(item) : item))
  const page = await open(service, '/about', television)
  await page.clock.install()
  await page.goto(`${service.url}/wall`)
  const numbers: number[] = []
  for (const number of ['1', '2']) {
    await page.getByRole('button', { name: `Page ${number} of 2` }).waitFor()
    numbers.push(...(await page.locator('.wall-tile .card-slot > [aria-hidden]').allInnerTexts()).map(Number))
    await eventually(() => page.locator('.wall-problem').allInnerTexts()).toEqual([
      '237–240 Rack 60: check power and network',
    ])
    if (number === '1') await page.clock.runFor(10_000)
  }
  expect(numbers).toEqual(Array.from({ length: 263 }, (_, index) => index + 1))
  await page.getByRole('button', { name: 'Page 2 of 2' }).click()
  await page.clock.runFor(30_000)
  await eventually(() => page.getByRole('button', { name: 'Page 2 of 2, paused' }).getAttribute('aria-pressed')).toBe(
    'true',
  )
})

it('changes the density, and remembers it', async () => {
  const service = await start(60)
  const page = await open(service, '/wall', television)
  await page.locator('.wall-tile').nth(59).waitFor()
  const before = await capHeight(page, '.wall-name')
  await page.mouse.move(300, 300)
  await page.getByLabel('Size').selectOption('Small')
  await eventually(() => capHeight(page, '.wall-name')).toBeLessThan(before)
  await eventually(() => new URL(page.url()).search).toBe('?density=s')
  await page.goto(`${service.url}/wall`)
  await eventually(() => capHeight(page, '.wall-name')).toBeLessThan(before)
})

it('changes the group by touch, and creates one', async () => {
  const service = await start(8)
  service.data.groups = [buildGroup(2, { title: 'Band', slots: [3, 1] })]
  const page = await open(service, '/wall', phone)
  await page.locator('.wall-tile').nth(7).waitFor()
  const listSlots = () => page.locator('.wall-tile .card-slot > [aria-hidden]').allInnerTexts()
  await page.touchscreen.tap(100, 100)
  await page.getByRole('button', { name: 'Band' }).tap()
  await eventually(listSlots).toEqual(['3', '1'])
  await eventually(() => new URL(page.url()).search).toBe('?group=2')
  await page.getByRole('button', { name: 'All', exact: true }).tap()
  await eventually(listSlots).toHaveLength(8)

  const act = buildGroup(5, { title: 'Act 1', slots: [2, 4] })
  service.data.responses['/api/group/'] = act
  await page.getByRole('button', { name: 'New group' }).tap()
  await eventually(() => findViolations(page)).toEqual([])
  await dialog(page).getByLabel('Title').fill('Act 1')
  await press(page, 'Add')
  await dialog(page).getByText('Select at least one channel.').waitFor()
  for (const slot of ['2', '4'])
    await dialog(page)
      .getByRole('checkbox', { name: new RegExp(`^${slot} `) })
      .check()
  service.send({ type: 'groups', groups: [...service.data.groups, act] })
  await press(page, 'Add')
  await eventually(listSlots).toEqual(['2', '4'])
})

it('shows placeholders in their slots, blank ones as empty space, and the running show', async () => {
  const service = await start(3)
  service.data.placeholders = [
    { kind: 'wired' as const, name: 'Lectern', frequency: null },
    { kind: 'iem' as const, name: 'Drums', frequency: '606.000' },
    { kind: 'blank' as const, name: '', frequency: null },
  ].map((placeholder, index) => ({
    ...{ id: index + 1, slot: 40 + index, note: '', version: 1, condition: condition('unmonitored') },
    ...placeholder,
  }))
  service.data.groups = [buildGroup(2, { title: 'Act', slots: [41, 42, 1, 40] })]
  service.data.shows = [
    {
      ...{ id: 4, title: 'Tosca', starts_at: null, ends_at: null, state: 'running', group_ids: [], notes: '' },
      ...{ started_at: new Date().toISOString(), ended_at: null, version: 1 },
    },
  ]
  const page = await open(service, '/wall?group=2', television)
  const list = () =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('.wall-cards > li')].map((item) => item.querySelector('.wall-name')?.innerText ?? '')",
    )
  await eventually(list).toEqual(['Drums', '', 'Elsbeth', 'Lectern'])
  await page.locator('.status-line').getByText('Tosca').waitFor()
  await eventually(() => page.locator('.wall-tile[data-state=unmonitored]').first().innerText()).toContain(
    '606.000 MHz',
  )
})

it('shows the time left instead of the percentage where it is known', async () => {
  const service = await start(4)
  const page = await open(service, '/wall', television)
  await page.locator('.wall-tile').nth(3).waitFor()
  update(service, [{ battery: 60, details: { battery_minutes: 80 } }, { battery: 60 }])
  await eventually(() => page.locator('.wall-battery-text').allInnerTexts()).toEqual(
    expect.arrayContaining(['1 h 20', '60%']),
  )
})

// Conformance: C-21.111.
it.each(['/wall?kiosk=1', '/?kiosk=1', '/?kiosk=1&layout=list', '/admin?kiosk=1'])(
  'shows no control in a kiosk, even to administrators: %s',
  async (path) => {
    const service = await start(4, { battery: 5 })
    const page = await open(service, path, television)
    await page.locator('.status-line').getByText('4 channels · 4 causes').waitFor()
    await page.mouse.move(50, 50)
    await page.keyboard.press('d')
    await page.keyboard.press('?')
    await eventually(() => page.locator('a, button, input, select, [role=button]').count()).toBe(0)
    await eventually(() => new URL(page.url()).searchParams.get('kiosk')).toBe('1')
    await eventually(() => findViolations(page)).toEqual([])
  },
)
