/** Settings, nodes and the start page of the administration in a browser. */

import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  rows,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

it.concurrent('edits settings for all manufacturers, for one and for a group, validates them, and resets them', async () => {
  const shure = withoutPush(await startShure({ receivers: 1 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 7 })] })
  const { json: group } = await app.post('/api/group/', { title: 'Drums', slots: [1] })
  const page = await browser.openAs(app, 'admin', '/admin/settings')
  const setting = (table: string, name: string) =>
    page.getByRole('table', { name: table }).locator('tbody tr').filter({ hasText: name })
  const select = (scope: string) => page.getByLabel('Applies to').selectOption(scope)
  await setting('Polling and live updates: All manufacturers', 'Polling interval').getByText('10 sec').waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await page.getByRole('button', { name: 'Edit Battery low, All manufacturers' }).click()
  await page.getByLabel('Battery low (%)').fill('101')
  await page.keyboard.press('Enter')
  await dialog(page).getByText('Enter a whole number from 0 to 100.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByLabel('Battery low (%)').fill('35')
  await page.keyboard.press('Enter')
  await messages(page).getByText('Battery low set to 35%.').waitFor()
  await setting('Battery: All manufacturers', 'Battery low').getByText('set here · default: 20%').waitFor()
  // Not `check`, because the box is checked only once the address has changed.
  const onlyChanged = page.getByLabel('Only changed values')
  await onlyChanged.click()
  await eventually(() => onlyChanged.isChecked()).toBe(true)
  await page.getByRole('table', { name: 'Alerts' }).waitFor({ state: 'detached' })
  await eventually(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Battery low')])
  await onlyChanged.click()
  await eventually(() => onlyChanged.isChecked()).toBe(false)

  await select('Group Drums')
  await setting('Battery: Group Drums', 'Battery low').getByText('inherited from all manufacturers').waitFor()
  await eventually(() => page.getByRole('table', { name: 'Polling and live updates' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Edit RF weak, Group Drums' }).click()
  await page.getByLabel('RF weak (dBm)').fill('-80')
  await page.keyboard.press('Enter')
  await setting('RF: Group Drums', 'RF weak').getByText('set here').waitFor()
  await page.getByRole('button', { name: 'Edit Stale: severity, Group Drums' }).click()
  await page.getByLabel('Stale: severity', { exact: true }).selectOption('critical')
  await press(page, 'Save')
  await setting('Alerts: Group Drums', 'Stale').getByText('set here · default: warning').waitFor()
  const ofGroup = { RF_WEAK_DBM: -80, alert_stale_severity: 'critical' }
  expect((await app.get(`/api/config/?group=${group.id}`)).json).toMatchObject(ofGroup)

  await select('Shure only')
  await setting('Polling and live updates: Shure only', 'Polling interval').getByText('configuration file').waitFor()
  await setting('Battery: Shure only', 'Battery low').getByText('inherited from all manufacturers').waitFor()
  await page.getByRole('button', { name: 'Edit Live updates, Shure only' }).click()
  await page.getByLabel('Live updates', { exact: true }).selectOption('off')
  await press(page, 'Save')
  const liveUpdates = setting('Polling and live updates: Shure only', 'Live updates')
  await liveUpdates.getByText('off', { exact: true }).waitFor()
  expect((await app.get('/api/config/?manufacturer=shure')).json).toMatchObject({ enable_websocket: false })
  await page.getByRole('button', { name: 'Reset Live updates, Shure only' }).click()
  await press(page, 'Reset')
  await liveUpdates.getByText('on', { exact: true }).waitFor()
  expect((await app.get('/api/config/?manufacturer=shure')).json).toMatchObject({ enable_websocket: true })

  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
})

it.concurrent('hides the actions from an operator when only administrators may edit settings', async () => {
  const app = await startApp({ config: { server: { host: '0.0.0.0' } } })
  const page = await browser.openAs(app, 'operator', '/admin/settings')
  await page.getByText('Requires the administrator role.').waitFor()
  await page.getByRole('table', { name: 'Battery: All manufacturers' }).waitFor()
  await eventually(() => page.getByRole('button', { name: /^Edit / }).count()).toBe(0)
})

it.concurrent('lists open tasks with links', async () => {
  const shure = withoutPush(await startShure({ richList: true, receivers: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
  await until('all receivers are known', async () => (await app.receivers()).length === 2)
  await app.post('/api/refresh/')
  const page = await browser.openAs(app, 'viewer', '/admin')
  const tasks = page.getByRole('region', { name: 'To do' })
  await tasks.getByRole('link', { name: /real-time connections? (failing|lost)/ }).waitFor()
  await eventually(() => tasks.getByRole('link', { name: /movement/ }).count()).toBe(0)
  await eventually(() => findViolations(page)).toEqual([])

  // The page updates without a reload.
  shure.show.set(deviceOf(shure).id, { ip: '10.77.0.9' })
  await app.post('/api/refresh/')
  await tasks.getByRole('link', { name: '1 movement to acknowledge' }).waitFor()
  shure.setFault({ type: 'status', status: 500 })
  for (let failures = 1; failures <= 3; failures += 1) await app.post('/api/refresh/')
  await tasks.getByRole('link', { name: /^Shure: / }).waitFor()
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  await tasks.getByRole('link', { name: '1 movement to acknowledge' }).click()
  await page.getByText('10.77.0.9').waitFor()
})

it.concurrent('reports missing manufacturers, an unknown status, and a restored database', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'admin', '/admin')
  await page.getByRole('link', { name: /^No manufacturers configured/ }).waitFor()
  const incident = { status: 'restored', details: 'A snapshot of yesterday took its place.' }
  await page.route('**/api/health/', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), store: incident } })
  })
  // A request may be pending when the test ends.
  onTestEnd(() => page.unrouteAll({ behavior: 'ignoreErrors' }))
  await page.reload()
  await page.getByRole('alert').getByText('A snapshot of yesterday').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  const [acknowledgement] = await Promise.all([
    page.waitForRequest('**/api/admin/store/acknowledge'),
    page.getByRole('button', { name: 'Acknowledge' }).click(),
  ])
  expect(acknowledgement.method()).toBe('POST')

  await page.route('**/api/discovery/pending/**', (route) => route.abort())
  await page.reload()
  await page.getByText('Status unknown.').waitFor()
})

it.concurrent('shows the source assignments of processes, and hides the page if the service does not support it', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'viewer', '/sign-in')
  const processOf = (pid: number) => ({ owner: `stage-box:${pid}:ab`, host: '<q>stage-box</q>', pid })
  const nodes = [
    { ...processOf(71), work: 'polling', source: 'shure:https://10.0.0.2', manufacturer: 'shure', epoch: 3 },
    { ...processOf(71), work: 'link', source: 'shure:https://10.0.0.2', manufacturer: 'shure', epoch: 1 },
  ].map((item) => ({ ...item, seconds_left: 12.4 }))
  await page.route('**/api/admin/nodes/', (route) =>
    route.fulfill({ json: { nodes, processes: [processOf(71), processOf(72)] } }),
  )
  await page.goto(`${app.url}/admin/nodes`)
  await page.getByText('2 processes running').waitFor()
  await page.getByText('process 72 on <q>stage-box</q> has no sources assigned').waitFor()
  await eventually(() => page.locator('tbody tr').allInnerTexts()).toEqual([
    expect.stringMatching(/process 71 on <q>stage-box<\/q>\s+polling\s+https:\/\/10.0.0.2\s+shure\s+3\s+12 sec/),
    expect.stringContaining('real-time connection'),
  ])
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.setViewportSize({ width: 1440, height: 900 })
  const nodesLink = page.getByRole('navigation', { name: 'Admin pages' }).getByRole('link', { name: 'Nodes' })
  await nodesLink.waitFor()

  await page.route('**/api/admin/nodes/', (route) =>
    route.fulfill({ status: 404, json: { error: 'There is no such address.', status: 404 } }),
  )
  await page.reload()
  await page.getByRole('heading', { name: 'Not supported by this service' }).waitFor()
  await nodesLink.waitFor({ state: 'detached' })
})
