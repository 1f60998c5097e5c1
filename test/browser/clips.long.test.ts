/** Kept sound on the timeline and in the report of a show, in Chromium. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configFor, startApp, startShure, until } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { addClip } from '../support/clips.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { addListeningUser } from '../support/users.ts'

const browser = browserForTests()
const seconds = 10

/** A service with a clip of ten seconds, which ended a minute ago, in the middle of the range of `path`. */
async function start() {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 4 })
  const app = await startApp({ manufacturers: [configFor(simulator)], config: { audio_evidence: true } })
  const admin = await tokenHeaders(app, 'admin')
  await addListeningUser(app, 'operator')
  const [{ channels }] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers
  })
  const channel: number = channels[1].id
  const to = Math.floor(Date.now() / 1000) * 1000 - 60_000
  await addClip(app, { channel, to, seconds })
  const middle = to - (seconds * 1000) / 2
  const [from, end] = [middle - 20_000, middle + 20_000].map((at) => new Date(at).toISOString())
  const path = `/timeline?from=${from}&to=${end}`
  const played = async () => (await app.get('/api/admin/audit/?action=clip.play', admin)).json.length as number
  return { app, admin, channel, to, path, played }
}

const list = (page: Page) => page.getByRole('region', { name: 'Kept sound' })
const playhead = async (page: Page) => Date.parse(new URL(page.url()).searchParams.get('at') ?? '')

/** Clicks in the middle of the second strip, in the lane of the clips. */
async function clickClip(page: Page): Promise<void> {
  const strip = await page.locator('.strips-labels li').nth(1).boundingBox()
  const canvas = await page.locator('.strips-canvas').boundingBox()
  if (strip === null || canvas === null) throw new Error('The strips are not visible.')
  await page.mouse.click(canvas.x + canvas.width / 2, strip.y + strip.height * 0.7)
}

// Conformance: C-27.124.
it('plays a clip from where it was clicked, with the playhead, and deletes it by keyboard', async () => {
  const { app, to, path, played } = await start()
  const page = await browser.openAs(app, 'operator', path)
  await list(page).getByRole('button', { name: /^Play/ }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await clickClip(page)
  await list(page).getByRole('button', { name: /^Stop/ }).waitFor()
  await eventually(played).toBe(1)
  // The second half is played; the playhead moves until then.
  await list(page).getByRole('button', { name: /^Play/ }).waitFor()
  await eventually(() => playhead(page)).toBeGreaterThan(to - 1500)
  await eventually(() => playhead(page)).toBeLessThan(to + 1500)

  await list(page).getByRole('button', { name: /^Play/ }).focus()
  await page.keyboard.press('Enter')
  await list(page).getByRole('button', { name: /^Stop/ }).waitFor()
  await page.keyboard.press('Enter')
  await list(page).getByRole('button', { name: /^Play/ }).waitFor()
  await eventually(played).toBe(2)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await dialog(page).waitFor()
  await press(page, 'Delete')
  await list(page).waitFor({ state: 'detached' })
  expect((await app.get('/api/admin/audit/?action=clip.delete', await tokenHeaders(app, 'admin'))).json).toHaveLength(1)
})

// Conformance: C-27.124.
it('shows clips on a phone without overflow, and nothing of them without the permission', async () => {
  const { app, path } = await start()
  const operator = await browser.openAs(app, 'operator', path, phone)
  await list(operator).getByRole('button', { name: /^Play/ }).waitFor()
  await eventually(() => scrollsHorizontally(operator)).toBe(false)
  const viewer = await browser.openAs(app, 'viewer', path)
  const requested: string[] = []
  viewer.on('request', (request) => requested.push(request.url()))
  await viewer.reload()
  await viewer.locator('.strips-labels li').nth(1).waitFor()
  await viewer.getByText('Legend and keys').click()
  await viewer.locator('.timeline-legend li').first().waitFor()
  await clickClip(viewer)
  await viewer.locator('.strips-labels button[aria-expanded=true]').waitFor()
  await eventually(() => viewer.getByText('Kept sound').count()).toBe(0)
  expect(requested.filter((url) => url.includes('/api/audio/'))).toEqual([])
})

// Conformance: C-27.125.
it('is listed in the report of a show, for those who may play it', async () => {
  const { app, admin } = await start()
  const { json } = await app.post('/api/shows/', { title: 'Cabaret' }, admin)
  await app.post(`/api/shows/${json.id}/start`, {}, admin)
  const channels = (await app.get(`/api/shows/${json.id}/report/`, admin)).json.channels
  await addClip(app, { channel: channels[0].channel_id, to: Date.now() })
  const page = await browser.openAs(app, 'operator', `/reports/${json.id}`)
  await page.getByRole('heading', { name: 'Kept sound' }).waitFor()
  await page.getByRole('region', { name: 'Kept sound' }).getByRole('link').click()
  await list(page).getByRole('button', { name: /^Play/ }).waitFor()
  const viewer = await browser.openAs(app, 'viewer', `/reports/${json.id}`)
  await viewer.getByRole('heading', { name: 'Markers' }).waitFor()
  await eventually(() => viewer.getByText('Kept sound').count()).toBe(0)
})
