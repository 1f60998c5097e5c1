/** Mutes that are marked as on purpose. */

import { expect, it } from 'vitest'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import { startApp, until } from '../support/app.ts'
import { browserForTests, countSteps } from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const { openAs } = browserForTests()

// Conformance: C-21.95.
it('marks a mute as on purpose on all screens with one press, and undoes it with two', async () => {
  const device = await startStringsSimulator({ family: 'ulxd' })
  onTestEnd(() => device.close())
  device.change(1, { transmitter: true, battery: 80, muted: true })
  const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices: [device.url] } }] })
  await until('the channel is known', async () => (await app.receivers()).length === 1)
  await app.post('/api/config/', { key: 'MUTE_ATTENTION', value: 'always' })
  const page = await openAs(app, 'operator', '/')
  const wall = await openAs(app, 'viewer', '/wall')

  const marking = countSteps()
  await marking.step(page.getByRole('button', { name: /^Muted on purpose: 1 / }).click())
  for (const screen of [page, wall]) {
    await screen.getByText('Marked as muted on purpose by the-operator').first().waitFor({ state: 'attached' })
  }
  expect((await app.get('/api/alerts/?state=snoozed')).json).toMatchObject([{ kind: 'muted' }])
  expect(marking.count).toBe(1)

  const undoing = countSteps()
  await undoing.step(page.getByRole('link', { name: /^1 .*: details$/ }).click())
  const notOnPurpose = page.getByRole('button', { name: /^Not on purpose: / }).first()
  await undoing.step(notOnPurpose.click())
  await eventually(async () => (await app.get('/api/alerts/?state=raised')).json).toMatchObject([{ kind: 'muted' }])
  expect(undoing.count).toBe(2)
})
