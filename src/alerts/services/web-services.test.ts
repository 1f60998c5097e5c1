/** Sends messages by services that use HTTP: to working ones, and to ones that refuse, misbehave or are not allowed. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { buildAlertOf, buildKit, buildMessage } from '../../../test/support/notifications/kit.ts'
import { configsFor, keys, listen, startVendors, type Vendor } from '../../../test/support/notifications/vendors.ts'
import { verifyWebhook } from '../../../test/support/notifications/verify-webhook.ts'
import { createDestinations } from '../../upstream/destinations.ts'
import { findBlockedHost, notificationServices } from './index.ts'
import type { SendResult } from './service.ts'

const vendors = Object.keys(keys) as Vendor[]
const kit = buildKit({ signingSecrets: [keys.webhook] })

function send(vendor: Vendor, config: Readonly<Record<string, unknown>>, options = kit, message = buildMessage()) {
  const service = notificationServices[vendor]
  return service.send(service.parse(config), message, options)
}

/** Listens for TCP connections until the test ends, and returns the origin. */
async function listenForBytes(respond: (write: (bytes: string) => void, end: () => void) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () =>
      respond(
        (bytes) => void socket.write(bytes),
        () => socket.destroy(),
      ),
    )
    onTestEnd(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a message', () => {
  it.each(vendors)('is accepted by %s with its limits', async (vendor) => {
    const { config, shown } = await startVendors()
    const names = Array.from({ length: 50 }, (_, index) => `${'*_<&@"\\😀'.repeat(8)} ${index}`)
    const full = buildMessage({ alerts: names.map((name) => buildAlertOf(name, { receiver: name })), more: 7 })
    const publicUrl = 'https://mics.example/'
    for (const message of [
      full,
      buildMessage(),
      buildMessage({ type: 'alert.cleared' }),
      buildMessage({ type: 'test', alerts: [] }),
    ]) {
      expect(await send(vendor, config[vendor], { ...kit, publicUrl }, message)).toMatchObject({
        outcome: 'sent',
        error: null,
      })
    }
    expect(shown[vendor].flatMap(({ markup }) => markup)).toEqual([])
    expect(shown[vendor].length).toBe(4)
    if (vendor !== 'webhook') expect(shown[vendor][0]?.text).toMatch(/And \d+ more\./)
  })

  // Conformance: C-14.51.
  it('has the priority that its severity has in the service', async () => {
    const { config, shown } = await startVendors()
    for (const vendor of ['ntfy', 'gotify', 'apprise'] as const) {
      for (const severity of ['critical', 'warning', 'info'] as const) {
        await send(vendor, config[vendor], kit, buildMessage({ alerts: [{ ...buildAlertOf('Nora'), severity }] }))
      }
      await send(vendor, config[vendor], kit, buildMessage({ type: 'alert.cleared' }))
    }
    const prioritiesOf = (vendor: Vendor) => shown[vendor].map(({ priority }) => priority)
    expect(prioritiesOf('ntfy')).toEqual([5, 4, 3, 3])
    expect(prioritiesOf('gotify')).toEqual([8, 5, 2, 2])
    expect(prioritiesOf('apprise')).toEqual(['failure', 'warning', 'info', 'success'])
  })

  // Conformance: C-26.34.
  it.each(vendors)('has the links that acknowledge its alerts in %s', async (vendor) => {
    const { config, shown } = await startVendors()
    const linkOf = (number: number) => `https://mics.example/acknowledge#1-${number}-1-${'0f'.repeat(16)}`
    const [nora, ben] = ['Nora', 'Ben'].map((name, index) => ({
      ...buildAlertOf(name),
      acknowledge_url: linkOf(index),
    }))
    if (nora === undefined || ben === undefined) throw new Error('There are no alerts.')
    for (const alerts of [[nora], [nora, ben]]) {
      const result = await send(vendor, config[vendor], { ...kit, publicUrl: null }, buildMessage({ alerts }))
      expect(result).toMatchObject({ outcome: 'sent', error: null })
    }
    const [one, two] = shown[vendor]
    expect([...(one?.markup ?? []), ...(two?.markup ?? [])]).toEqual([])
    expect(one?.links).toEqual([linkOf(0)])
    expect(two?.links).toEqual([linkOf(0), linkOf(1)])
  })

  it('is sent to the services of a request, or to those that Apprise uses by default', async () => {
    const { origin, shown } = await startVendors()
    const result = await send('apprise', { url: `${origin}/apprise`, urls: 'tgram://bot/chat' })
    expect([result.outcome, shown.apprise.length]).toEqual(['sent', 1])
    const byDefault = await send('apprise', { url: `${origin}/apprise` })
    expect([byDefault.outcome, shown.apprise.length]).toEqual(['sent', 2])
    const unknown = await send('apprise', { url: `${origin}/apprise`, key: 'nobody' })
    expect([unknown.outcome, unknown.error]).toEqual([
      'failed',
      'Apprise has no services to notify. Check the key, the tag and the URLs.',
    ])
  })
})

describe('a webhook', () => {
  it('is verified like the example of the specification', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    expect(verifyWebhook(keys.webhook, headers, '{"test": 2432232314}', 1614265330)).toBe(null)
    expect(verifyWebhook(keys.webhook, headers, '{"test": 2432232315}', 1614265330)).toBe('no signature matches')
  })

  // Conformance: C-14.52.
  it('has the id of the message, the time of the try, and a signature by each secret', async () => {
    const { config, shown } = await startVendors()
    const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`, keys.webhook]
    const now = Date.now()
    for (const delay of [0, 60_000]) {
      await send('webhook', config.webhook, { ...kit, signingSecrets: secrets, now: () => now + delay })
    }
    const [first, second] = shown.webhook
    for (const secret of secrets) {
      for (const message of [first, second]) {
        expect(verifyWebhook(secret, message?.headers ?? {}, message?.text ?? '')).toBe(null)
      }
    }
    expect(first?.headers['webhook-id']).toBe(buildMessage().id)
    expect(second?.headers['webhook-id']).toBe(buildMessage().id)
    expect(Number(second?.headers['webhook-timestamp']) - Number(first?.headers['webhook-timestamp'])).toBe(60)
    expect(second?.text).toBe(first?.text)
    expect(first?.headers['content-type']).toContain('application/json')
    expect(JSON.parse(first?.text ?? '')).toEqual({
      type: 'alert.raised',
      timestamp: '2026-11-20T19:00:00.500Z',
      data: { alerts: buildMessage().alerts, more: 0 },
    })
  })

  // Conformance: C-14.53.
  it('is gone after a response with status 410, unlike other services', async () => {
    const { config, answers } = await startVendors()
    for (const vendor of vendors) {
      answers[vendor].push({ status: 410 })
      const { outcome, isGone } = await send(vendor, config[vendor])
      expect([vendor, outcome, isGone]).toEqual([vendor, 'failed', vendor === 'webhook'])
    }
  })
})

describe.each(vendors)('%s', (vendor) => {
  // Conformance: C-14.54.
  it('is tried again after 408, 429 and 5xx, with the pause that the service asks for', async () => {
    const { config, answers } = await startVendors()
    const tryWith = async (status: number, headers = {}, body: unknown = undefined) => {
      answers[vendor].push({ status, headers, body })
      const { outcome, status: received, retryAfterSeconds } = await send(vendor, config[vendor])
      expect(received).toBe(status)
      return [outcome, retryAfterSeconds]
    }
    for (const status of [408, 429, 500, 502, 503, 504]) expect(await tryWith(status)).toEqual(['retry', null])
    expect(await tryWith(429, { 'retry-after': '30' })).toEqual(['retry', 30])
    const date = 'Fri, 20 Nov 2026 19:00:00 GMT'
    expect(await tryWith(503, { date, 'retry-after': 'Fri, 20 Nov 2026 19:00:45 GMT' })).toEqual(['retry', 45])
    for (const status of [300, 301, 302, 307, 308, 400, 401, 403, 404, 405, 413, 422]) {
      const redirect = status < 400 ? { location: '/services/other' } : {}
      expect([status, ...(await tryWith(status, redirect))]).toEqual([status, 'failed', null])
    }
  })

  // Conformance: C-14.55.
  it('does not repeat secrets, control characters or more than 200 characters of a response', async () => {
    const config = notificationServices[vendor].parse(configsFor('http://127.0.0.1:1')[vendor])
    const url = new URL(String(config.url ?? 'http://none'))
    const secrets = [...Object.values(config), url.pathname + url.search].filter((value) =>
      /Secret/.test(String(value)),
    )
    const origin = await listen((_, response) => {
      response.writeHead(400, { 'content-type': 'text/html' })
      response.end(`${secrets.join(' ')}\u0000\u001b[31m\r\n${'x'.repeat(500)}`)
    })
    const result = await send(vendor, configsFor(origin)[vendor])
    expect(result.outcome).toBe('failed')
    expect(result.response?.length).toBeLessThanOrEqual(200)
    expect(`${result.response} ${result.error}`).not.toMatch(/SecretKey|[\p{Cc}]/u)
  })
})

describe('a service that misbehaves', () => {
  const limited = { ...kit, timeoutMs: 300 }
  const tryAt = async (origin: string, options = kit): Promise<SendResult> => {
    const result = await send('gotify', configsFor(origin).gotify, options)
    expect(String(result.error)).not.toContain('Secret')
    return result
  }
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: '

  const misbehaviours: readonly (readonly [name: string, start: () => Promise<string>, error: RegExp])[] = [
    ['refuses connections', async () => 'http://127.0.0.1:1', /^Connection refused by 127.0.0.1:1\. Check/],
    ['does not respond', () => listenForBytes(() => {}), /^No response from 127.0.0.1:\d+ within 0.3 s\.$/],
    ['closes the connection', () => listenForBytes((_, end) => end()), /connection was closed/],
    ['does not speak HTTP', () => listenForBytes((write) => write('220 mail ESMTP\r\n')), /^The connection to/],
    [
      'sends endless headers',
      () => listenForBytes((write) => write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(9999)}`)),
      /larger than/,
    ],
    ['has no name', async () => 'http://no-such-name.invalid', /name of no-such-name.invalid does not resolve/],
  ]
  it.each(misbehaviours)('is tried again, if it %s', async (name, start, error) => {
    const result = await tryAt(await start(), name === 'does not respond' ? limited : kit)
    expect(result).toMatchObject({ outcome: 'retry', status: null, response: null, isGone: false })
    expect(result.error).toMatch(error)
  })

  it('has accepted the message, whatever the body of its response', async () => {
    const bodies = [`${ok}10\r\n\r\nhalf`, `${ok}10000000\r\n\r\n${'x'.repeat(200_000)}`, `${ok}0\r\n\r\n`]
    for (const bytes of bodies) {
      const { outcome }: SendResult = await tryAt(
        await listenForBytes((write, end) => {
          write(bytes)
          setTimeout(end, 50)
        }),
      )
      expect(outcome).toBe('sent')
    }
  })

  it('is not waited for when the program stops', async () => {
    const stop = new AbortController()
    const origin = await listenForBytes(() => stop.abort())
    await expect(send('gotify', configsFor(origin).gotify, { ...kit, signal: stop.signal })).rejects.toThrow('aborted')
  })

  it('has failed, if it responds with success to a request that it does not understand', async () => {
    const { config, answers } = await startVendors()
    answers.telegram.push({ status: 200, body: '<html>Sign in to this network</html>' })
    answers.teams.push({
      status: 200,
      body: 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
    })
    for (const vendor of ['telegram', 'teams'] as const) {
      expect(await send(vendor, config[vendor])).toMatchObject({ outcome: 'failed', status: 200 })
    }
  })

  it('states in its response how long to wait', async () => {
    const { config, answers } = await startVendors()
    answers.discord.push({ status: 429, body: { message: 'You are being rate limited.', retry_after: 64.57 } })
    answers.telegram.push({ status: 429, body: { ok: false, error_code: 429, parameters: { retry_after: 35 } } })
    expect((await send('discord', config.discord)).retryAfterSeconds).toBe(65)
    expect((await send('telegram', config.telegram)).retryAfterSeconds).toBe(35)
  })

  it('explains the error', async () => {
    const { config, origin } = await startVendors()
    const errorOf = async (vendor: Vendor, fields: object) =>
      (await send(vendor, { ...config[vendor], ...fields })).error
    const host = new URL(origin).host
    expect(await errorOf('telegram', { chat_id: '@nobody' })).toBe(
      `${host} responded with status 400: Bad Request: chat not found.`,
    )
    expect(await errorOf('ntfy', { token: 'tk_wrong' })).toBe(
      `${host} responded with status 403: forbidden. Check the credentials.`,
    )
    expect(await errorOf('slack', { url: `${origin}/services/T1/B1/x` })).toBe(
      'Slack responded with status 404: no_service. Check the address.',
    )
    expect(await errorOf('gotify', { token: 'wrong' })).toContain(
      'you need to provide a valid access token. Check the credentials.',
    )
  })
})

// Conformance: C-14.56.
describe('an address that is not allowed', () => {
  const destinations = createDestinations()
  const blocked = [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '0xa9.254.43518',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[::a9fe:a9fe]',
    '169.254.7.7',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '0.0.0.0',
    '0.1.2.3',
    '0',
    '[::]',
    '224.0.0.1',
    '239.255.255.250',
    '[ff02::1]',
    '255.255.255.255',
  ]

  it.each(blocked)('http://%s is neither saved nor used', async (host) => {
    for (const vendor of vendors) {
      const service = notificationServices[vendor]
      const config = service.parse(configsFor(`http://${host}`)[vendor])
      expect([vendor, await findBlockedHost(service, config, destinations)]).not.toContain(null)
      const result = await service.send(config, buildMessage(), { ...kit, destinations, timeoutMs: 1000 })
      expect(result).toMatchObject({ outcome: 'failed', status: null, response: null })
      expect(result.error).toMatch(/^Nothing is sent to /)
    }
  })

  it('is one of this program, but not of another program on this machine', async () => {
    const requests: string[] = []
    const origin = await listen((request, response) => {
      requests.push(request.url ?? '')
      response.end()
    })
    const { port } = new URL(origin)
    const own = createDestinations()
    own.blockListener('0.0.0.0', Number(port))
    for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]']) {
      const config = configsFor(`http://${host}:${port}`).gotify
      expect(await send('gotify', config, { ...kit, destinations: own })).toMatchObject({
        outcome: 'failed',
        status: null,
      })
    }
    expect(requests).toEqual([])
    expect((await send('gotify', configsFor(origin).gotify, kit)).outcome).toBe('sent')
    expect(requests).toEqual(['/gotify/message'])
  })

  it('is refused when it connects, even if the name had another address when it was saved', async () => {
    const answers = ['127.0.0.1', '169.254.169.254']
    const rebinding = { ...destinations, resolve: async () => [{ address: answers.shift() ?? '', family: 4 }] }
    const service = notificationServices.webhook
    const config = service.parse({ url: 'http://rebinding.example/' })
    expect(await findBlockedHost(service, config, rebinding)).toBe(null)
    const result = await service.send(config, buildMessage(), { ...kit, destinations: rebinding })
    expect(result.error).toMatch(/^Nothing is sent to rebinding.example/)
  })
})
