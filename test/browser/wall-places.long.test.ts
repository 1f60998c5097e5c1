/** The tiles of the wall keep their places and sizes, whatever happens to the channels. */

import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import type { ChannelBody, TransmitterBody } from '../../src/contract/channels.ts'
import { browserForTests } from '../support/browser/browser.ts'
import {
  condition,
  type FakeService,
  offline,
  receiver,
  startFakeService,
  withDetails,
} from '../support/browser/fake-service.ts'
import { buildSlotRecord } from '../support/builders.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

const television = { viewport: { width: 1920, height: 1080 }, screen: { width: 1920, height: 1080 } }

async function start(count: number): Promise<FakeService> {
  const service = await startFakeService('/venue')
  onTestFinished(() => service.close())
  service.data.receivers = Array.from({ length: count / 4 }, (_, index) => receiver(index + 1, [{}, {}, {}, {}]))
  return service
}

/** Slot and box of each tile of the page. */
const measureTiles = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.wall-cards > li')].map((tile) => {
    const { left, top, width, height } = tile.getBoundingClientRect()
    const slot = tile.querySelector('.card-slot [aria-hidden]')?.innerText ?? ''
    return [slot, left, top, width, height].join(' ')
  })`)

/** At once: a tile that only returns to its place has moved. */
async function expectPlaces(page: Page, before: readonly string[], name = ''): Promise<void> {
  const tiles = await measureTiles(page)
  expect(tiles, name).toEqual(before)
}

type Problem = readonly [name: string, state: string, change: () => Partial<ChannelBody>]

const [first] = receiver(1, [{}]).channels
const transmitterOf = (fields: Partial<TransmitterBody>) => receiver(1, [fields]).channels[0] ?? first
const stateOf = (...rows: Parameters<typeof condition>) => ({ ...condition(...rows), attention: true })
const withDetail = (details: NonNullable<ChannelBody['details']>) =>
  withDetails(receiver(1, [{}]), [details]).channels[0] ?? {}

const problems: readonly Problem[] = [
  ['battery critical', 'battery_critical', () => transmitterOf({ battery: 4 }) ?? {}],
  ['battery low', 'battery_low', () => transmitterOf({ battery: 15 }) ?? {}],
  ['battery died', 'battery_died', () => ({ transmitter: null, condition: stateOf('battery_died') })],
  ['RF weak', 'rf_weak', () => transmitterOf({ rf_level: -95 }) ?? {}],
  ['interference', 'interference', () => withDetail({ interference: true })],
  ['receiver offline', 'receiver_offline', () => offline(receiver(1, [{}])).channels[0] ?? {}],
  ['mute', 'muted', () => ({ ...withDetail({ muted: true }), condition: stateOf('muted') })],
  ['clipping', 'clipping', () => transmitterOf({ audio_level: 0 }) ?? {}],
  [
    'stale values',
    'stale',
    () => ({ condition: { ...stateOf('stale'), values_at: new Date(Date.now() - 95_000).toISOString() } }),
  ],
  ['no levels', 'no_levels', () => ({ condition: stateOf('no_levels') })],
  ['TX off', 'tx_off', () => ({ transmitter: null, condition: condition('tx_off') })],
  ['encryption error', 'encryption_error', () => withDetail({ encryption: 'error' })],
]

function send(service: FakeService, id: number, change: Partial<ChannelBody>) {
  const { transmitter, condition, details } = { ...transmitterOf({}), ...change }
  service.send({
    ...{ type: 'channel', id, receiver_id: Math.ceil(id / 4), details: details ?? null },
    ...(transmitter === undefined ? {} : { transmitter: transmitter && { ...transmitter, slot: id } }),
    ...(condition === undefined ? {} : { condition }),
  })
}

async function openWall(count: number): Promise<readonly [FakeService, Page]> {
  const service = await start(count)
  const page = await open(service, '/wall', television)
  await page.locator('.wall-tile').nth(11).waitFor()
  await eventually(() => page.evaluate('document.fonts.check(\'700 20px "Inter Variable"\')')).toBe(true)
  if (count > 60) {
    await page.getByRole('button', { name: 'Page 1 of 2', exact: true }).click()
    await page.getByRole('button', { name: 'Page 1 of 2, paused' }).waitFor()
  }
  return [service, page]
}

const isShown = (page: Page) => page.locator('.wall-problem').count()

it.each([12, 60, 200])('keeps the places of %i channels before, during and after every problem', async (count) => {
  const [service, page] = await openWall(count)
  const tile = page.locator('.wall-tile').nth(6)
  await eventually(() => tile.getAttribute('data-state')).toBe('ok')
  const before = await measureTiles(page)
  for (const [name, state, change] of problems) {
    send(service, 7, change())
    await eventually(() => tile.getAttribute('data-state'), name).toBe(state)
    // These conditions are older than five seconds.
    const needsAttention = (await tile.getAttribute('data-attention')) !== null
    await eventually(() => isShown(page), name).toBe(needsAttention ? 1 : 0)
    await expectPlaces(page, before, name)
    send(service, 7, {})
    await eventually(() => tile.getAttribute('data-state'), name).toBe('ok')
    await eventually(() => isShown(page), name).toBe(0)
    await expectPlaces(page, before, name)
  }
})

it('keeps the places while the service is unreachable', async () => {
  const [service, page] = await openWall(60)
  const before = await measureTiles(page)
  service.isDown = true
  await page.locator('.wall-tile[data-state=stale]').nth(59).waitFor()
  await expectPlaces(page, before)
  service.isDown = false
  await page.locator('.wall-tile[data-state=ok]').nth(59).waitFor()
  await expectPlaces(page, before)
})

it.each([12, 60])('keeps the places of %i channels while people and packs come and go', async (count) => {
  const [service, page] = await openWall(count)
  const names = page.locator('.wall-name')
  const before = await measureTiles(page)
  const sizeOf = () => page.evaluate<string>("getComputedStyle(document.querySelector('.wall-name')).fontSize")
  const size = await sizeOf()

  const title = 'Hans-Ulrich von Schachtenbrunn-Katzenellenbogen the Younger'
  const records = [3, 4, 9].map((slot) =>
    buildSlotRecord(slot, { title, title_from: 'performer', performer: { id: slot, name: title, picture: null } }),
  )
  service.send({ type: 'slot_records', slots: records, removed: [] })
  await eventually(() => names.filter({ hasText: 'Hans-Ulrich' }).count()).toBe(3)
  await expectPlaces(page, before)
  if (count > 12) await eventually(sizeOf).toBe(size)

  const free = records.map((record) => ({
    ...record,
    title: 'H03',
    title_from: 'transmitter' as const,
    performer: null,
  }))
  service.send({ type: 'slot_records', slots: free, removed: [] })
  await eventually(() => names.filter({ hasText: 'Hans-Ulrich' }).count()).toBe(0)
  await expectPlaces(page, before)

  // The slots of a removed receiver stay free.
  const placesOf = (tiles: readonly string[]) => tiles.map((tile) => tile.slice(tile.indexOf(' ')))
  service.send({ type: 'receiver_removed', id: 2 })
  await eventually(() => page.locator('.wall-tile').count()).toBe(count - 4)
  const places = placesOf(await measureTiles(page))
  expect(places).toEqual(placesOf(before))
  service.send({ type: 'receiver_added', receiver: receiver(2, [{}, {}, {}, {}]) })
  await eventually(() => page.locator('.wall-tile').count()).toBe(count)
  await expectPlaces(page, before)
})

it('fits nine names in ten on one line, and the others on two', async () => {
  const service = await start(12)
  const people = ['Jacqueline Quist', 'نورة بنت عبد الله', 'Jürgen Gygax', 'Åse Øygard', 'Mic']
  service.data.slotRecords = Array.from({ length: 12 }, (_, index) => {
    const title = index === 5 ? `${'Æ'.repeat(30)} ${'g'.repeat(29)}` : (people[index % people.length] ?? '')
    return buildSlotRecord(index + 1, { title, title_from: 'performer' })
  })
  const page = await open(service, '/wall', television)
  await page.locator('.wall-tile').nth(11).waitFor()
  /** Number of lines of each name, negative if it is truncated; 0 if it extends beyond its tile. */
  const linesOf = () =>
    page.evaluate<number[]>(`[...document.querySelectorAll('.wall-tile')].map((tile) => {
      const name = tile.querySelector('.wall-name')
      const start = tile.querySelector('.wall-name-start')
      const size = parseFloat(getComputedStyle(name).fontSize)
      const box = name.getBoundingClientRect()
      const { top, right } = tile.getBoundingClientRect()
      if (box.top < top - 0.2 * size || box.right > right) return 0
      const lines = Math.round((box.height / size - 0.24) / 0.97)
      const isCut = start.scrollWidth > start.clientWidth + 1 || name.scrollHeight > name.clientHeight + 0.5 * size
      return isCut ? -lines : lines
    })`)
  await eventually(async () => (await linesOf()).filter((lines) => lines === 1).length).toBe(11)
  const lines = await linesOf()
  expect(Math.abs(lines[5] ?? 0)).toBe(2)
  expect(lines.filter((count) => count < 1)).toHaveLength(lines[5] === -2 ? 1 : 0)
})

// Conformance: C-21.111.
it('has nothing in a kiosk that can be focused', async () => {
  const service = await start(60)
  send(service, 7, { condition: stateOf('battery_critical') })
  const page = await open(service, '/wall?kiosk=1', television)
  await page.locator('.wall-tile').nth(59).waitFor()
  for (let press = 0; press < 5; press++) await page.keyboard.press('Tab')
  await eventually(() => page.evaluate('document.activeElement === document.body')).toBe(true)
  const controls = page.locator('a, button, input, select, textarea, summary, [tabindex], [role=button]')
  await eventually(() => controls.count()).toBe(0)
})
