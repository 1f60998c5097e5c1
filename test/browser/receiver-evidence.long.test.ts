/** A receiver's page: how far its model has been verified, the form to confirm it, and captures. */

import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import { parseCapture, replayCapture } from '../../src/manufacturers/replay.ts'
import { startApp, until } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  phone,
  press,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()
const title = 'Record a capture'

async function startReceiver() {
  const simulator = await startStringsSimulator({ family: 'ulxd' })
  onTestEnd(() => simulator.close())
  const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices: [simulator.url] } }] })
  const [receiver] = await until('the receiver is known', async () => {
    const receivers = await app.receivers()
    return receivers.length > 0 && receivers
  })
  if (receiver === undefined) throw new Error('No receiver is known.')
  const names: readonly string[] = [receiver.name, ...receiver.channels.flatMap(({ name }) => name ?? [])]
  return { app, path: `/receivers/${receiver.id}`, names }
}

const focused = (page: Page) => page.evaluate<string>('(document.activeElement?.textContent ?? "").trim()')

/** Presses Tab until the element with this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 80 && (await focused(page)) !== text; presses++) {
    await page.keyboard.press('Tab')
  }
  await eventually(() => focused(page)).toBe(text)
}

// Conformance: C-24.64.
describe('the status of a model', () => {
  it('is shown with the filled-in form as text to copy, if the build names no project', async () => {
    const { app, path } = await startReceiver()
    const page = await browser.openAs(app, 'viewer', path, phone)
    await page.getByText('Not on a device; built from published documents').waitFor()
    await page.getByRole('button', { name: 'Confirm this model' }).click()
    const text = await dialog(page).getByRole('textbox', { name: 'Text of the confirmation' }).inputValue()
    expect(text).toMatch(/^# Confirmed: ULXD4Q [\d.]+\n/)
    expect(text).toContain("### I compared these values on the device's own screen\n\n- [ ] Model and firmware\n")
    await eventually(() => findViolations(page)).toEqual([])
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await press(page, 'Copy')
    await dialog(page).getByText('Copied.').waitFor()
  })

  it('has a link that opens the filled-in form of the project', async () => {
    const { app, path } = await startReceiver()
    const page = await browser.openAs(app, 'viewer', '/about')
    await page.route('**/api/health/', async (route) => {
      const response = await route.fetch()
      await route.fulfill({
        response,
        json: { ...(await response.json()), project_url: 'https://git.example/crew/mics' },
      })
    })
    await page.goto(app.url + path)
    const link = page.getByRole('link', { name: 'Confirm this model' })
    const url = new URL((await link.getAttribute('href')) ?? '')
    expect(url.origin + url.pathname).toBe('https://git.example/crew/mics/issues/new')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ template: 'confirmation.yml', model: 'ULXD4Q' })
    await eventually(() => link.getAttribute('target')).toBe('_blank')
  })
})

// Conformance: C-24.65.
describe('a capture on the page of a receiver', () => {
  it('is recorded, read, searched and saved with the keyboard alone', async () => {
    const { app, path, names } = await startReceiver()
    const page = await browser.openAs(app, 'admin', path)
    await page.getByRole('button', { name: title }).waitFor()
    await tabTo(page, title)
    await page.keyboard.press('Enter')
    const minutes = dialog(page).getByLabel('Minutes')
    await minutes.focus()
    await minutes.press('ControlOrMeta+a')
    await page.keyboard.type('20')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('progressbar', { name: 'Recording' }).waitFor()
    await eventually(() => findViolations(page)).toEqual([])
    await eventually(() =>
      dialog(page)
        .getByText(/^\d[\d,]* lines?, /)
        .count(),
    ).toBe(1)

    // The capture goes on while the dialog is closed, and after a reload.
    await page.keyboard.press('Escape')
    await eventually(() => dialog(page).count()).toBe(0)
    await eventually(() => focused(page)).toBe(title)
    await page.reload()
    await page.getByRole('button', { name: title }).focus()
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('progressbar').waitFor()
    await eventually(() => focused(page)).toBe('Stop')
    await page.keyboard.press('Enter')
    await dialog(page)
      .getByText('The capture was stopped. Read the file before you send it.', { exact: false })
      .waitFor()
    await eventually(() => findViolations(page)).toEqual([])

    const content = dialog(page).getByRole('region', { name: 'Content of the file' })
    await content.getByText('"format":"micwatch-capture"').waitFor()
    await dialog(page)
      .getByText(/^Replaced: .*names?/)
      .waitFor()
    const search = dialog(page).getByRole('searchbox', { name: 'Search the file' })
    for (const name of names) {
      await search.fill(name)
      await dialog(page).getByText('Not found.').waitFor()
    }
    await search.fill('GET MODEL')
    await content.getByText('< GET MODEL >').waitFor()
    await eventually(() => dialog(page).getByText('Not found.').count()).toBe(0)

    await dialog(page).getByRole('link', { name: 'Save file' }).focus()
    const saving = page.waitForEvent('download')
    await page.keyboard.press('Enter')
    const file = await readFile(await (await saving).path(), 'utf8')
    const { differences, error } = await replayCapture(parseCapture(file))
    expect({ differences, error }).toEqual({ differences: [], error: null })
    for (const name of names) expect(file).not.toContain(name)
  })

  it('ends after its time, and another one can be recorded', async () => {
    const { app, path } = await startReceiver()
    const page = await browser.openAs(app, 'admin', path, phone)
    await page.getByRole('button', { name: title }).click()
    await dialog(page).getByLabel('Minutes').fill('0.1')
    await press(page, 'Start')
    await dialog(page).getByText('The capture has ended.', { exact: false }).waitFor()
    await dialog(page).getByRole('link', { name: 'Save file' }).waitFor()
    await eventually(() => scrollsHorizontally(page)).toBe(false)
    await eventually(() => findViolations(page)).toEqual([])
    await press(page, 'Record another')
    await dialog(page).getByLabel('Minutes').waitFor()
  })

  it('is offered to administrators only', async () => {
    const { app, path } = await startReceiver()
    const page = await browser.openAs(app, 'operator', path)
    await page.getByRole('button', { name: 'Confirm this model' }).waitFor()
    await eventually(() => page.getByRole('button', { name: title }).count()).toBe(0)
  })
})
