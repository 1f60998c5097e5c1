/**
 * Collects everything that leaves the service while a cast is entered, and lists each place where the name of a pack
 * stands in place of the title.
 */

import { connectAsync } from 'mqtt'
import { expect, it } from 'vitest'
import { configFor, deviceOf, startApp, startShure, type TestApp, until, withoutPush } from './support/app.ts'
import { certify } from './support/certificates.ts'
import { onTestEnd } from './support/cleanup.ts'
import { write } from './support/frequency-requests.ts'
import { openLive } from './support/live-client.ts'
import { startMailServer } from './support/notifications/mail-server.ts'
import { startMosquitto } from './support/notifications/mosquitto.ts'
import { channels, rules, signIn } from './support/notifications/notification-service.ts'
import { startWebhookReceiver } from './support/notifications/webhook-receiver.ts'
import { openOscClient } from './support/osc-client.ts'

/** By slot. Slot 3 has only a label. */
const titles = ['Nora', 'Ben', 'Lead'] as const
const packOf = (slot: number) => `PACK-${slot}`

/** Fields with the names that equipment reports, beside the title. */
const packFields = /(^|\.)(pack|name_raw|channel_name|channels\.name|transmitter\.name|data\.name)$/

/** Lists texts with the name of a pack, except those that begin with slot and title. */
function listPacks(place: string, value: unknown): string[] {
  if (typeof value === 'string') {
    const [, slot] = /PACK-(\d)/.exec(value) ?? []
    if (slot === undefined || packFields.test(place)) return []
    const named = `${slot} ${titles[Number(slot) - 1]}`
    return value.replace(/^Acknowledged: /, '').startsWith(named) ? [] : [`${place}: ${value}`]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    listPacks(Array.isArray(value) ? place : `${place}.${key}`, item),
  )
}

/** Lists lines with the name of a pack, but not the title. */
function listPacksInLines(place: string, text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, slot] = /PACK-(\d)/.exec(line) ?? []
    return slot === undefined || line.includes(titles[Number(slot) - 1] ?? '') ? [] : `${place}: ${line}`
  })
}

async function startWithCast() {
  const shure = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 4, story: false }))
  const { id } = deviceOf(shure)
  for (const slot of [1, 2, 3]) shure.show.set(id, { name: packOf(slot), battery: 61, rf_level: -47 }, slot)
  const broker = await startMosquitto(await certify({ name: 'localhost' }))
  const osc = await openOscClient()
  const app = await startApp({
    manufacturers: [configFor(shure)],
    config: {
      mqtt: { url: `mqtt://127.0.0.1:${broker.port}`, prefix: 'mics', discovery_prefix: 'mics/discovery' },
      osc: { targets: [{ host: '127.0.0.1', port: osc.port }] },
    },
  })
  await until('the packs are received', async () => {
    const receiver = await app.receiver(id)
    return receiver.channels.filter(({ transmitter }) => transmitter?.name?.startsWith('PACK')).length === 3
  })
  const put = (slot: number, body: object) => write(app, 'PUT', `/api/slots/${slot}/`, body)
  await put(1, { performer_name: 'Nora', role: 'Glinda' })
  await put(2, { performer_name: 'Ben' })
  await put(3, { label: 'Lead' })
  await put(9, { performer_name: 'Mia', planned: { frequency: '1900.125' } })
  const isNamed = (slot: number, title: string) => osc.value(`/micwatch/ch/${slot}/name`) === title
  await until('the titles are sent', () => isNamed(3, 'Lead') && isNamed(9, 'Mia'))
  osc.messages.length = 0
  const received = await watchMqtt(broker.port)
  return { shure, id, app, osc, received }
}

async function watchMqtt(port: number) {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`)
  onTestEnd(() => client.endAsync(true))
  /** The last message of each topic, and all alerts. */
  const received = new Map<string, string>()
  client.on('message', (topic, payload) =>
    received.set(topic.endsWith('/alert') ? `${topic} ${received.size}` : topic, payload.toString()),
  )
  await client.subscribeAsync(['mics/#'], { qos: 1 })
  return received
}

async function addNotifiers(app: TestApp) {
  const [webhook, discreet] = [await startWebhookReceiver(), await startWebhookReceiver()]
  const [mail, discreetMail] = [await startMailServer(), await startMailServer()]
  const admin = await signIn(app)
  const addresses = { from: 'mics@venue.example', to: ['crew@venue.example'] }
  const email = (port: number) => ({
    type: 'email',
    config: { host: '127.0.0.1', port, security: 'none', username: '', password: '', ...addresses },
  })
  const added = [
    { name: 'Webhook', type: 'webhook', config: { url: webhook.url } },
    { name: 'Mail', ...email(mail.port) },
    { name: 'Discreet webhook', type: 'webhook', config: { url: discreet.url }, without_names: true },
    { name: 'Discreet mail', ...email(discreetMail.port), without_names: true },
  ]
  const ids: number[] = []
  for (const body of added) ids.push((await admin.post(channels, body)).json.id)
  await admin.post(rules, { name: 'All', notification_channel_ids: ids, send_cleared: true })
  return { webhook, discreet, mail, discreetMail }
}

// Conformance: C-21.27, C-21.23, C-21.25.
it('names the person, and the pack only beside it, in everything that leaves the service', async () => {
  const { shure, id, app, osc, received } = await startWithCast()
  const { webhook, discreet, mail, discreetMail } = await addNotifiers(app)
  const live = await openLive(app)
  const show = (await app.post('/api/shows/', { title: 'Wicked', group_ids: [] })).json
  await app.post(`/api/shows/${show.id}/start`)
  const [first] = (await app.receiver(id)).channels
  await app.post(`/api/shows/${show.id}/checks/`, { channel_id: first?.id, result: 'pass' })
  await app.post('/api/markers/', { text: 'Spoke', channel_id: first?.id })
  await app.post('/api/config/', { key: 'alert_frequency_conflict_enabled', value: 'true' })
  shure.show.set(id, { battery: 8, frequency: '606.000' }, 1)
  shure.show.set(id, { frequency: '606.000' }, 2)
  const kindsOf = ({ received }: typeof webhook) =>
    received.flatMap(({ body }) => body.data.alerts.map(({ kind }: { kind: string }) => kind))
  const kinds = ['battery_critical', 'frequency_conflict']
  await until('the alerts are sent', () =>
    [webhook, discreet].every((one) => kinds.every((kind) => kindsOf(one).includes(kind))),
  )
  await until('the mails are sent', () => mail.mails.length * discreetMail.mails.length > 0)
  await until('the event is stored', async () => {
    const { results } = (await app.get('/api/events/?kind=battery_critical')).json
    return results.length > 0
  })
  await until('MQTT has the battery', () => [...received.values()].some((text) => text.includes('"battery":8')))
  await until('OSC has the alert', () => osc.value('/micwatch/alert/raised') !== undefined)

  const bodies = [
    'data.json',
    'events/',
    'frequencies/',
    'slots/',
    'alerts/',
    'crew-sheet/',
    `shows/${show.id}/report/`,
  ]
  const found: string[] = []
  for (const path of [...bodies, `shows/${show.id}/checks/`, 'summary/']) {
    found.push(...listPacks(path, (await app.get(`/api/${path}`)).json))
  }
  found.push(...listPacks('/data.json', (await app.get('/data.json')).json))
  const files = ['events.csv', 'frequencies/export.csv', 'crew-sheet.csv', `shows/${show.id}/report.csv`]
  for (const path of files) found.push(...listPacksInLines(path, (await app.get(`/api/${path}`)).bytes.toString()))
  for (const format of ['list', 'wsm']) {
    const { bytes } = await app.get(`/api/frequencies/export.csv?format=${format}`)
    found.push(...listPacksInLines(format, bytes.toString()))
  }
  found.push(...listPacksInLines('metrics', (await app.get('/metrics?channels=1')).bytes.toString()))
  for (const [topic, text] of received) {
    found.push(...(text.startsWith('{') ? listPacks(topic, JSON.parse(text)) : listPacksInLines(topic, text)))
  }
  for (const { address, args } of osc.messages) found.push(...args.flatMap((value) => listPacks(address, value)))
  for (const { body } of webhook.received) found.push(...listPacks('webhook', body))
  for (const { headers, text } of mail.mails) {
    found.push(...listPacksInLines('mail', `${Object.fromEntries(headers).subject}\n${text}`))
  }
  for (const message of live.messages) found.push(...listPacks(`live ${message.type}`, message))
  expect(found).toEqual([])

  const texts = (await app.get('/api/events/')).json.results.map(({ text }: { text: string }) => text)
  expect(texts).toEqual(
    expect.arrayContaining([
      '1 Nora: line check passed',
      '1 Nora: battery critical (8%)',
      '1 Nora: battery at 8% (pack PACK-1)',
      '1 Nora: assigned to PACK-1',
    ]),
  )

  // Without names, only slots are left.
  const alerts = discreet.received.flatMap(({ body }) => body.data.alerts)
  expect(alerts.find(({ kind }) => kind === 'battery_critical')).toMatchObject({
    message: '1: battery at 8%',
    data: { slot: 1, title: null, title_from: null, pack: null, channel_name: null },
    first: { message: '1: battery at 8%', data: { title: null } },
  })
  expect(alerts.find(({ kind }) => kind === 'frequency_conflict')).toMatchObject({
    message: '2: frequency conflict (same frequency as 1)',
    data: { conflicts_with: [{ slot: 1, title: null }] },
  })
  const discreetTexts = discreetMail.mails.map(({ headers, text }) => `${Object.fromEntries(headers).subject}\n${text}`)
  expect(JSON.stringify([alerts, discreetTexts])).not.toMatch(/Nora|Ben|Lead|PACK/)
  expect(discreetTexts.join()).toContain('1, 8%')
})
