/** The page Streams in a browser. */

import { createSocket } from 'node:dgram'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { StreamSender, type StreamSenderOptions, tone } from '../../simulators/audio/stream-sender.ts'
import { sapPort } from '../../src/domain/audio/sap.ts'
import { configFor, startApp, startShure, until } from '../support/app.ts'
import { browserForTests, findViolations, messages, phone, scrollsHorizontally } from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { tokenHeaders } from '../support/tokens.ts'
import { addListeningUser } from '../support/users.ts'

const browser = browserForTests()
const loopback = { interfaces: ['127.0.0.1'] }

async function openSender(options: Partial<StreamSenderOptions> & Pick<StreamSenderOptions, 'port'>) {
  const sender = await StreamSender.open({
    ...{ address: `239.69.${options.port >> 8}.${options.port & 255}`, channels: 2, signal: tone(997, 0.25) },
    ...options,
  })
  onTestEnd(() => sender.close())
  return sender
}

const item = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('button', { name, exact: true }) })
const toggle = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function expectAccessible(page: Page): Promise<void> {
  await eventually(() => findViolations(page)).toEqual([])
  await eventually(() => scrollsHorizontally(page)).toBe(false)
}

// Conformance: C-27.117.
it('adds a stream by its description, shows its levels, maps by proposal, flags a label that changed, and deletes', async () => {
  const simulator = await startShure({ receivers: 1, channelsPerReceiver: 2 })
  const config = { listening: true, listening_without_tls: true, audio: loopback }
  const app = await startApp({ manufacturers: [configFor(simulator)], config })
  const admin = await tokenHeaders(app, 'admin')
  await addListeningUser(app, 'admin')
  const [first] = await until('the receiver is known', async () => {
    const { receivers } = (await app.get('/api/data.json', admin)).json
    return receivers.length > 0 && receivers[0].channels
  })
  const port = 20_000 + (process.pid % 10_000)
  const entered = await openSender({ port, name: 'Desk : 1' })
  entered.start()

  const page = await browser.openAs(app, 'admin', '/admin/streams')
  await page.getByRole('heading', { name: 'No streams yet' }).waitFor()
  await page.getByText(/needs an IGMP querier/).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Add stream' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Description (SDP)').fill('v=0')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText(/no line m=audio/).waitFor()
  await dialog.getByLabel('Description (SDP)').fill(entered.sdp)
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await messages(page).getByText('Desk : 1 added.').waitFor()
  await item(page, 'Desk : 1').getByText('Not in use').waitFor()
  await toggle(page, 'Desk : 1').click()
  await item(page, 'Desk : 1').getByText('Receiving').first().waitFor()
  await eventually(() => item(page, 'Desk : 1').getByText('−12 dBFS').count()).toBe(2)
  await expectAccessible(page)

  await item(page, 'Desk : 1').getByRole('button', { name: 'Listen Desk : 1, channel 2' }).click()
  await eventually(() => app.service.listening.list()).toMatchObject([{ channel_id: null, ch: 2 }])
  await page.getByRole('region', { name: 'Player' }).getByText('Desk : 1, channel 2').first().waitFor()
  await item(page, 'Desk : 1').getByRole('button', { name: 'Stop listening Desk : 1, channel 2' }).click()
  await eventually(() => app.service.listening.list()).toEqual([])

  const announced = { port: port + 1, name: 'Rack : 1' }
  const labelled = await openSender({ ...announced, labels: [first.name, 'Spare'] })
  labelled.announce()
  labelled.start()
  await toggle(page, 'Rack : 1').click()
  await item(page, 'Rack : 1')
    .getByRole('button', { name: /^Map to / })
    .first()
    .click()
  await messages(page).getByText('Audio stream saved.').waitFor()
  await item(page, 'Rack : 1').getByRole('link').waitFor()
  expect((await app.get('/api/audio/mappings/', admin)).json).toMatchObject([
    { channel_id: first.id, channel: 1, label: first.name, label_changed: false },
  ])
  labelled.withdraw()
  await labelled.close()
  const relabelled = await openSender({ ...announced, labels: ['Kick', 'Spare'] })
  relabelled.announce()
  await item(page, 'Rack : 1').getByText(`Label changed: ${first.name} → Kick`).waitFor()
  await expectAccessible(page)
  await page.setViewportSize(phone.viewport)
  await expectAccessible(page)
  await item(page, 'Rack : 1')
    .getByRole('button', { name: /^Keep mapping/ })
    .click()
  await item(page, 'Rack : 1')
    .getByText(/^Label changed/)
    .waitFor({ state: 'detached' })

  await toggle(page, 'Desk : 1').click()
  await item(page, 'Desk : 1').getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Name').fill('Desk left')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await messages(page).getByText('Desk left saved.').waitFor()
  await item(page, 'Desk left').getByRole('button', { name: 'Disable' }).click()
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await item(page, 'Desk left').getByText('Disabled').first().waitFor()
  await item(page, 'Desk left').getByRole('button', { name: 'Enable' }).click()
  await item(page, 'Desk left').getByRole('button', { name: 'Disable' }).waitFor()
  await item(page, 'Desk left').getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await messages(page).getByText('Desk left deleted.').waitFor()
  await item(page, 'Desk left').waitFor({ state: 'detached' })
}, 180_000)

// Conformance: C-27.118.
it('says how to switch listening on, which process receives, and what is wrong with announcements and programs', async () => {
  const off = await startApp()
  const empty = await browser.openAs(off, 'viewer', '/admin/streams', phone)
  await empty.getByRole('heading', { name: 'Listening is off' }).waitFor()
  await empty.getByText('listening: true').waitFor()
  await empty.getByRole('heading', { name: 'Streams are not sought' }).waitFor()
  await eventually(() => empty.getByRole('button', { name: 'Add stream' }).isDisabled()).toBe(true)
  await expectAccessible(empty)

  const missing = { name: 'Sound card', argv: ['/no/such/program'], format: 's16le', rate: 48_000, channels: 2 }
  const config = { listening: true, audio: { ...loopback, commands: [missing] } }
  const receiver = await startApp({ config })
  const page = await browser.openAs(receiver, 'admin', '/admin/streams')
  await toggle(page, 'Sound card').click()
  await page.getByRole('alert').getByText('The program /no/such/program does not exist.').waitFor()
  await item(page, 'Sound card').getByText('Error').first().waitFor()
  await eventually(() => item(page, 'Sound card').getByRole('button', { name: 'Delete' }).count()).toBe(0)
  const socket = createSocket('udp4')
  onTestEnd(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.setMulticastInterface('127.0.0.1')
  const flood = setInterval(() => {
    for (let packet = 0; packet < 20; packet++) socket.send(Buffer.from([0x20, packet]), sapPort, '239.255.255.255')
  }, 20)
  onTestEnd(() => clearInterval(flood))
  await page.getByText('The announcement is encrypted, damaged or no description of a stream (SAP).').waitFor()
  await page
    .getByRole('alert')
    .getByText(/^Too many announcements arrive/)
    .waitFor()
  clearInterval(flood)
  await expectAccessible(page)

  const { databaseUrl, dataDir } = receiver
  const other = await startApp({ databaseUrl, dataDir, config })
  const second = await browser.openAs(other, 'admin', '/admin/streams')
  await second.getByText(`Audio is received by the process ${receiver.service.nodeId}.`).waitFor()
}, 120_000)
