/** The player in Chromium. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createUser } from '../../src/actions/access/people.ts'
import { configFor, startApp, startShure, until } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { withDatabase } from '../support/store/databases.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { addTones } from '../support/tones.ts'
import { hasher, password } from '../support/users.ts'

const browser = browserForTests()
const cli = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null } as const

async function start() {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 4 })
  const config = { listening: true, listening_without_tls: true, server: { host: '0.0.0.0' } }
  const app = await startApp({ manufacturers: [configFor(simulator)], config })
  const admin = await tokenHeaders(app, 'admin')
  const user = { username: 'the-operator', password, role: 'operator', permissions: ['listen'] } as const
  await withDatabase(app, (db) => createUser(db, hasher, cli, user))
  const [{ channels }] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers
  })
  const ids: readonly number[] = channels.map(({ id }: { id: number }) => id)
  const stream = await addTones(app, admin)
  for (const [index, id] of ids.slice(0, 2).entries())
    await app.put(`/api/channels/${id}/audio/`, { stream_id: stream, channel: index + 1 }, admin)
  return { app, ids }
}

const bar = (page: Page) => page.getByRole('region', { name: 'Player' })

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
