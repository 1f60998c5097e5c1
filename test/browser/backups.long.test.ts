/** The page Backups in a browser. */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'vitest'
import { startApp } from '../support/app.ts'
import {
  browserForTests,
  findViolations,
  messages,
  phone,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

// Conformance: C-26.32.
it('lists backups, writes one now, and says how to restore one and why one fails', async () => {
  const app = await startApp({ config: { backup: { days: ['mon', 'thu'], keep: 3 } } })
  const folder = join(app.dataDir, 'backups')
  const page = await browser.openAs(app, 'admin', '/admin/backups')
  await eventually(() => rows(page).count()).toBe(1)
  await page.getByText('Mon and Thu at 04:45 (UTC)').waitFor()
  await page.getByText(/\(in \d+ .+\)/).waitFor()
  await page.getByRole('button', { name: 'Back up now' }).click()
  await messages(page)
    .getByText(/^Backup written and verified \([\d.]+ [kM]B\)\.$/)
    .waitFor()
  await eventually(() => rows(page).count()).toBe(2)
  await eventually(() => findViolations(page)).toEqual([])

  const [older = '', newer = ''] = (await readdir(folder)).filter((name) => name.endsWith('.db')).sort()
  const command = page.getByLabel('Command', { exact: true })
  await eventually(() => command.inputValue()).toBe(`micwatch restore ${join(folder, newer)} --force`)
  await page.getByLabel('Backup', { exact: true }).selectOption(older)
  await eventually(() => command.inputValue()).toBe(`micwatch restore ${join(folder, older)} --force`)
  await rm(join(folder, older))
  await rows(page).filter({ hasText: older }).getByText('Missing').waitFor()
  await eventually(() => command.inputValue()).toBe(`micwatch restore ${join(folder, newer)} --force`)

  const record = join(folder, 'micwatch-backups.json')
  const text = await readFile(record, 'utf8')
  await writeFile(record, '{}')
  await page.getByRole('button', { name: 'Back up now' }).click()
  await page.getByRole('alert').getByText('The latest backup failed').waitFor()
  await page.getByRole('alert').getByText(`${record} is not a list of backups; remove it.`).waitFor()
  await eventually(() => page.getByRole('alert').count()).toBe(1)
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await writeFile(record, text)
  await page.getByRole('button', { name: 'Back up now' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(page)).toBe(false)
})

// Conformance: C-26.32.
it('says which lines to write without a schedule, and which process writes the backups', async () => {
  const none = await startApp()
  const empty = await browser.openAs(none, 'admin', '/admin/backups', phone)
  await empty.getByRole('heading', { name: 'No scheduled backups' }).waitFor()
  await empty.getByText('folder: /media/usb/micwatch').waitFor()
  await eventually(() => findViolations(empty)).toEqual([])
  await eventually(() => scrollsHorizontally(empty)).toBe(false)

  const config = { backup: { keep: 2 } }
  const writer = await startApp({ config })
  await eventually(() => writer.service.backups.isUpToDate).toBe(true)
  const other = await startApp({ databaseUrl: writer.databaseUrl, dataDir: writer.dataDir, config })
  const page = await browser.openAs(other, 'admin', '/admin/backups')
  await page.getByText(/^Backups are written by process \d+ on /).waitFor()
  await eventually(() => page.getByRole('button', { name: 'Back up now' }).isDisabled()).toBe(true)
  await eventually(() => rows(page).count()).toBe(1)
})
