import { describe, expect, it } from 'vitest'
import { type NotificationChannelType, notificationChannelTypes } from '../../contract/notification-services.ts'
import { RequestError } from '../../domain/errors.ts'
import { createSigningSecret, notificationServices } from './index.ts'

const email = {
  host: 'mail.venue.example',
  port: 587,
  security: 'starttls',
  username: 'mics',
  password: 'secret',
  from: 'Mics <mics@venue.example>',
  to: ['crew@venue.example'],
}
const url = 'https://service.example'

const valid: Readonly<Record<NotificationChannelType, readonly Readonly<Record<string, unknown>>[]>> = {
  email: [
    email,
    { ...email, host: '::1', security: 'none', username: null, password: null, from: 'mics@venue.example' },
  ],
  webhook: [{ url: 'http://127.0.0.1:8123/api/webhook?key=1' }, { url: 'http://[::1]/' }],
  ntfy: [
    { url, topic: 'mics' },
    { url: `${url}/`, topic: 'mics', token: 'tk_1' },
    { url, topic: 'm', username: 'a', password: 'b' },
  ],
  slack: [{ url: `${url}/services/T/B/X` }],
  teams: [{ url: `${url}/workflows/1?sig=2` }],
  discord: [{ url: `${url}/api/webhooks/1/2` }],
  telegram: [
    { token: '1:a-B_c', chat_id: '@crew' },
    { token: '1:a', chat_id: '-100', server: 'http://10.0.0.7:8081' },
  ],
  gotify: [{ url: `${url}/gotify/`, token: 'A.b-c' }],
  apprise: [
    { url, key: 'crew' },
    { url, key: 'crew', tag: 'rf' },
    { url, urls: 'tgram://a/b, mailto://c' },
  ],
  mqtt: [
    { url: 'mqtt://10.0.0.7', topic: 'venue/mics' },
    { url: 'mqtts://b:1', topic: 't', username: 'u', password: 'p' },
  ],
}

const findProblem = (type: NotificationChannelType, config: Readonly<Record<string, unknown>>) => {
  try {
    notificationServices[type].parse(config)
    return null
  } catch (error) {
    if (error instanceof RequestError && error.status === 400) return error.details
    throw error
  }
}

// Conformance: C-14.61.
describe('configurations', () => {
  it.each(notificationChannelTypes)('%s: a field that is missing, unknown or of the wrong type is named', (type) => {
    const service = notificationServices[type]
    for (const config of valid[type]) {
      expect(service.parse(config)).toEqual(config)
      // What is stored is parsed again.
      expect(service.parse(service.parse(config))).toEqual(config)
      expect(findProblem(type, { ...config, extra: 1 })).toBe('config.extra: unknown field')
      expect(findProblem(type, { ...config, __proto__: null, constructor: 1 })).toBe(
        'config.constructor: unknown field',
      )
      for (const name of Object.keys(config)) {
        for (const value of [7.5, true, {}, [[]], 'a\r\nb', 'a\u2028b', '\ud800', 'x'.repeat(70_000)]) {
          expect([name, value, findProblem(type, { ...config, [name]: value })?.split(':')[0]]).toEqual([
            name,
            value,
            `config.${name}`,
          ])
        }
      }
    }
    const [config = {}] = valid[type]
    for (const name of Object.keys(config)) {
      const { [name]: _, ...others } = config
      const isOptional = type === 'apprise' && name !== 'url'
      expect(findProblem(type, others)).toBe(isOptional ? null : `config.${name}: missing`)
    }
  })

  it('name their secrets', () => {
    const secrets = Object.entries(notificationServices).map(([type, service]) => [type, service.secrets.join()])
    expect(Object.fromEntries(secrets)).toEqual({
      email: 'password',
      webhook: '',
      ntfy: 'token,password',
      slack: 'url',
      teams: 'url',
      discord: 'url',
      telegram: 'token',
      gotify: 'token',
      apprise: 'urls',
      mqtt: 'password',
    })
  })

  it.each([
    ['webhook', { url: 'ftp://a' }],
    ['webhook', { url: 'file:///etc/passwd' }],
    ['webhook', { url: 'https://user:password@a' }],
    ['webhook', { url: 'https://a\n.example' }],
    ['webhook', { url: 'https://a b' }],
    ['webhook', { url: 'http:\\\\a' }],
    ['webhook', { url: 'https://a/#part' }],
    ['webhook', { url: 'http://a:0' }],
    ['webhook', { url: 'http://' }],
    ['ntfy', { url: 'https://ntfy.sh/mics', topic: 'mics' }],
    ['ntfy', { url, topic: 'a/b' }],
    ['ntfy', { url, topic: 'x'.repeat(65) }],
    ['ntfy', { url, topic: 'm', token: 'a b' }],
    ['ntfy', { url, topic: 'm', token: 't', username: 'u', password: 'p' }],
    ['ntfy', { url, topic: 'm', username: 'u' }],
    ['ntfy', { url, topic: 'm', password: 'p' }],
    ['telegram', { token: '1:a/../x', chat_id: '1' }],
    ['telegram', { token: '1:a', chat_id: 'crew' }],
    ['telegram', { token: '1:a', chat_id: '1', server: 'http://a?b' }],
    ['gotify', { url, token: 'a\tb' }],
    ['gotify', { url: `${url}?a=b`, token: 'a' }],
    ['apprise', { url, key: 'a/b' }],
    ['mqtt', { url: 'http://a', topic: 'm' }],
    ['mqtt', { url: 'mqtt://u:p@a', topic: 'm' }],
    ['mqtt', { url: 'mqtt://a/b', topic: 'm' }],
    ['mqtt', { url: 'mqtt://', topic: 'm' }],
    ['mqtt', { url: 'mqtt://a', topic: 'm/#' }],
    ['mqtt', { url: 'mqtt://a', topic: 'm/+/n' }],
    ['mqtt', { url: 'mqtt://a', topic: '$SYS/m' }],
    ['mqtt', { url: 'mqtt://a', topic: 'é'.repeat(40_000) }],
    ['mqtt', { url: 'mqtt://a', topic: 'm', password: 'p' }],
    ['email', { ...email, host: 'a b' }],
    ['email', { ...email, host: 'mail.example/x' }],
    ['email', { ...email, host: 'mail.example:25' }],
    ['email', { ...email, host: '[::1]' }],
    ['email', { ...email, port: 0 }],
    ['email', { ...email, port: 65_536 }],
    ['email', { ...email, security: 'ssl' }],
    ['email', { ...email, username: null }],
    ['email', { ...email, from: 'mics' }],
    ['email', { ...email, from: 'a@b.example, c@d.example' }],
    ['email', { ...email, from: 'Mics <a@b.example> <c@d.example>' }],
    ['email', { ...email, from: '"Mics" <a@b.example>' }],
    ['email', { ...email, to: [] }],
    ['email', { ...email, to: 'crew@venue.example' }],
    ['email', { ...email, to: ['Crew <crew@venue.example>'] }],
    ['email', { ...email, to: ['a@b.example\r\nBcc: c@d.example'] }],
    ['email', { ...email, to: ['a@b.example>SIZE=1'] }],
    ['email', { ...email, to: Array(51).fill('a@b.example') }],
  ] as const)('%s refuses %j', (type, config) => {
    expect(findProblem(type, config)).toMatch(/^config\.\w+: ./)
  })
})

it('creates secrets of 32 random bytes', () => {
  const [, base64 = ''] = /^whsec_(.+)$/.exec(createSigningSecret()) ?? []
  expect(Buffer.from(base64, 'base64').length).toBe(32)
  expect(createSigningSecret()).not.toBe(createSigningSecret())
})
