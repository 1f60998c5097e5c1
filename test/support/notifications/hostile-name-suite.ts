/** Sends hostile names of devices by every service, and checks what each has received. */

import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { notificationServices } from '../../../src/alerts/services/index.ts'
import type { NotificationMessage } from '../../../src/domain/notifications/message.ts'
import { type NotificationText, toNotificationText } from '../../../src/domain/notifications/text.ts'
import { certify } from '../certificates.ts'
import { openShared } from '../cleanup.ts'
import { eventually } from '../eventually.ts'
import { hostileNames } from './hostile-names.ts'
import { buildAlertOf, buildKit, buildMessage } from './kit.ts'
import { type MailServer, startMailServer } from './mail-server.ts'
import { type Broker, startMosquitto } from './mosquitto.ts'
import { keys, startVendors, type Vendor, type Vendors } from './vendors.ts'

const kit = buildKit({ signingSecrets: [keys.webhook] })

/** Sends the messages, many at the same time. */
async function sendAll(
  messages: readonly NotificationMessage[],
  type: keyof typeof notificationServices,
  config: Readonly<Record<string, unknown>>,
) {
  const service = notificationServices[type]
  const parsed = service.parse(config)
  const pending = messages.values()
  const failures: unknown[] = []
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      for (const message of pending) {
        const result = await service.send(parsed, message, { ...kit, timeoutMs: 60_000 })
        if (result.outcome !== 'sent') failures.push([message.alerts[0]?.data.name, result])
      }
    }),
  )
  expect(failures).toEqual([])
}

/** Sorts by code unit, so that messages can be compared in whatever order they arrived. */
const sorted = (lines: readonly string[]) => lines.toSorted()

/** Defines the tests. Each message is about this many names. */
export function testHostileNames(namesPerMessage: number): void {
  const names = hostileNames()
  const messages = Array.from({ length: names.length / namesPerMessage }, (_, index) => {
    const ofMessage = names.slice(index * namesPerMessage, (index + 1) * namesPerMessage)
    return buildMessage({ id: `msg_${index}`, alerts: ofMessage.map((name) => buildAlertOf(name)) })
  })
  /** The text of each message, made of visible characters. */
  const texts = messages.map((message) => toNotificationText(message, null))

  let vendors: Vendors
  let mailServer: MailServer
  let broker: Broker
  let closeAll: () => Promise<void>

  beforeAll(async () => {
    closeAll = await openShared(async () => {
      vendors = await startVendors()
      mailServer = await startMailServer()
      broker = await startMosquitto(await certify({ name: 'localhost' }))
    })
  })
  afterAll(() => closeAll())

  it('are different, and leave only visible characters in texts', () => {
    expect(new Set(messages.flatMap(({ alerts }) => alerts.map(({ data }) => data.name))).size).toBe(2000)
    for (const text of texts) {
      for (const line of [text.title, ...linesOf(text)]) {
        expect(line.isWellFormed()).toBe(true)
        expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u)
      }
    }
  })

  it.each(['slack', 'teams', 'discord', 'telegram', 'ntfy', 'gotify', 'apprise'] as const)(
    'are each one message without markup in %s',
    async (vendor: Vendor) => {
      await sendAll(messages, vendor, vendors.config[vendor])
      const shown = vendors.shown[vendor]
      expect(shown.flatMap(({ markup }) => markup)).toEqual([])
      const lines = shown.map(({ title, text }) => (title === null ? text : `${title}\n${text}`))
      expect(sorted(lines)).toEqual(sorted(texts.map((text) => toShown(vendor, text))))
    },
  )

  it('are each one signed message that a webhook can verify', async () => {
    await sendAll(messages, 'webhook', vendors.config.webhook)
    const received = vendors.shown.webhook.map(({ text, headers }) => ({
      id: headers['webhook-id'],
      ...JSON.parse(text),
    }))
    const byId = new Map(received.map((body) => [body.id, body]))
    expect(received.length).toBe(messages.length)
    for (const message of messages) expect(byId.get(message.id)).toEqual(toBody(message))
  })

  it('are each one plain text mail with the same headers', async () => {
    const config = { username: null, password: null, from: 'Micwatch <mics@venue.example>', to: ['crew@venue.example'] }
    await sendAll(messages, 'email', { host: '127.0.0.1', port: mailServer.port, security: 'none', ...config })
    const { mails } = mailServer
    const names = [
      'auto-submitted',
      'content-transfer-encoding',
      'content-type',
      'date',
      'from',
      'importance',
      'message-id',
    ]
    const expected = [...names, 'mime-version', 'subject', 'to', 'x-msmail-priority', 'x-priority'].join()
    for (const { from, to, headers } of mails) {
      expect(sorted(headers.map(([name]) => name)).join()).toBe(expected)
      expect([from, ...to]).toEqual(['mics@venue.example', 'crew@venue.example'])
    }
    const valuesOf = (header: string) =>
      mails.map(({ headers }) => headers.find(([name]) => name === header)?.[1].replaceAll('\u2060', '') ?? '')
    expect(new Set([...valuesOf('to'), ...valuesOf('from'), ...valuesOf('content-type')]).size).toBe(3)
    expect(sorted(valuesOf('message-id'))).toEqual(sorted(messages.map(({ id }) => `<${id}@venue.example>`)))
    expect(sorted(valuesOf('subject'))).toEqual(sorted(texts.map(({ title }) => title)))
    expect(sorted(mails.map(({ text }) => text))).toEqual(sorted(texts.map((text) => linesOf(text).join('\n'))))
  })

  it('are each one JSON object that MQTT publishes', async () => {
    const url = `mqtt://127.0.0.1:${broker.port}`
    const subscriber = await connectAsync(url)
    const received: unknown[] = []
    await subscriber.subscribeAsync('#', { qos: 1 })
    subscriber.on('message', (topic, payload) => received.push({ topic, ...JSON.parse(payload.toString('utf8')) }))
    await sendAll(messages, 'mqtt', { url, topic: 'mics/alerts' })
    await eventually(() => received.length).toBe(messages.length)
    const byId = new Map((received as { id: string }[]).map((body) => [body.id, body]))
    for (const [index, message] of messages.entries()) {
      const text = texts[index]
      if (text === undefined) throw new Error('There is no text.')
      const expected = {
        id: message.id,
        topic: 'mics/alerts',
        severity: 'critical',
        title: text.title,
        text: linesOf(text).join('\n'),
        url: null,
      }
      expect(byId.get(message.id)).toEqual({ ...toBody(message), ...expected })
    }
    await subscriber.endAsync()
  })
}

function linesOf({ lines }: NotificationText): readonly string[] {
  return lines.map(({ text }) => text)
}

/** Returns the text as users see it. Services without titles show the title of several alerts as the first line. */
function toShown(vendor: Vendor, shown: NotificationText): string {
  const [{ title }, lines] = [shown, linesOf(shown)]
  const hasTitle = !['slack', 'discord', 'telegram'].includes(vendor) || lines.length > 1
  const text = [...(hasTitle ? [title] : []), ...lines].join('\n')
  return vendor === 'teams' ? text.replace(/\{(?=\{)/g, '{ ') : text
}

/** The JSON of a message; lone surrogates are replaced. */
function toBody({ id, type, alerts, more }: NotificationMessage): object {
  const wellFormed = JSON.stringify(alerts, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
  return { id, type, timestamp: '2026-11-20T19:00:00.500Z', data: { alerts: JSON.parse(wellFormed), more } }
}
