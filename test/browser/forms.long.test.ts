/** Forms: two users who edit the same record, and input that was not saved. */

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startApp, until } from '../support/app.ts'
import { addUser, browserForTests, findViolations, messages, press } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { password } from '../support/users.ts'

const { openAs } = browserForTests()

const dialog = (page: Page) => page.locator('dialog').first()
const kept = (page: Page) => page.evaluate<string>('JSON.stringify(localStorage)')

interface Field {
  readonly label: string
  readonly name: string
  readonly old: string
}

interface Form {
  readonly page: string
  /** The button that opens it. */
  readonly button: string | RegExp
  /** The address of the record. */
  readonly address: string
  readonly fields: readonly [Field, Field]
}

async function start() {
  const app = await startApp()
  const token = await tokenHeaders(app, 'admin')
  const send = async (method: string, address: string, body?: object) => {
    const response = await app.send(method, address, {
      headers: { ...token, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.status, `${method} ${address}`).toBeLessThan(300)
    return response.json
  }
  const group = await send('POST', '/api/group/', { title: 'Choir', slots: [1], zone: 'A' })
  const show = await send('POST', '/api/shows/', { title: 'Gala', notes: 'Dress' })
  const performer = await send('POST', '/api/performers/', { name: 'Nora', notes: 'Alto' })
  await send('PUT', '/api/slots/7/', { label: 'Mic 7', note: 'Spare' })
  const channel = { type: 'webhook', name: 'Desk', config: { url: 'https://hook.example/' } }
  const { id } = await send('POST', '/api/admin/notification-channels/', channel)
  const rule = await send('POST', '/api/admin/notification-rules/', {
    ...{ name: 'Night', notification_channel_ids: [id], repeat_minutes: 5 },
  })
  const forms: readonly Form[] = [
    {
      ...{ page: '/', button: /^Assign performer/, address: '/api/slots/7/' },
      fields: [
        { label: 'Label', name: 'label', old: 'Mic 7' },
        { label: 'Note', name: 'note', old: 'Spare' },
      ],
    },
    {
      ...{ page: '/admin/groups', button: 'Edit Choir', address: `/api/groups/${group.id}/` },
      fields: [
        { label: 'Title', name: 'title', old: 'Choir' },
        { label: 'Frequency zone', name: 'zone', old: 'A' },
      ],
    },
    {
      ...{ page: `/shows/${show.id}`, button: 'Edit', address: `/api/shows/${show.id}/` },
      fields: [
        { label: 'Title', name: 'title', old: 'Gala' },
        { label: 'Notes', name: 'notes', old: 'Dress' },
      ],
    },
    {
      ...{ page: '/admin/performers', button: 'Edit Nora', address: `/api/performers/${performer.id}/` },
      fields: [
        { label: 'Name', name: 'name', old: 'Nora' },
        { label: 'Notes', name: 'notes', old: 'Alto' },
      ],
    },
    {
      ...{ page: '/admin/notifications?tab=rules', button: 'Edit Night' },
      address: `/api/admin/notification-rules/${rule.id}/`,
      fields: [
        { label: 'Name', name: 'name', old: 'Night' },
        { label: 'Send again every (minutes)', name: 'repeat_minutes', old: '5' },
      ],
    },
  ]
  const readField = async ({ address }: Form, { name }: Field) => String((await send('GET', address))[name])
  return { app, forms, send, readField }
}

const open = async (page: Page, { button, fields: [field] }: Form) => {
  await page.getByRole('button', { name: button, exact: true }).first().click()
  await input(page, field).waitFor()
}
const input = (page: Page, { label }: Field) => dialog(page).locator(`[data-label="${label}"] :is(input, textarea)`)
const save = (page: Page) => dialog(page).locator('button[type=submit]').click()
const isClosed = (page: Page) => eventually(() => page.locator('dialog').count()).toBe(0)

// Conformance: C-21.109.
describe('two users who edit the same record', () => {
  it('see what the other changed, in both orders, and lose nothing', async () => {
    const { app, forms, send, readField } = await start()
    const [ada, bob] = [await openAs(app, 'admin', '/'), await openAs(app, 'admin', '/')]
    for (const form of forms) {
      const [shared, other] = form.fields
      for (const [first, second] of [
        [ada, bob],
        [bob, ada],
      ] as const) {
        const suffix = first === ada ? '1' : '2'
        const openBoth = async () => {
          for (const page of [first, second]) {
            await page.goto(app.url + form.page)
            await open(page, form)
          }
        }
        await openBoth()
        const before = await readField(form, shared)
        await input(first, shared).fill(`${before}${suffix}`)
        await save(first)
        await isClosed(first)
        // A message came while the form was open.
        await dialog(second).getByText(`Another user changed this to ${before}${suffix}.`).waitFor()
        const typed = other.old === '5' ? `1${suffix}` : `${other.old}${suffix}`
        await input(second, other).fill(typed)
        await eventually(() => input(second, shared).inputValue()).toBe(before)
        await save(second)
        await dialog(second).getByText('Another user has just changed this, so nothing was saved.').waitFor()
        await dialog(second).getByText(`${shared.label}: ${before} → ${before}${suffix}`).waitFor()
        await eventually(() => readField(form, other)).not.toBe(typed)
        await press(second, 'Keep both')
        await isClosed(second)
        await eventually(async () => [await readField(form, shared), await readField(form, other)]).toEqual([
          `${before}${suffix}`,
          typed,
        ])
        await restore(send, form)
        // Both edit the same field.
        await openBoth()
        await input(first, shared).fill('Theirs')
        await save(first)
        await isClosed(first)
        await input(second, shared).fill('Mine')
        await save(second)
        await dialog(second).getByText(`${shared.label}: ${shared.old} → Theirs (yours: Mine)`).waitFor()
        await eventually(() => readField(form, shared)).toBe('Theirs')
        if (suffix === '1') {
          await press(second, 'Keep theirs')
          await isClosed(second)
          await eventually(() => readField(form, shared)).toBe('Theirs')
        } else {
          await eventually(() => findViolations(second)).toEqual([])
          await press(second, 'Keep mine')
          await isClosed(second)
          await eventually(() => readField(form, shared)).toBe('Mine')
        }
        await restore(send, form)
      }
    }
  }, 400_000)

  it('keep their input if the record is deleted, and can add it again', async () => {
    const { app, forms, send } = await start()
    const form = forms[1]
    if (form === undefined) throw new Error('There are no groups.')
    const page = await openAs(app, 'operator', form.page)
    await open(page, form)
    await input(page, form.fields[0]).fill('Choir 2')
    const { id } = await send('GET', form.address)
    await send('DELETE', form.address)
    await dialog(page).getByText('Another user has deleted this. Your input is still here.').waitFor()
    await save(page)
    await press(page, 'Add it again')
    await isClosed(page)
    const [added] = await send('GET', '/api/groups/')
    expect(added).toMatchObject({ title: 'Choir 2', slots: [1], zone: 'A' })
    expect(added.id).not.toBe(id)
    // A removal is confirmed again.
    await page.getByRole('button', { name: 'Remove Choir 2' }).click()
    await send('PUT', `/api/groups/${added.id}/`, { title: 'Band' })
    await press(page, 'Remove')
    await dialog(page)
      .getByText(/nothing was removed/)
      .waitFor()
    await press(page, 'Remove')
    await until('the group is removed', async () => (await app.get('/api/groups/')).json.length === 0)
  })
})

type Send = Awaited<ReturnType<typeof start>>['send']

/** Restores the old values. */
async function restore(send: Send, { address, fields }: Form): Promise<void> {
  const method = /slots|groups|performers/.test(address) ? 'PUT' : 'PATCH'
  await send(method, address, Object.fromEntries(fields.map(({ name, old }) => [name, old === '5' ? 5 : old])))
}

// Conformance: C-21.110.
it('keeps unsaved input across a reload for the same account only, and asks before it is lost', async () => {
  const { app, forms, send } = await start()
  const form = forms[2]
  if (form === undefined) throw new Error('There are no shows.')
  const [title, notes] = form.fields
  const page = await openAs(app, 'admin', '/shows')
  await page.getByRole('link', { name: 'Gala' }).click()
  await open(page, form)
  await page.keyboard.press('Escape')
  await isClosed(page)
  await open(page, form)
  await input(page, title).fill('Gala evening')
  await page.goBack()
  await page.getByRole('heading', { name: 'Leave this page?' }).waitFor()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await eventually(() => input(page, title).inputValue()).toBe('Gala evening')
  await page.goBack()
  await page.getByRole('button', { name: 'Leave', exact: true }).click()
  await page.getByRole('heading', { name: 'Shows', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Gala' }).click()
  await open(page, form)
  await press(page, 'Discard')

  await input(page, title).fill('Gala evening')
  await input(page, notes).fill('Black tie')
  let asked = 0
  page.on('dialog', (question) => {
    asked += 1
    void question.accept()
  })
  await page.reload()
  expect(asked).toBe(1)
  await messages(page).getByText('Unsaved input is kept in this browser: Edit Gala (').waitFor()
  await send('PATCH', form.address, { notes: 'Suits' })
  await page.getByText('Suits').waitFor()
  await open(page, form)
  const offer = dialog(page).getByRole('region', { name: 'Unsaved input' })
  await offer.waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => input(page, title).inputValue()).toBe('Gala')
  await offer.getByRole('button', { name: 'Restore' }).press('Enter')
  await eventually(() => input(page, title).inputValue()).toBe('Gala evening')
  await dialog(page).getByText('Notes: Dress → Suits (yours: Black tie)').waitFor()
  await press(page, 'Keep theirs')
  await eventually(() => input(page, notes).inputValue()).toBe('Suits')
  await eventually(() => input(page, title).inputValue()).toBe('Gala evening')

  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Discard your input?' }).waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await eventually(() => page.locator('dialog').count()).toBe(1)
  await save(page)
  await isClosed(page)
  await eventually(() => send('GET', form.address)).toMatchObject({ title: 'Gala evening', notes: 'Suits' })
  await eventually(() => kept(page)).not.toContain('unsaved')

  // Another account in the same browser.
  await open(page, form)
  await input(page, title).fill('For admin only')
  await eventually(() => kept(page)).toContain('For admin only')
  await addUser(app, 'other', 'admin')
  const signedIn = await page
    .context()
    .request.post(`${app.url}/api/auth/login`, { data: { username: 'other', password } })
  expect(signedIn.status()).toBe(200)
  await page.reload()
  await page.getByRole('heading', { name: 'Gala evening' }).waitFor()
  await open(page, form)
  await eventually(() => input(page, title).inputValue()).toBe('Gala evening')
  await eventually(() => offer.count()).toBe(0)
  await input(page, notes).fill('x')
  await press(page, 'Cancel')
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await isClosed(page)
  await eventually(() => kept(page)).not.toContain('"x"')
})

it('keeps no password, token or address of a service', async () => {
  const app = await startApp()
  const page = await openAs(app, 'admin', '/admin/people')
  await page.getByRole('button', { name: 'Add user' }).click()
  await dialog(page).getByLabel('User name').fill('visible-name')
  await dialog(page).getByLabel('Password', { exact: true }).fill('hidden-password')
  await dialog(page).getByRole('button', { name: /^Show/ }).click()
  await eventually(() => kept(page)).toContain('visible-name')
  await page.goto(`${app.url}/admin/notifications`)
  await page.getByRole('button', { name: 'Add channel' }).first().click()
  await page.getByRole('button', { name: /^Webhook/ }).click()
  await dialog(page).locator('[data-label="Name"] input').fill('visible-hook')
  await dialog(page).locator('input[inputmode=url]').fill('https://example.org/hidden-hook')
  await eventually(() => kept(page)).toContain('visible-hook')
  await eventually(() => kept(page)).not.toContain('hidden')
})

// Conformance: C-21.109.
it('two users who rename and recall a scene see what the other did, in both orders', async () => {
  const { app, send } = await start()
  const show = await send('POST', '/api/shows/', { title: 'Revue' })
  const scenes = `/api/shows/${show.id}/scenes/`
  const { id } = await send('POST', scenes, { title: 'Act 1' })
  const titles = async () => (await send('GET', scenes)).map(({ title }: { title: string }) => title)
  const label = async () => (await send('GET', '/api/slots/7/')).label
  const path = `/shows/${show.id}`
  const [ada, bob] = [await openAs(app, 'operator', path), await openAs(app, 'admin', path)]
  for (const [first, second, choice] of [
    [ada, bob, 'Keep theirs'],
    [bob, ada, 'Keep mine'],
  ] as const) {
    for (const page of [first, second]) await page.getByRole('button', { name: 'Rename Act 1' }).click()
    await dialog(first).getByLabel('Title').fill('Opening')
    await save(first)
    await isClosed(first)
    await dialog(second).getByText('Another user changed this to Opening.').waitFor()
    await dialog(second).getByLabel('Title').fill('Overture')
    await save(second)
    await dialog(second).getByText('Title: Act 1 → Opening (yours: Overture)').waitFor()
    await eventually(titles).toEqual(['Opening'])
    await press(second, choice)
    await isClosed(second)
    await eventually(titles).toEqual([choice === 'Keep mine' ? 'Overture' : 'Opening'])
    await send('PATCH', `${scenes}${id}/`, { title: 'Act 1' })

    await send('PUT', '/api/slots/7/', { label: 'Mic 8' })
    for (const page of [first, second]) {
      await page.getByRole('button', { name: 'Recall Act 1' }).click()
      await dialog(page).getByText('1 change', { exact: true }).waitFor()
    }
    await send('PUT', '/api/slots/7/', { label: 'Water' })
    for (const page of [first, second]) await dialog(page).getByText('Water').waitFor()
    await press(first, 'Recall')
    await isClosed(first)
    await dialog(second).getByText('Everything is arranged like this already.').waitFor()
    await press(second, 'Cancel')
    await eventually(label).toBe('Mic 7')
    await messages(first).getByRole('button', { name: 'Undo' }).click()
    await eventually(label).toBe('Water')
  }
})

// Conformance: C-21.109.
it('asks again before a slot is cleared that another user has just changed', async () => {
  const { app, forms, send } = await start()
  const [slot] = forms
  const page = await openAs(app, 'operator', '/')
  await open(page, slot as Form)
  await send('PUT', '/api/slots/7/', { note: 'Water' })
  await dialog(page).getByText('Another user changed this to Water.').waitFor()
  await press(page, 'Clear slot')
  await dialog(page)
    .getByText(/nothing was removed/)
    .waitFor()
  await eventually(() => send('GET', '/api/slots/7/')).toMatchObject({ label: 'Mic 7', note: 'Water' })
  await press(page, 'Clear slot')
  await isClosed(page)
  await messages(page).getByRole('button', { name: 'Undo' }).click()
  await eventually(async () => (await app.get('/api/slots/7/')).json).toMatchObject({ label: 'Mic 7', note: 'Water' })
})

// Conformance: C-21.110.
it('keeps the note of a handover across a reload', async () => {
  const { app } = await start()
  const page = await openAs(app, 'operator', '/handover')
  page.on('dialog', (question) => void question.accept())
  await page.getByLabel('Note for the next shift').fill('Slot 7 is a spare')
  await eventually(() => kept(page)).toContain('Slot 7 is a spare')
  await page.reload()
  await page.getByRole('region', { name: 'Unsaved input' }).getByRole('button', { name: 'Restore' }).click()
  await eventually(() => page.getByLabel('Note for the next shift').inputValue()).toBe('Slot 7 is a spare')
  await page.getByRole('button', { name: 'Hand over' }).click()
  await eventually(async () => (await app.get('/api/handovers/')).json).toMatchObject([
    { notes: [{ note: 'Slot 7 is a spare' }] },
  ])
  await eventually(() => kept(page)).not.toContain('Slot 7 is a spare')
})
