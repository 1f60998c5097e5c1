/** The page Import cast in a browser against a real service, before any equipment is there. */

import { expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import {
  browserForTests,
  countSteps,
  findViolations,
  messages,
  phone,
  row,
  scrollsHorizontally,
} from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const browser = browserForTests()

const special = ['Noémie Ångström', '👩🏽‍🎤 Ada', 'نورة', 'X'.repeat(60)]
const cast = Array.from({ length: 60 }, (_, index) => ({
  slot: index + 1,
  name: special[index] ?? `Performer ${index + 1}`,
  role: `Role ${index + 1}`,
}))

/** Drops files with these names: small pictures, and a text. */
async function drop(page: Awaited<ReturnType<typeof browser.open>>, pictures: readonly string[]) {
  const script = (names: readonly string[]) => `(async () => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 500
    const picture = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
    const transfer = new DataTransfer()
    for (const name of ${JSON.stringify(names)}) transfer.items.add(new File([picture], name, { type: 'image/png' }))
    transfer.items.add(new File(['not a picture'], 'contacts.pdf'))
    return transfer
  })()`
  const dataTransfer = await page.evaluateHandle(script(pictures))
  for (const event of ['dragover', 'drop']) await page.locator('.cast-drop').dispatchEvent(event, { dataTransfer })
}

// Conformance: C-21.63.
it('enters sixty performers with roles and photos, before any pack is on, in at most 8 steps', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'operator', '/')
  const steps = countSteps()
  await steps.step(page.getByRole('link', { name: 'Admin', exact: true }).click())
  await steps.step(page.getByRole('link', { name: 'Import cast' }).first().click())
  await page.getByRole('heading', { name: 'No slots yet' }).waitFor()
  const rows = cast.map(({ slot, name, role }) => `${slot}\t${name}\t${role}`)
  const text = ['Slot\tName\tRole', ...rows, '70\tPerformer 9\t', 'TBA\tBo Late\t'].join('\n')
  await steps.step(page.getByLabel('Cast list').fill(text))
  await page.getByText('62 rows are not imported').waitFor()
  await steps.step(page.getByLabel('Create missing slots').check())
  await page.getByText('60 new slots, 60 new performers.').waitFor()
  await page.getByText('Row 62 Performer 9: Row 10 already has this name.').waitFor()
  await page.getByText('Row 63 Bo Late: TBA is not a slot from 1 to 65535.').waitFor()
  await row(page, 'Noémie Ångström').getByText('Role 1').waitFor()
  await steps.step(
    drop(page, ['noemie angstrom.png', ...cast.slice(1).map(({ name }) => `${name}.png`), 'Stranger.png']),
  )
  await page.getByText('61 photos are stored when you apply the list.').waitFor()
  await page.getByText('contacts.pdf: This file is not an image').waitFor()
  await eventually(() => findViolations(page)).toEqual([])
  await steps.step(page.getByRole('button', { name: 'Apply' }).click())
  await page.getByText('60 photos stored.').waitFor()
  expect(steps.count).toBeLessThanOrEqual(8)
  await eventually(() => page.evaluate('document.activeElement.textContent')).toBe(
    '60 slots added, 60 performers added.',
  )

  await page.getByText('Stranger.png: No performer has this name.').waitFor()
  await page.getByText('contacts.pdf: This file is not an image').waitFor()
  const slots = async () => (await app.get('/api/slots/')).json
  await eventually(() => slots()).toMatchObject(
    cast.map(({ slot, name, role }) => {
      return {
        slot,
        title: name,
        role,
        kind: 'wireless',
        unit_id: null,
        performer: { picture: expect.stringContaining('/api/pictures/') },
      }
    }),
  )
  await page.setViewportSize(phone.viewport)
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await page.getByRole('button', { name: 'Paste another list' }).click()
  await page.getByRole('heading', { name: '60 slots without a pack' }).waitFor()
  await row(page, 'Noémie Ångström').getByText('No receiver yet').waitFor()
  await eventually(() => scrollsHorizontally(page)).toBe(false)
  await eventually(() => findViolations(page)).toEqual([])

  // Photos of performers who are already there are stored at once.
  await drop(page, ['Performer 20.png'])
  await page.getByText('1 photo stored.').waitFor()
})

it('undoes a list together with its photos', async () => {
  const app = await startApp()
  const page = await browser.openAs(app, 'operator', '/admin/cast')
  await page.getByLabel('Open a list').setInputFiles({
    name: 'cast.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('slot;name\n5;Nora\n'),
  })
  await page.getByLabel('Create missing slots').check()
  await drop(page, ['Nora.png'])
  await page.getByText('1 new slot, 1 new performer.').waitFor()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('1 photo stored.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await messages(page).getByText('The import was undone.').waitFor()
  await eventually(async () => (await app.get('/api/slots/')).json).toEqual([])
  expect((await app.get('/api/performers/')).json).toEqual([])
})

// Conformance: C-21.60.
it('imports 10,000 rows in one transaction', async () => {
  const app = await startApp()
  const rows = Array.from({ length: 10_000 }, (_, row) => `${row + 1}\t${String(row).padStart(60, 'x')}\tRole`)
  const { status, json } = await app.post('/api/import/cast/', { text: rows.join('\n'), create_slots: true })
  expect([status, json.skipped, json.changes.length]).toEqual([200, [], 30_000])
  expect((await app.get('/api/slots/10000/')).json).toMatchObject({ role: 'Role', performer: { id: 10_000 } })
  expect((await app.post(`/api/undo/${json.undo_id}`)).status).toBe(200)
  expect((await app.get('/api/slots/')).json).toEqual([])
})
