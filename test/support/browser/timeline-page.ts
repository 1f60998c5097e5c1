/** Shared by the tests of the timeline: a fake service with a dropout, and locators. */

import type { Page } from 'playwright-core'
import { onTestEnd } from '../cleanup.ts'
import { eventually } from '../eventually.ts'
import type { browserForTests } from './browser.ts'
import { buildEvent } from './fake-history.ts'
import { type FakeService, receiver, startFakeService } from './fake-service.ts'

type Open = ReturnType<typeof browserForTests>['open']

const day = 86_400
export const iso = (seconds: number) => new Date(seconds * 1_000).toISOString()

/** A service with eight channels. The seventh had a dropout of 200 ms three days ago. */
export async function start() {
  const service = await startFakeService('/venue')
  onTestEnd(() => service.close())
  service.data.receivers = [receiver(1, [{}, {}, {}, {}]), receiver(2, [{}, {}, {}, {}])]
  const session = { user: null, role: 'operator', csrf_token: null, permissions: ['read', 'operate'] }
  service.data.responses['/api/auth/session'] = session
  const now = Math.floor(Date.now() / 1_000)
  // Not on a grid line, which would cover a part of it.
  const dropout = Math.floor((now - 3 * day) / 3600) * 3600 + 1807
  const { history } = service.data
  history.dropouts = [{ channelId: 7, at: dropout, ms: 200 }]
  history.events = [
    buildEvent({
      ...{ id: 1, time: iso(dropout + 0.4), until: iso(dropout + 0.6), kind: 'rf_dropout', severity: 'warning' },
      ...{ channel_id: 7, receiver_id: 2, data: { seconds: 0.2, lowest_dbm: -97 } },
    }),
  ]
  return { service, history, now, dropout }
}

export const strips = (page: Page) => page.locator('.strips-field')
export const playhead = (page: Page) => page.getByRole('slider', { name: 'Playhead' })
export const query = (page: Page) => new URL(page.url()).searchParams
export const events = (page: Page) => page.getByRole('region', { name: 'Events' })
export const zoomTo = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Zoom' }).getByRole('button', { name, exact: true }).click()

/** Opens the page, and waits until the levels of its range are drawn. */
export async function openTimeline(open: Open, service: FakeService, path: string, options: Parameters<Open>[2] = {}) {
  const page = await open(service, path, options)
  await loaded(page)
  return page
}

export async function loaded(page: Page) {
  await eventually(() => countPixels(page, '--ok-edge')).toBeGreaterThan(50)
}

/** Returns an expression for the page: the pixel of a colour of the style sheet, as a canvas stores it. */
const readColour = (token: string) => `(() => {
    const read = document.createElement('canvas').getContext('2d')
    read.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('${token}').trim()
    read.fillRect(0, 0, 1, 1)
    return new Uint32Array(read.getImageData(0, 0, 1, 1).data.buffer)[0]
  })()`

/** Counts the pixels of the strips, or of one of them, that have a colour of the style sheet. */
export function countPixels(page: Page, token: string, row?: number): Promise<number> {
  return page.evaluate<number>(`(() => {
    const strips = document.querySelector('.strips-canvas')
    const rowHeight = document.querySelector('.strips-labels li').offsetHeight * devicePixelRatio
    const colour = ${readColour(token)}
    const [top, height] = ${row === undefined ? '[0, strips.height]' : `[${row} * rowHeight, rowHeight]`}
    const { data } = strips.getContext('2d').getImageData(0, top, strips.width, height)
    return new Uint32Array(data.buffer).filter((pixel) => pixel === colour).length
  })()`)
}

/** `item` is the text of a legend item and the CSS variable of its colour: `Now --accent`. */
export function hasSwatch(page: Page, item: string): Promise<boolean> {
  const [, text = '', token = ''] = /^(.*) (--.*)$/.exec(item) ?? []
  return page.evaluate<boolean>(`(() => {
    const items = [...document.querySelectorAll('.timeline-legend li')]
    const swatch = items.find((item) => item.querySelector('span').firstChild.data === '${text}')?.querySelector('canvas')
    if (!swatch) return false
    const { data } = swatch.getContext('2d').getImageData(0, 0, swatch.width, swatch.height)
    return new Uint32Array(data.buffer).includes(${readColour(token)})
  })()`)
}

/** Waits until the address shows a range of about this length, and returns it in seconds. */
export async function rangeOf(page: Page) {
  const read = () => ['from', 'to'].map((name) => Date.parse(query(page).get(name) ?? '') / 1_000) as [number, number]
  await eventually(() => Number.isNaN(read()[0])).toBe(false)
  return read()
}

/** Returns where the pixels of a colour of the style sheet begin and end in the header, as parts of its width. */
export function findInHeader(page: Page, token: string): Promise<readonly [number, number] | null> {
  return page.evaluate<readonly [number, number] | null>(`(() => {
    const header = document.querySelector('.strips-header')
    const colour = ${readColour(token)}
    const { data } = header.getContext('2d').getImageData(0, 0, header.width, header.height)
    const columns = []
    for (const [index, pixel] of new Uint32Array(data.buffer).entries())
      if (pixel === colour) columns.push(index % header.width)
    return columns.length === 0 ? null : [Math.min(...columns) / header.width, (Math.max(...columns) + 1) / header.width]
  })()`)
}
