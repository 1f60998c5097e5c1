/** The pages of shows in a browser against a real service. */

import { it } from 'vitest'
import { configFor, startApp, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  row,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

const dayMinutes = 24 * 60

/** Returns the value of a field of the type `datetime-local`, this many minutes from now. */
function inMinutes(minutes: number): string {
  const at = Date.now() + minutes * 60_000
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

it('plans a show, recalls and undoes a scene, starts it from the monitor, and ends it', async () => {
  const app = await startApp({ manufacturers: [configFor(withoutPush(await startShure({ receivers: 1 })))] })
  await until('the receiver is known', async () => (await app.receivers()).length === 1)
  await app.post('/api/group/', { title: 'Act 1', slots: [1, 2] })
  const piano = (await app.post('/api/placeholders/', { slot: 9, kind: 'wired', name: 'Piano' })).json
  const page = await browser.openAs(app, 'operator', '/shows')
  await page.getByRole('heading', { name: 'No shows' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])

  await page.getByRole('button', { name: 'Add show' }).click()
  await press(page, 'Add')
  await dialog(page).getByText('Enter a title.').waitFor()
  await page.getByLabel('Title').fill('<b>Matinee</b>')
  await page.getByLabel('Planned start').fill(inMinutes(-1))
  await page.getByLabel('Planned end').fill(inMinutes(-2))
  await press(page, 'Add')
  await dialog(page).getByText('Enter a time after the planned start.').waitFor()
  await page.getByLabel('Planned end').fill(inMinutes(dayMinutes))
  await page.getByLabel('Notes').fill('Understudy')
  await eventually(() => findViolations(page)).toEqual([])
  await press(page, 'Add')
  await page.getByRole('heading', { name: '<b>Matinee</b> Planned' }).waitFor()
  await page.getByText('Understudy').waitFor()
  await eventually(() => page.getByRole('link', { name: 'Line check', exact: true }).getAttribute('href')).toBe(
    '/check?show=1',
  )

  await page.getByRole('button', { name: 'Store scene' }).click()
  await page.getByLabel('Title').fill('Opening')
  await press(page, 'Store')
  await page.getByRole('button', { name: 'Recall Opening' }).waitFor()
  const headers = { 'content-type': 'application/json' }
  const rename = JSON.stringify({ name: 'Organ', slot: 12 })
  await app.send('PATCH', `/api/placeholders/${piano.id}/`, { headers, body: rename })
  await page.getByRole('button', { name: 'Recall Opening' }).click()
  await dialog(page).getByText('2 changes').waitFor()
  await row(page, 'Placeholder').getByText('Slot 12').waitFor()
  await row(page, 'Piano').getByText('Organ').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  const nameOf = async () => (await app.get('/api/placeholders/')).json[0].name
  await eventually(() => nameOf()).toBe('Organ')
  await press(page, 'Recall')
  await page.getByText('Opening recalled.').waitFor()
  await page.getByText('Frequency plan', { exact: true }).waitFor()
  await eventually(() => nameOf()).toBe('Piano')
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('Undone.').waitFor()
  await eventually(() => nameOf()).toBe('Organ')
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])

  await page.goto(`${app.url}/`)
  await page.getByText('<b>Matinee</b> was planned to start at').waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByRole('button', { name: 'Start show' }).click()
  await press(page, 'Start show')
  await page.getByRole('region', { name: 'Show start' }).waitFor({ state: 'detached' })
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'More' }).click()
  await page.getByRole('link', { name: 'Shows' }).click()
  await page.getByRole('region', { name: 'Running' }).getByRole('link', { name: '<b>Matinee</b>' }).waitFor()
  // Another client ends the show; the page follows.
  await app.post('/api/shows/1/end', undefined)
  await page.getByRole('region', { name: 'Past' }).getByRole('link', { name: '<b>Matinee</b>' }).click()
  await page.getByRole('link', { name: 'Report', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await press(page, 'Delete')
  await page.getByRole('heading', { name: 'No shows' }).waitFor()
})

it('hides actions from viewers, and reports a deleted show', async () => {
  const app = await startApp({ config: { require_login: true } })
  const page = await browser.openAs(app, 'viewer', '/shows')
  await page.getByText('Requires the operator role.').waitFor()
  await eventually(() => page.getByRole('button', { name: 'Add show' }).isDisabled()).toBe(true)
  await page.goto(`${app.url}/shows/7`)
  await page.getByRole('heading', { name: 'This show does not exist' }).waitFor()
})
