import { Value } from 'typebox/value'
import { expect, it } from 'vitest'
import { MqttSection, toMqtt, toOsc } from './integrations.ts'

// Conformance: C-16.45.
it('toOsc has defaults, and is null without a port and a target', () => {
  expect(toOsc({})).toBeNull()
  expect(toOsc({ accept: ['10.0.0.0/8'] })).toBeNull()
  expect(toOsc({ listen: '0.0.0.0:9010' })).toEqual({
    listen: { host: '0.0.0.0', port: 9010 },
    accept: ['127.0.0.0/8', '::1/128'],
    allow_commands: false,
    targets: [],
    strips: [],
  })
  expect(toOsc({ listen: '[::]:9010' })?.listen).toEqual({ host: '::', port: 9010 })
  expect(toOsc({ targets: [{ host: 'a', port: 1 }] })?.targets).toEqual([{ host: 'a', port: 1, transport: 'udp' }])
})

// Conformance: C-16.45.
it('toOsc reads the slots of strips as a list or a section', () => {
  const strip = { type: 'x32', host: 'a' } as const
  const slotsOf = (slots: (number | null)[] | Record<string, number>) =>
    Object.fromEntries(toOsc({ strips: [{ ...strip, slots }] })?.strips[0]?.slots ?? [])
  expect(slotsOf([5, null, 7])).toEqual({ 1: 5, 3: 7 })
  expect(slotsOf({ 12: 5, 33: 6 })).toEqual({ 12: 5 })
  expect(toOsc({ strips: [{ ...strip, slots: [] }] })?.strips[0]?.port).toBe(10_023)
})

// Conformance: C-16.46.
it('toMqtt has defaults, takes credentials from the address, and needs one', () => {
  expect(toMqtt({})).toBeNull()
  expect(toMqtt({ prefix: 'mics' })).toBe('incomplete')
  expect(toMqtt({ url: 'mqtt://ana:p%40ss@broker:1884' })).toEqual({
    url: 'mqtt://broker:1884',
    prefix: 'micwatch',
    home_assistant: true,
    discovery_prefix: 'homeassistant',
    username: 'ana',
    password: 'p@ss',
    ca_file: null,
    cert_file: null,
    key_file: null,
    ssl_verify: true,
  })
})

// Conformance: C-16.46.
it.each([
  ['mqtt://a:p%40ss@broker', true],
  ['mqtt://a:%zz@broker', false],
  ['mqtt://%ff@broker', false],
  ['mqtt://broker/path', false],
])('MqttSection checks the address %s', (url, isValid) => {
  expect(Value.Check(MqttSection, { url })).toBe(isValid)
})
