import { describe, expect, it } from 'vitest'
import {
  changedConfig,
  destinationField,
  fieldName,
  missingField,
  notifierAddress,
  ntfyAddresses,
  portFor,
} from './services.ts'

function form(values: Readonly<Record<string, string>>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(values)) data.set(fieldName(name), value)
  return data
}

const mail = {
  ...{ host: 'smtp.example.com', port: '587', security: 'starttls', username: '', password: '' },
  ...{ from: 'rf@example.com', to: 'ana@example.com\n kim@example.com, ' },
}
const stored = {
  ...{ host: 'smtp.example.com', port: 587, security: 'starttls', username: 'rf', password: '********' },
  ...{ from: 'rf@example.com', to: ['ana@example.com', 'kim@example.com'] },
}
const unchanged = { ...mail, username: 'rf', password: '********', to: 'ana@example.com\nkim@example.com' }

describe('changedConfig', () => {
  it('contains all fields of a new channel, as numbers and lists, and null for empty ones', () => {
    expect(changedConfig('email', null, form(mail))).toEqual({
      ...{ host: 'smtp.example.com', port: 587, security: 'starttls', from: 'rf@example.com' },
      ...{ to: ['ana@example.com', 'kim@example.com'], username: null, password: null },
    })
  })

  it('contains only what was changed, and null for what was emptied', () => {
    expect(changedConfig('email', stored, form(unchanged))).toEqual({})
    expect(changedConfig('email', stored, form({ ...unchanged, port: '465', username: '' }))).toEqual({
      port: 465,
      username: null,
    })
    expect(changedConfig('email', stored, form({ ...unchanged, password: 'new' }))).toEqual({ password: 'new' })
  })

  it('sends a port that is not a number as it is, so that the service names the field', () => {
    expect(changedConfig('email', stored, form({ ...unchanged, port: '5 87' }))).toEqual({ port: '5 87' })
  })
})

it('finds the first required field that is empty', () => {
  expect(missingField('email', null, form(mail))).toBe(null)
  expect(missingField('email', null, form({ ...mail, host: ' ', from: '' }))?.name).toBe('host')
  expect(missingField('ntfy', null, form({ url: 'https://ntfy.sh', topic: 'rf' }))).toBe(null)
})

it.each([
  ['email', stored, { ...unchanged, host: 'mail.example.com' }, 'password'],
  ['email', stored, { ...unchanged, security: 'none' }, 'password'],
  ['email', stored, { ...unchanged, port: '465' }, 'password'],
  ['email', stored, { ...unchanged, from: 'audio@example.com' }, null],
  ['email', { ...stored, password: null }, { ...unchanged, port: '465' }, null],
  ['gotify', { url: 'https://a.example/x', token: '********' }, { url: 'https://a.example:443/y' }, null],
  ['mqtt', { url: 'mqtt://a.example', password: '********' }, { url: 'mqtts://a.example', topic: 'rf' }, 'password'],
] as const)('requires the stored secret of %s again for another scheme, host or port', (type, before, typed, field) => {
  const values = form({ ...typed, ...(field === 'password' ? { password: '' } : { token: '********' }) })
  expect(missingField(type, before, values)?.name ?? null).toBe(field)
})

it('names the address of a channel without secrets', () => {
  expect(notifierAddress({ type: 'email', config: stored })).toBe('ana@example.com · kim@example.com')
  expect(notifierAddress({ type: 'ntfy', config: { url: 'https://ntfy.sh', topic: 'rf', token: '********' } })).toBe(
    'https://ntfy.sh · rf',
  )
  expect(notifierAddress({ type: 'discord', config: { url: '********' } })).toBe('')
  expect(notifierAddress({ type: 'webhook', config: {} })).toBe('')
})

it.each([
  ['email', 'config.host'],
  ['discord', 'config.url'],
  ['telegram', 'config.server'],
  ['mqtt', 'config.url'],
] as const)('names the field with the address of %s', (type, field) => {
  expect(destinationField(type)).toBe(field)
})

it('encryption brings its usual port, and keeps a port that someone chose', () => {
  expect(portFor('tls', '587')).toBe('465')
  expect(portFor('none', '2525')).toBe('2525')
})

// Conformance: C-26.25.
it.each([
  ['https://ntfy.sh', 'ntfy://ntfy.sh/mics', 'https://ntfy.sh/mics'],
  ['https://ntfy.example:8443/', 'ntfy://ntfy.example:8443/mics', 'https://ntfy.example:8443/mics'],
  ['http://10.0.0.5:2586', 'ntfy://10.0.0.5:2586/mics?secure=false', 'http://10.0.0.5:2586/mics'],
])('ntfyAddresses of %s', (url, app, web) => {
  expect(ntfyAddresses({ url, topic: 'mics' })).toEqual({ app, web })
})
