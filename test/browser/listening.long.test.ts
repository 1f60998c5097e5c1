/** The player in Chromium. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configFor, startApp, startShure, type TestApp, until } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { lanAddress } from '../support/network/lan-address.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { addTones } from '../support/tones.ts'
import { addListeningUser } from '../support/users.ts'

const browser = browserForTests()

async function start() {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 4 })
  const config = { listening: true, listening_without_tls: true, server: { host: '0.0.0.0' } }
  const app = await startApp({ manufacturers: [configFor(simulator)], config })
  const admin = await tokenHeaders(app, 'admin')
  await addListeningUser(app, 'operator')
  const [{ channels }] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers
  })
  const ids: readonly number[] = channels.map(({ id }: { id: number }) => id)
  const stream = await addTones(app, admin)
  for (const [index, id] of ids.slice(0, 2).entries())
    await app.put(`/api/channels/${id}/audio/`, { stream_id: stream, channel: index + 1 }, admin)
  return { app, admin, ids }
}

const bar = (page: Page) => page.getByRole('region', { name: 'Player' })

/** Runs in the page before its scripts: everything that is played also passes through an analyser. */
const tap = `
  const { connect } = AudioNode.prototype
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      window.tap = target.context.createAnalyser()
      window.tap.fftSize = 32768
      connect.call(this, window.tap)
    }
    return connect.call(this, target, ...rest)
  }`

/** Steps that the tone does not have. */
const largestStep = 0.5 * 2 * Math.PI * (997 / 48_000) * 1.1

interface Measured {
  readonly hz: number
  readonly dbfs: number
  readonly hasClick: boolean
}

/** Measures the last 0.7 s. */
function measure(page: Page): Promise<Measured> {
  return page.evaluate<Measured>(`(() => {
    const samples = new Float32Array(window.tap.fftSize)
    window.tap.getFloatTimeDomainData(samples)
    const crossings = []
    let [sum, step] = [0, 0]
    for (let i = 1; i < samples.length; i++) {
      const [before, after] = [samples[i - 1], samples[i]]
      if (before < 0 && after >= 0) crossings.push(i - after / (after - before))
      sum += after * after
      step = Math.max(step, Math.abs(after - before))
    }
    const periods = (crossings.length - 1) / (crossings.at(-1) - crossings[0])
    return {
      hz: periods * window.tap.context.sampleRate,
      dbfs: 10 * Math.log10((2 * sum) / samples.length),
      hasClick: step > ${largestStep},
    }
  })()`)
}

const outputs = [
  { host: () => 'localhost', isSecure: true },
  { host: lanAddress, isSecure: false },
] as const

// Conformance: C-27.121.
it.each(outputs)('plays a tone unchanged (secure: $isSecure)', async ({ host, isSecure }) => {
  const { app, ids } = await start()
  const service: TestApp = { ...app, url: `http://${host()}:${app.port}` }
  const page = await browser.openAs(service, 'operator', '/about')
  await page.context().addInitScript(tap)
  await page.goto(`${service.url}/channels/${ids[0]}`)
  await eventually(() => page.evaluate('isSecureContext')).toBe(isSecure)
  await page
    .getByRole('button', { name: /^Listen to / })
    .first()
    .click()
  await eventually(() => page.evaluate<boolean>('window.tap !== undefined')).toBe(true)
  await eventually(async () => {
    const { hz, dbfs } = await measure(page)
    return Math.abs(hz - 997) < 2 && Math.abs(dbfs + 6.02) < 1
  }).toBe(true)
  // A busy machine may interrupt the sound for some time.
  await eventually(async () => {
    let clicks = 0
    for (let i = 0; i < 10; i++) {
      await page.waitForTimeout(700)
      if ((await measure(page)).hasClick) clicks += 1
    }
    return clicks
  }).toBeLessThanOrEqual(1)
  await eventually(() => bar(page).getByRole('status').innerText()).toMatch(/\d+ ms/)
  console.log(`${isSecure ? 'worklet' : 'ScriptProcessor'}: ${await bar(page).getByRole('status').innerText()}`)
  await bar(page).getByRole('button', { name: /^Stop/ }).click()
  await eventually(() => app.service.listening.list()).toEqual([])
})

// Conformance: C-27.123.
it('ends at "Not now", which all pages show as a crossed ear', async () => {
  const { app, admin, ids } = await start()
  const ends_at = new Date(Date.now() + 4 * 3_600_000).toISOString()
  const show = (await app.post('/api/shows/', { title: 'Evening show', ends_at }, admin)).json
  const page = await browser.openAs(app, 'operator', `/channels/${ids[0]}`)
  await page
    .getByRole('button', { name: /^Listen to / })
    .first()
    .click()
  await eventually(() => app.service.listening.list().length).toBe(1)
  await page.getByRole('button', { name: 'Not now' }).click()
  await eventually(() => app.service.listening.list()).toEqual([])
  await bar(page).getByText('Not now').waitFor()
  const check = `/check?show=${show.id}`
  const ofChannel = [`/channels/${ids[0]}`, `/timeline?channel=${ids[0]}`, `${check}&channel=${ids[0]}`]
  for (const path of ['/', '/?layout=list', '/wall', check, ...ofChannel]) {
    const other = await browser.openAs(app, 'viewer', path)
    await other.locator('.sound-mark[data-not-now]').first().waitFor()
    await other.context().close()
  }
  await page.getByRole('button', { name: 'Allow listening again' }).click()
  await page.locator('.sound-mark[data-not-now]').waitFor({ state: 'detached' })
})

// Conformance: C-27.46.
it('plays while the button is held, and loads nothing of the player for users without the permission', async () => {
  const { app, ids } = await start()
  const viewer = await browser.openAs(app, 'viewer', '/')
  await viewer.waitForLoadState('networkidle')
  const names = await viewer.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)")
  expect(names.filter((name) => /\/(listening-bar|playout)/.test(name))).toEqual([])
  const page = await browser.openAs(app, 'operator', `/channels/${ids[1]}`)
  await page
    .getByRole('button', { name: /^Listen to / })
    .first()
    .waitFor()
  await page.keyboard.press('l')
  await eventually(() => app.service.listening.list().length).toBe(1)
  await page.keyboard.press('l')
  await eventually(() => app.service.listening.list().length).toBe(0)
  const button = bar(page).getByRole('button', { name: /^Listen/ })
  await button.hover()
  await page.mouse.down()
  await eventually(() => app.service.listening.list().length).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 600))
  await page.mouse.up()
  await eventually(() => app.service.listening.list().length).toBe(0)
})
