/** Goes through the pages with a cast, and finds the places that name a channel by its pack instead of its person. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, until } from '../support/app.ts'
import { browserForTests, dialog } from '../support/browser/browser.ts'
import { eventually } from '../support/eventually.ts'

const { openAs } = browserForTests()

const pack = 'Pack Q17'
const person = 'Nora Åkerström'
const label = 'Lead vocal'

/** Starts a service whose slot 1 has a person, a pack and an alert. */
async function startCast() {
  const shure = await startShure({ receivers: 1 })
  const { id } = deviceOf(shure)
  shure.show.set(id, { name: pack, battery: 90, rf_level: -52, audio_level: -18, transmitter: true }, 1)
  const app = await startApp({ manufacturers: [configFor(shure)] })
  const record = () => app.get('/api/slots/1/').then(({ json }) => json)
  await until('the pack is received', async () => (await record()).title === pack)
  const { channel_id: channel } = await record()
  const [receiver] = await app.receivers()
  const written = await app.put('/api/slots/1/', { performer_name: person, label, color: 'teal' })
  expect(written.json).toMatchObject({ title: person, title_from: 'performer' })
  shure.show.set(id, { battery: 9 }, 1)
  await until('an alert is raised', async () => (await app.get('/api/alerts/')).json.length > 0)
  const show = (await app.post('/api/shows/', { title: 'Evening', starts_at: new Date().toISOString() })).json
  await app.post(`/api/shows/${show.id}/start`)
  await app.post('/api/group/', { title: 'Band', slots: [1] })
  return { app, channel, receiver: receiver?.id, show: show.id }
}

const isSettled = [() => true, () => false] as const

/**
 * Returns the texts and labels with the name of the pack in a part of the page (a row, a card, an option) that does not
 * begin with the person.
 */
function findPacks(page: Page): Promise<string[]> {
  return page.evaluate(
    ({ pack, person }) => {
      const partNames = 'li, tr, [role=option], article'
      const found: string[] = []
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const isFirst = (text: string) => {
        const at = text.indexOf(person)
        return at !== -1 && at < text.indexOf(pack)
      }
      const describe = (element: Element, text: string) =>
        `${element.tagName.toLowerCase()}.${element.className}: ${text}`
      while (texts.nextNode()) {
        const text = texts.currentNode.textContent ?? ''
        const element = texts.currentNode.parentElement
        if (!text.includes(pack) || element === null || isFirst(text)) continue
        const parts: Element[] = []
        for (
          let part = element.closest(partNames);
          part !== null;
          part = part.parentElement?.closest(partNames) ?? null
        )
          parts.push(part)
        if (parts.length === 0) parts.push(element.closest('main, dialog') ?? document.body)
        if (!parts.some((part) => isFirst(part.textContent ?? ''))) found.push(describe(element, text))
      }
      for (const element of document.querySelectorAll('*')) {
        for (const { name, value } of element.attributes) {
          if (value.includes(pack) && !value.includes(person)) found.push(`${name} of ${describe(element, value)}`)
        }
      }
      if (document.title.includes(pack)) found.push(`title: ${document.title}`)
      return found
    },
    { pack, person },
  )
}

// Conformance: C-21.22.
it('names the person and not the pack on every page', async () => {
  const { app, channel, receiver, show } = await startCast()
  const page = await openAs(app, 'admin', '/')
  const found: string[] = []
  const expectPerson = async (place: string, where = page.locator('main')) => {
    const isNamed = await where
      .filter({ hasText: person })
      .waitFor({ timeout: 15_000 })
      .then(...isSettled)
    if (!isNamed) found.push(`${place}: does not name the person`)
    found.push(...(await findPacks(page)).map((text) => `${place}: ${text}`))
  }
  const paths = [
    ...[
      '/',
      '/?layout=list',
      '/?q=nora',
      '/?q=lead',
      '/?group=1',
      '/wall',
      '/wall?layout=list',
      '/timeline',
      '/alerts',
    ],
    ...[
      `/channels/${channel}`,
      `/receivers/${receiver}`,
      `/check?show=${show}`,
      `/check?show=${show}&channel=${channel}`,
    ],
    ...[
      '/crew-sheet',
      '/changes',
      `/reports/${show}`,
      '/frequencies',
      '/admin/layout',
      '/admin/groups',
      '/admin/performers',
    ],
  ]
  for (const path of paths) {
    await page.goto(app.url + path)
    await expectPerson(path)
  }

  await page.goto(`${app.url}/channels/${channel}`)
  await eventually(() => page.title()).toContain(`1 ${person}`)
  await page.goto(`${app.url}/alerts`)
  await page.getByRole('button', { name: 'Silence…' }).first().click()
  const channelField = dialog(page).getByRole('combobox', { name: 'Channel' })
  await eventually(() => channelField.inputValue()).toBe(`1 ${person}`)
  await channelField.click()
  await expectPerson('silence', dialog(page))

  await page.goto(`${app.url}/`)
  await page.locator('.card', { hasText: person }).getByTitle('Teal').waitFor()
  await page.emulateMedia({ media: 'print' })
  await expectPerson('print', page.locator('.print-table'))
  await page.emulateMedia({ media: 'screen' })

  // Without a performer, the label; without a label, the pack.
  await app.put('/api/slots/1/', { performer_id: null })
  await page.locator('.card', { hasText: label }).waitFor()
  await app.put('/api/slots/1/', { label: null, color: null })
  await page.locator('.card-name', { hasText: pack }).waitFor()
  expect(found).toEqual([])
})
