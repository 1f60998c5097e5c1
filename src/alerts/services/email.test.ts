/** Sends email to a real SMTP server. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { onTestEnd } from '../../../test/support/cleanup.ts'
import { buildKit, buildMessage } from '../../../test/support/notifications/kit.ts'
import { account, type MailServer, startMailServer } from '../../../test/support/notifications/mail-server.ts'
import { createDestinations } from '../../upstream/destinations.ts'
import { notificationServices } from './index.ts'

const { email } = notificationServices
const kit = buildKit()

function configFor({ port }: Pick<MailServer, 'port'>, fields: Readonly<Record<string, unknown>> = {}) {
  const auth = { username: '', password: '' }
  const addresses = { from: 'Müller <mics@venue.example>', to: ['crew@venue.example'] }
  return email.parse({ host: '127.0.0.1', port, security: 'none', ...auth, ...addresses, ...fields })
}

const sendTo = (...names: readonly string[]) => ({ to: names.map((name) => `${name}@venue.example`) })

describe('email', () => {
  // Conformance: C-14.57.
  it('is one message to all recipients, with an id derived from that of the delivery', async () => {
    const server = await startMailServer()
    const message = buildMessage({ type: 'alert.cleared' })
    for (let attempt = 1; attempt <= 2; attempt++) {
      const result = await email.send(configFor(server, sendTo('a', 'b', 'c')), message, kit)
      expect(result).toMatchObject({
        outcome: 'sent',
        status: 250,
        response: expect.stringMatching(/^250 /),
        error: null,
      })
    }
    const [first, second] = server.mails
    expect(server.mails.length).toBe(2)
    expect(first).toMatchObject({
      from: 'mics@venue.example',
      to: ['a', 'b', 'c'].map((name) => `${name}@venue.example`),
    })
    expect(second?.headers).toEqual(first?.headers)
    const headers = Object.fromEntries(first?.headers ?? [])
    expect(headers).toMatchObject({
      from: 'Müller <mics@venue.example>',
      to: 'a@venue.example, b@venue.example, c@venue.example',
      subject: 'Cleared: Battery critical: 7 Nora',
      'message-id': `<${message.id}@venue.example>`,
      date: 'Fri, 20 Nov 2026 19:00:00 +0000',
      'content-type': 'text/plain; charset=utf-8',
      'auto-submitted': 'auto-generated',
    })
  })

  // Conformance: C-26.34.
  it('has a link below each alert with which it can be acknowledged', async () => {
    const server = await startMailServer()
    const acknowledge_url = `https://mics.example/acknowledge#1-2-3-${'0f'.repeat(16)}`
    const alerts = buildMessage().alerts.map((alert) => ({ ...alert, acknowledge_url }))
    await email.send(configFor(server), buildMessage({ alerts }), kit)
    expect(server.mails[0]?.text).toBe(`Battery critical: 7 Nora, 9%\nAcknowledge: ${acknowledge_url}`)
  })

  it('contains the title, the alerts and a link', async () => {
    const server = await startMailServer()
    const options = { ...kit, publicUrl: 'https://mics.example' }
    await email.send(configFor(server), buildMessage(), options)
    expect(server.mails[0]?.text).toBe('Battery critical: 7 Nora, 9%\nhttps://mics.example/channels/1')
    expect(server.mails[0]?.headers).toContainEqual(['importance', 'High'])
  })

  it('is sent with the user name and the password', async () => {
    const server = await startMailServer({ authOptional: false })
    expect((await email.send(configFor(server, account), buildMessage(), kit)).outcome).toBe('sent')
    expect(server.mails[0]?.user).toBe(account.username)
    const wrong = { username: 'mics', password: 'wrongSecret' }
    const result = await email.send(configFor(server, wrong), buildMessage(), kit)
    expect(result).toMatchObject({ outcome: 'failed', status: 535, response: '535 5.7.8 Wrong password ********' })
    expect(result.error).not.toContain('wrongSecret')
    expect((await email.send(configFor(server), buildMessage(), kit)).status).toBe(530)
  })

  // Conformance: C-14.58.
  it('is tried again after a status of 4xx, and not after 5xx', async () => {
    const server = await startMailServer()
    const outcomeOf = async (...names: readonly string[]) => {
      const { outcome, status } = await email.send(configFor(server, sendTo(...names)), buildMessage(), kit)
      return [outcome, status]
    }
    expect(await outcomeOf('greylisted')).toEqual(['retry', 451])
    expect(await outcomeOf('greylisted')).toEqual(['sent', 250])
    expect(await outcomeOf('full')).toEqual(['retry', 452])
    expect(await outcomeOf('busy')).toEqual(['retry', 421])
    expect(await outcomeOf('unknown')).toEqual(['failed', 550])
    expect(await outcomeOf('unknown', 'full')).toEqual(['retry', expect.any(Number)])
  })

  it('reports recipients that were refused, and is sent again if they may be accepted later', async () => {
    const server = await startMailServer()
    const partly = await email.send(configFor(server, sendTo('crew', 'unknown')), buildMessage(), kit)
    const error = 'Not accepted for unknown@venue.example (550 5.1.1 No such user).'
    expect(partly).toMatchObject({ outcome: 'sent', status: 250, error })
    expect(server.mails[0]?.to).toEqual(['crew@venue.example'])
    const later = await email.send(configFor(server, sendTo('crew', 'full')), buildMessage(), kit)
    expect(later).toMatchObject({ outcome: 'retry', status: 250 })
  })

  it('is never sent without TLS if STARTTLS is required', async () => {
    const server = await startMailServer()
    const result = await email.send(configFor(server, { security: 'starttls', ...account }), buildMessage(), kit)
    expect(result.outcome).toBe('failed')
    expect(result.error).toMatch(/does not offer STARTTLS, so nothing was sent/)
    const stripped = await startMailServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS', 'AUTH'] })
    expect((await email.send(configFor(stripped, { security: 'starttls' }), buildMessage(), kit)).outcome).toBe(
      'failed',
    )
    expect([...server.mails, ...stripped.mails]).toEqual([])
  })

  it('is not sent to a server whose certificate is not trusted', async () => {
    const servers = {
      tls: await startMailServer({ secure: true }),
      starttls: await startMailServer({ disabledCommands: [] }),
    }
    for (const security of ['tls', 'starttls'] as const) {
      const result = await email.send(configFor(servers[security], { security }), buildMessage(), kit)
      expect(result).toMatchObject({ outcome: 'retry', status: null })
      expect(result.error).toMatch(/^The certificate of 127.0.0.1:\d+ was not accepted/)
    }
    expect([...servers.tls.mails, ...servers.starttls.mails]).toEqual([])
  })

  it('is tried again, if the server does not respond or is not one', async () => {
    const hanging = await startMailServer()
    const late = await email.send(configFor(hanging, sendTo('silent')), buildMessage(), { ...kit, timeoutMs: 500 })
    expect(late).toMatchObject({ outcome: 'retry', status: null, error: expect.stringMatching(/within 0.5 s\.$/) })
    const port = await listenForBytes('HTTP/1.1 400 Bad Request\r\n\r\n')
    expect(await email.send(configFor({ port }), buildMessage(), kit)).toMatchObject({ outcome: 'retry', status: null })
    const mute = await listenForBytes('')
    const silent = await email.send(configFor({ port: mute }), buildMessage(), { ...kit, timeoutMs: 200 })
    expect(silent.error).toMatch(/^No response from/)
    const refused = await email.send(configFor({ port: 1 }), buildMessage(), kit)
    expect(refused).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^Connection refused by 127.0.0.1:1\./),
    })
  })

  it('is not sent to addresses that are not allowed', async () => {
    const server = await startMailServer()
    const own = createDestinations()
    own.blockListener('127.0.0.1', server.port)
    const hosts = [
      '127.0.0.1',
      'localhost',
      '0x7f.1',
      '::ffff:127.0.0.1',
      '169.254.169.254',
      '::ffff:a9fe:a9fe',
      '0.0.0.0',
    ]
    for (const host of hosts) {
      const result = await email.send(configFor(server, { host }), buildMessage(), { ...kit, destinations: own })
      expect([host, result.outcome, result.status]).toEqual([host, 'failed', null])
      expect(result.error).toMatch(/^Nothing is sent to/)
    }
    expect(server.mails).toEqual([])
  })
})

/** Listens, sends these bytes to every client, and nothing else. */
async function listenForBytes(bytes: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onTestEnd(() => socket.destroy())
    if (bytes !== '') socket.end(bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => server.close())
  return (server.address() as AddressInfo).port
}
