/** Alarm sound, notifications and full screen in a browser. */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { browserForTests } from '../support/browser/browser.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { type FakeService, receiver, startFakeService, update } from '../support/browser/fake-service.ts'
import { setHistory } from '../support/browser/recorded-story.ts'
import { buildAlert } from '../support/builders.ts'
import { eventually } from '../support/eventually.ts'

const { open } = browserForTests()

async function start(): Promise<FakeService> {
  const service = await startFakeService('/venue')
  onTestFinished(() => service.close())
  service.data.receivers = [receiver(1, [{}, {}])]
  return service
}

type AlertFields = NonNullable<Parameters<typeof buildAlert>[0]>

const data = { ...buildAlert().data, name: 'H01 Singer 1', slot: 1, battery: 18, receiver: 'Rack 1' }

/** Announces an alert of channel 1. */
function sendAlert(service: FakeService, fields: AlertFields = {}) {
  service.send({ type: 'alert', ...buildAlert({ data, ...fields }) })
}

/** Records the pitch of every tone that the page starts from its next load on. */
async function recordTones(page: Page) {
  await page.addInitScript(`
    globalThis.tones = []
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (when) {
      tones.push(this.frequency.value)
      start.call(this, when)
    }`)
  await page.reload()
  await page.locator('.card').first().waitFor()
}
const tones = (page: Page) => page.evaluate<number[]>('tones')
const critical = [880, 660, 880, 660]
const warning = [660, 660]
const soundButton = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

it('repeats while alerts are raised, and ends when they are acknowledged or snoozed on another screen', async () => {
  const service = await start()
  const page = await open(service, '/')
  await recordTones(page)
  sendAlert(service)
  await page.getByRole('link', { name: '1 open alert' }).waitFor()
  await eventually(() => tones(page)).toEqual([])

  // The alert that is open already sounds at once.
  await soundButton(page, 'Sound off').click()
  await eventually(() => tones(page)).toEqual(warning)
  await eventually(() => tones(page)).toEqual([...warning, ...warning])

  // A second alert sounds at once, although the first one sounded a moment ago.
  sendAlert(service, { id: 5, kind: 'battery_died', severity: 'critical', channel_id: 2 })
  await eventually(() => tones(page)).toEqual([...warning, ...warning, ...critical])
  sendAlert(service, { state: 'acknowledged', acknowledged_by: 'ann', acknowledged_at: '2026-11-20T19:01:00.000Z' })
  sendAlert(service, { id: 5, kind: 'battery_died', state: 'snoozed', channel_id: 2, snoozed_until: 'cleared' })
  await page.getByRole('link', { name: '1 open alert' }).waitFor()
  // Acknowledged and snoozed alerts stay visible.
  await page.getByRole('link', { name: '1 open alert' }).click()
  await page.getByRole('heading', { name: 'Battery died' }).waitFor()
  await page.getByRole('button', { name: 'Acknowledged 1' }).click()
  await page.getByText('Acknowledged by ann').waitFor()
  await eventually(() => tones(page)).toHaveLength(8)
})

it('is silent after an interruption for alerts that others have acknowledged meanwhile', async () => {
  const service = await start()
  const page = await open(service, '/')
  await recordTones(page)
  await soundButton(page, 'Sound off').click()
  await eventually(() => tones(page)).toEqual(critical)

  service.isDown = true
  await page.getByRole('alert').first().waitFor()
  const connections = service.connections.length
  service.data.alerts = [buildAlert({ data })]
  service.isDown = false
  await eventually(() => service.connections.length).toBeGreaterThan(connections)
  sendAlert(service, { state: 'acknowledged', acknowledged_by: 'ann', acknowledged_at: '2026-11-20T19:01:00.000Z' })
  sendAlert(service, { id: 5, kind: 'battery_died', severity: 'critical', channel_id: 2 })
  await eventually(() => tones(page)).toEqual([...critical, ...critical])
})

// Conformance: C-12.92.
it('is silent during a replay, and sounds when the user returns to live', async () => {
  const service = await start()
  setHistory(service, { secondOf: () => ({ letter: '1' }) })
  const page = await open(service, '/')
  await recordTones(page)
  await soundButton(page, 'Sound off').click()
  await eventually(() => tones(page)).toEqual(critical)
  await page.goto(`${service.url}/?at=${new Date(Date.now() - 600_000).toISOString()}`)
  await page.getByRole('region', { name: 'Replay' }).waitFor()
  sendAlert(service)
  update(service, [{ battery: 18 }, {}])
  const back = page.getByRole('link', { name: 'Back to live: 1 needs attention' })
  await back.waitFor()
  await eventually(() => tones(page)).toEqual([])
  await back.click()
  await eventually(() => tones(page)).toEqual(warning)
})

// The headless shell, in which the other tests run, has no autoplay policies and no notifications.
describe('the complete browser', () => {
  const policies = ['document-user-activation-required', 'no-user-gesture-required'] as const
  const browsers = new Map<string, Browser>()

  beforeAll(async () => {
    for (const policy of policies) browsers.set(policy, await launchChromium([`--autoplay-policy=${policy}`]))
  })
  afterAll(() => Promise.all([...browsers.values()].map((browser) => browser.close())))

  async function openWith(
    policy: (typeof policies)[number],
    service: FakeService,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const context = await browsers.get(policy)?.newContext(options)
    if (context === undefined) throw new Error(`no browser with ${policy}`)
    const page = await context.newPage()
    await page.goto(`${service.url}/`)
    return page
  }

  async function openWithSound(policy: (typeof policies)[number], service: FakeService): Promise<Page> {
    const page = await openWith(policy, service)
    await page.evaluate('localStorage.setItem("micwatch.sound", "on")')
    await recordTones(page)
    return page
  }

  it('blocks the sound until the user clicks, and the status line says so', async () => {
    const service = await start()
    const page = await openWithSound('document-user-activation-required', service)
    const blocked = soundButton(page, 'Sound blocked by the browser: click to enable')
    await blocked.waitFor()
    sendAlert(service)
    await page.getByRole('link', { name: '1 open alert' }).waitFor()
    await eventually(() => tones(page)).toEqual([])
    await blocked.click({ delay: 150 })
    await soundButton(page, 'Sound on').waitFor()
    await eventually(() => tones(page)).toEqual(warning)
    await eventually(() => page.evaluate('localStorage.getItem("micwatch.sound")')).toBe('on')
  })

  it('allows the sound without a click, so that an untouched page can sound the alarm', async () => {
    const service = await start()
    const page = await openWithSound('no-user-gesture-required', service)
    await soundButton(page, 'Sound on').waitFor()
    sendAlert(service, { severity: 'critical' })
    await eventually(() => tones(page)).toEqual(critical)
  })

  it('sends a notification with the name and the reason, once for each alert', async () => {
    const service = await start()
    const page = await openWith('no-user-gesture-required', service, { permissions: ['notifications'] })
    await page.addInitScript(`
      globalThis.notified = []
      globalThis.Notification = class extends Notification {
        constructor(title, options) {
          super(title, options)
          notified.push([title, options.body, options.tag].join(' | '))
        }
      }`)
    await page.reload()
    await page.locator('.card').first().waitFor()
    const notified = () => page.evaluate<string[]>('notified')
    const notificationsButton = page.locator('.more button', { hasText: 'Notifications' })
    await page.getByRole('button', { name: 'More options' }).click()
    await notificationsButton.click()
    await eventually(() => notificationsButton.getAttribute('aria-pressed')).toBe('true')
    sendAlert(service)
    const first = '1 H01 Singer 1: Battery low | 18% | micwatch-4'
    await eventually(notified).toEqual([first])
    sendAlert(service, { data: { ...data, battery: 17 } })
    sendAlert(service, { id: 5, kind: 'encryption_error', channel_id: 2, data: { ...data, name: 'H02 Singer 2' } })
    await eventually(notified).toEqual([
      first,
      expect.stringMatching(/^1 H02 Singer 2: Encryption error \| .*micwatch-5$/),
    ])

    await notificationsButton.click()
    await eventually(() => notificationsButton.getAttribute('aria-pressed')).toBe('false')
    sendAlert(service, { id: 6, kind: 'rf_weak' })
    await page.getByRole('link', { name: '3 open alerts' }).waitFor()
    await eventually(() => notified()).toHaveLength(2)
  })
})

it('sounds only for the kinds and groups chosen on this device, and plays a test', async () => {
  const service = await start()
  const page = await open(service, '/')
  await recordTones(page)
  await page.getByRole('link', { name: 'Alerts', exact: true }).click()
  await page.getByRole('button', { name: 'Alarm sound…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Alarm sound on this device' })
  await dialog.getByRole('button', { name: 'Test' }).click()
  await eventually(() => tones(page)).toEqual(critical)
  await dialog.getByRole('button', { name: 'Sound off' }).click()
  await eventually(() => tones(page)).toEqual([...critical, ...critical])
  await dialog.getByRole('checkbox', { name: 'Battery low' }).uncheck()
  await dialog.getByRole('button', { name: 'Close' }).click()

  sendAlert(service)
  await page.getByRole('heading', { name: 'Battery low' }).waitFor()
  await eventually(() => tones(page)).toHaveLength(8)
  sendAlert(service, { kind: 'encryption_error' })
  await eventually(() => tones(page)).toEqual([...critical, ...critical, ...warning])
})

it('reports that the browser blocks notifications', async () => {
  const service = await start()
  const page = await open(service, '/', { permissions: [] })
  await page.getByRole('button', { name: 'More options' }).click()
  const blockedButton = page.getByRole('button', { name: 'Notifications are blocked in the browser settings' })
  await blockedButton.waitFor()
  await eventually(() => blockedButton.isDisabled()).toBe(true)
})

it('toggles full screen by key and by button', async () => {
  const service = await start()
  const page = await open(service, '/wall')
  await page.locator('.card').first().waitFor()
  const isFullScreen = () => page.evaluate<boolean>('document.fullscreenElement === document.documentElement')
  await page.keyboard.press('f')
  await eventually(isFullScreen).toBe(true)
  await page.keyboard.press('f')
  await eventually(isFullScreen).toBe(false)
  await page.mouse.move(200, 200)
  await page.getByRole('button', { name: 'Full screen' }).click()
  await eventually(isFullScreen).toBe(true)
})
