/** Groups and performers in a browser against a real service. */

import { expect, it } from 'vitest'
import { startPlanningCenter } from '../../simulators/planning-center.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from '../support/app.ts'
import {
  browserForTests,
  chooseBySearch,
  dialog,
  findViolations,
  messages,
  phone,
  press,
  row,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

it('creates a group, changes its slots, opens its wall and removes it', async () => {
  const app = await startApp({ manufacturers: [configFor(withoutPush(await startShure({ receivers: 1 })))] })
  await until('the receiver is known', async () => (await app.receivers()).length === 1)
  const page = await browser.openAs(app, 'operator', '/admin/groups')
  await page.getByRole('heading', { name: 'No groups' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Add group' }).click()
  await page.getByLabel('Title').fill('<u>Band</u>')
  await page.getByLabel('Slots').fill('1-4, two')
  await press(page, 'Add')
  await dialog(page).getByText('“two” is not a slot').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByLabel('Slots').fill('1-4, 12, 9')
  await page.getByLabel('Hide charts').check()
  await press(page, 'Add')
  await page.getByText('6 slots: 1–4, 12, 9 · charts hidden').waitFor()
  await eventually(() => page.locator('.box u').count()).toBe(0)
  const slots = page.getByRole('list', { name: 'Channels in <u>Band</u>' }).getByRole('listitem')
  await slots.first().locator('a[href="/channels/1"]').waitFor()
  await eventually(() => slots.nth(4).innerText()).toMatch(/^12\s+Planned/)
  const groups = async () => (await app.get('/api/groups/')).json
  const created = {
    id: 1,
    title: '<u>Band</u>',
    slots: [1, 2, 3, 4, 12, 9],
    hide_charts: true,
    zone: null,
    manufacturer: null,
  }
  await eventually(() => groups()).toMatchObject([created])

  await page.getByRole('button', { name: 'Edit <u>Band</u>' }).click()
  await eventually(() => page.getByLabel('Slots').inputValue()).toBe('1–4, 12, 9')
  await page.getByLabel('Title').fill('Band')
  await page.getByLabel('Slots').fill('9 1')
  await press(page, 'Save')
  await messages(page).getByText('Band saved.').waitFor()
  await eventually(() => groups()).toMatchObject([{ ...created, title: 'Band', slots: [9, 1] }])
  await eventually(() => page.getByRole('link', { name: 'Wall: Band' }).getAttribute('href')).toBe('/wall?group=1')

  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByRole('button', { name: 'Remove Band' }).click()
  await press(page, 'Remove')
  await page.getByRole('heading', { name: 'No groups' }).waitFor()
  await eventually(() => groups()).toEqual([])
})

it('disables actions that a viewer may not perform', async () => {
  const app = await startApp({ config: { require_login: true } })
  const page = await browser.openAs(app, 'viewer', '/admin/performers')
  await page.getByText('Requires the operator role.').waitFor()
  await eventually(() => page.getByRole('button', { name: 'Add performer' }).isDisabled()).toBe(true)
  await page.route('**/api/groups/**', (route) => route.abort())
  await page.goto(`${app.url}/admin/groups`)
  await page.getByRole('heading', { name: 'Cannot reach Micwatch' }).waitFor()
})

it('adds performers with pictures and assigns transmitters', async () => {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const units = async () => (await app.get('/api/units/')).json as { id: number; slot: number; name: string }[]
  await until('both transmitters are detected', async () => (await units()).length === 2)
  const page = await browser.openAs(app, 'operator', '/admin/performers')
  await page.getByRole('heading', { name: 'No performers' }).waitFor()

  await page.getByRole('button', { name: 'Paste names' }).click()
  await page.getByLabel('Names', { exact: true }).fill('Ana\tplays Juliet\n\n<s>Bo</s>\r\nAna\n')
  await eventually(() => findViolations(page)).toEqual([])
  await press(page, 'Add')
  await messages(page).getByText('2 performers added.').waitFor()
  await row(page, 'Ana').getByText('plays Juliet').waitFor()
  const performers = async () => (await app.get('/api/performers/')).json
  await eventually(() => performers()).toMatchObject([
    { name: 'Ana', notes: 'plays Juliet' },
    { name: '<s>Bo</s>', notes: '' },
  ])

  // Adding is interrupted halfway: the remaining names stay in the form.
  let posts = 0
  await page.route('**/api/performers/', (route) => {
    if (route.request().method() === 'POST') posts += 1
    return posts > 1 ? route.abort() : route.continue()
  })
  await page.getByRole('button', { name: 'Paste names' }).click()
  await page.getByLabel('Names', { exact: true }).fill('Cy\nDi\tplays Romeo')
  await press(page, 'Add')
  await dialog(page).getByText('1 not added').waitFor()
  await eventually(() => page.getByLabel('Names', { exact: true }).inputValue()).toBe('Di\tplays Romeo')
  await page.unroute('**/api/performers/')
  await press(page, 'Add')
  await row(page, 'Di').getByText('plays Romeo').waitFor()
  expect((await performers()).map((item: { name: string }) => item.name)).toEqual(['Ana', '<s>Bo</s>', 'Cy', 'Di'])

  await page.getByRole('button', { name: 'Edit Ana' }).click()
  await page.getByLabel('Picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no') })
  await press(page, 'Save')
  await dialog(page).getByText('This file is not an image').waitFor()
  // Creates a picture in the browser that must be scaled down before it is stored.
  const large = await page.evaluate<string>(`(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 3000
    canvas.height = 2000
    const context = canvas.getContext('2d')
    context.fillStyle = 'teal'
    context.fillRect(0, 0, 3000, 2000)
    return canvas.toDataURL('image/png').split(',')[1]
  })()`)
  const buffer = Buffer.from(large, 'base64')
  await page.getByLabel('Picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer })
  await press(page, 'Save')
  await page.getByRole('img', { name: 'Picture of Ana' }).waitFor()
  expect((await performers())[0].picture).toMatch(/^\/api\/pictures\/[0-9a-f]{32}$/)
  const size = `(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])(document.querySelector('td img'))`
  await eventually(() => page.evaluate<number[]>(size)).toEqual([384, 256])

  const assignments = async () =>
    (await app.get('/api/assignments/')).json.map((item: { performer: number; is_active: boolean }) => [
      item.performer,
      item.is_active,
    ])
  await page.getByRole('button', { name: 'Assign Ana' }).click()
  const unit = (await units()).find(({ slot }) => slot === 1)?.name ?? '?'
  await page.getByRole('spinbutton', { name: 'Slot' }).fill('1')
  await press(page, 'Assign')
  await row(page, 'Ana').getByText(`Slot 1, ${unit}`, { exact: true }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  // Assigns the slot to another performer, who also gets one that does not exist, unassigns it, and undoes that.
  for (const slot of ['1', '40']) {
    await page.getByRole('button', { name: 'Assign <s>Bo</s>', exact: true }).click()
    await page.getByRole('spinbutton', { name: 'Slot' }).fill(slot)
    await press(page, 'Assign')
    await row(page, '<s>Bo</s>').getByText(`Slot ${slot}`).first().waitFor()
  }
  await eventually(() => assignments()).toEqual([
    [1, false],
    [2, true],
  ])
  await page.getByRole('button', { name: /^Unassign <s>Bo.*Slot 1,/ }).click()
  await messages(page).getByText('unassigned from <s>Bo</s>').waitFor()
  expect((await assignments())[1]).toEqual([2, false])
  await page.getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('assigned to <s>Bo</s> again').waitFor()
  expect((await assignments()).at(-1)).toEqual([2, true])

  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove Ana' }).click()
  await press(page, 'Remove')
  await row(page, 'Ana').first().waitFor({ state: 'detached' })
  await eventually(() => performers()).toHaveLength(3)
})

it('previews a pasted cast list, applies it, and undoes it', async () => {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('both transmitters are detected', async () => (await app.get('/api/units/')).json.length === 2)
  const active = async () => (await app.get('/api/assignments/?is_active=true&names=true')).json
  await app.post('/api/placeholders/', { kind: 'wired', name: 'Lectern', slot: 9 })
  const lectern = async () => (await app.get('/api/slots/9/')).json.title
  const page = await browser.openAs(app, 'operator', '/admin/performers')
  await page.getByRole('link', { name: 'Import cast' }).last().click()
  await page.getByLabel('Cast list').fill('1\t<i>Aurelio</i>\tPapageno\n2\tNora\tPapagena\n9\tHost\t\n\tOtto\t')
  await page.getByText('3 slots change, 3 new performers.').waitFor()
  await row(page, 'Host').getByText('No performer').waitFor()
  await page.getByText('Row 4 Otto: The row has no slot and no pack.').waitFor()
  await row(page, 'Nora').getByText('Papagena').waitFor()
  await eventually(() => page.getByLabel('Role').inputValue()).toBe('2')
  await eventually(() => active()).toEqual([])
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  await page.getByLabel('Role').selectOption('None')
  await row(page, 'Papagena').waitFor({ state: 'detached' })
  await page.getByLabel('Role').selectOption('C')
  await row(page, 'Papagena').waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('3 slots changed, 3 performers added.').waitFor()
  await eventually(() => lectern()).toBe('Host')
  await eventually(() => active()).toMatchObject([
    { performer_name: '<i>Aurelio</i>', role: 'Papageno' },
    { role: 'Papagena' },
  ])
  await page.getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('The import was undone.').waitFor()
  await eventually(() => lectern()).toBe('Lectern')
  await eventually(() => active()).toEqual([])

  await page.getByLabel('Cast list').fill('99\tNora')
  await page.getByText('Row 1 Nora: There is no slot 99.').waitFor()
})

// Conformance: C-16.79.
it('imports config.json of micboard: preview, apply, undo', async () => {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const app = await startApp({ manufacturers: [configFor(shure)] })
  await until('both transmitters are detected', async () => (await app.get('/api/units/')).json.length === 2)
  const groups = async () => (await app.get('/api/groups/')).json
  const page = await browser.openAs(app, 'operator', '/admin/cast')
  await page.getByRole('button', { name: 'From micboard' }).click()
  const file = page.getByLabel('Content of config.json')
  await file.fill('{"slots": [{"slot": 1}, {"slot": "2"}]}')
  await page.getByText('slots.1: expected').waitFor()
  const { ip } = deviceOf(shure)
  const slots = [
    { slot: 2, ip, type: 'ulxd', channel: 1, extended_name: '<i>Nora</i>' },
    { slot: 1, ip, type: 'ulxd', channel: 2 },
    { slot: 5, type: 'offline', extended_name: 'Cantor' },
    { slot: 6, ip: '192.0.2.1', type: 'ulxd', channel: 1, extended_name: 'Ada' },
  ]
  await file.fill(JSON.stringify({ slots, groups: [{ group: 1, title: 'Leads', slots: [2, 0, 1] }] }))
  await page.getByText('1 new slot, 2 slots change, 1 group changes, 1 new performer.').waitFor()
  await page.getByText('Slot 6 Ada: There is no receiver with the address 192.0.2.1.').waitFor()
  await row(page, 'Group Leads').getByText('2, 1').waitFor()
  await eventually(() => groups()).toEqual([])
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)

  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('1 slot added, 2 slots changed, 1 group changed').waitFor()
  await eventually(() => groups()).toMatchObject([{ title: 'Leads', slots: [2, 1] }])
  await page.getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('The import was undone.').waitFor()
  await eventually(() => groups()).toEqual([])
})

// Conformance: C-16.10.
it('imports a plan of Planning Center: token, slots of the positions, preview, apply, undo', async () => {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2 }))
  const church = await startPlanningCenter()
  onTestEnd(() => church.close())
  const config = { planning_center_url: church.url }
  const app = await startApp({ manufacturers: [configFor(shure)], config })
  await until('both transmitters are detected', async () => (await app.get('/api/units/')).json.length === 2)
  const active = async () => (await app.get('/api/assignments/?is_active=true&names=true')).json
  const page = await browser.openAs(app, 'operator', '/admin/cast')
  await page.getByRole('button', { name: 'From Planning Center' }).click()
  await page.getByLabel('Personal access token', { exact: true }).fill('app:wrong')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText('Planning Center does not accept this token.').waitFor()
  await page.getByLabel('Personal access token', { exact: true }).fill(church.token)
  await page.getByLabel('Remember this token').check()
  await eventually(() => findViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Connect', exact: true }).click()

  await page.getByText('2 slots change, 2 new performers.').waitFor()
  const slotOf = (position: string) => page.getByRole('combobox', { name: `Slot of ${position}` })
  await eventually(() => slotOf('Vox 1').inputValue()).toMatch(/^1( · |$)/)
  await chooseBySearch(page, 'Slot of Vox 2', 'None')
  await chooseBySearch(page, 'Slot of Host', '2')
  await page.getByText('2 slots change, 1 new performer.').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => active()).toEqual([])
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('2 slots changed, 1 performer added.').waitFor()
  await eventually(() => active()).toMatchObject([
    { performer_name: 'Nora Ekberg', role: 'Vox 1' },
    { performer_name: 'Nora Ekberg', role: 'Host' },
  ])
  await page.getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('The import was undone.').waitFor()
  await eventually(() => active()).toEqual([])

  // The token and the slots are remembered, and the plan is stored.
  await church.close()
  await page.reload()
  await page.getByText('Planning Center is not available').waitFor()
  await eventually(() => slotOf('Host').inputValue()).toMatch(/^2( · |$)/)
  await eventually(() => slotOf('Vox 2').inputValue()).toBe('')
  await page.getByText('2 slots change, 1 new performer.').waitFor()
  await page.getByRole('button', { name: 'Forget the stored token' }).click()
  await messages(page).getByText('The token was deleted.').waitFor()
  await page.getByRole('button', { name: 'Connect', exact: true }).waitFor()
})
