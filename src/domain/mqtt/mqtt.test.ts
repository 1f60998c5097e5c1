import { expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { buildTitles } from '../../../test/support/titles.ts'
import { emptyChannel } from '../equipment/receiver.ts'
import { isDue, isOwnMessage, listComponents, toDiscoveryMessage, toStateMessages, unknownContent } from './messages.ts'

const topics = { prefix: 'mics', discoveryPrefix: 'ha', version: '1.0.0', publicUrl: null }
const receiver = buildReceiver(1, { channels: [{ ...emptyChannel(11, 1, 5), name: 'A', rf_level: -90 }] })

// Conformance: C-16.50.
it('toStateMessages separates levels from facts', () => {
  const [, channel] = toStateMessages(receiver, topics, buildTitles())
  expect(channel?.topic).toBe('mics/channel/11/state')
  expect(JSON.parse(channel?.toPayload() ?? '')).toEqual({
    name: 'A',
    name_raw: 'A',
    slot: 5,
    battery: null,
    minutes_left: null,
    rf_level: -90,
    audio_level: null,
    frequency: null,
    transmitter_on: false,
    condition: {
      state: 'ok',
      severity: 'ok',
      attention: false,
      since: '1970-01-01T00:00:00.000Z',
      since_known: false,
      flags: [],
    },
  })
  expect(channel?.facts).not.toContain(-90)
  expect(channel?.levels).toEqual([-90, null])
})

// Conformance: C-16.54.
it('isOwnMessage recognizes topics below the prefix, and devices with its status', () => {
  const config = toDiscoveryMessage(receiver, topics, buildTitles())
  const [topic, payload] = [config?.topic ?? '', config?.toPayload() ?? '']
  expect(isOwnMessage(topics, topic, payload)).toBe(true)
  expect(isOwnMessage({ ...topics, prefix: 'other' }, topic, payload)).toBe(false)
  expect(isOwnMessage(topics, 'ha/device/other_1/config', payload)).toBe(false)
  expect(isOwnMessage(topics, 'mics/channel/3/state', '{}')).toBe(true)
  expect(isOwnMessage(topics, 'nics/channel/3/state', '{}')).toBe(false)
  expect(toDiscoveryMessage(receiver, { ...topics, discoveryPrefix: null }, buildTitles())).toBeNull()
})

// Conformance: C-16.55.
it('isDue publishes facts at once, and levels a second after the last publication', () => {
  const message = (facts: string, level: number) => {
    return { topic: 't', facts: [facts], levels: [level], toPayload: () => '' }
  }
  const published = { facts: ['a'], levels: [1], at: 0 }
  expect(isDue(undefined, message('a', 1), 0)).toBe(true)
  expect(isDue(published, message('a', 2), 999)).toBe(false)
  expect(isDue(published, message('a', 2), 1000)).toBe(true)
  expect(isDue(published, message('b', 1), 1)).toBe(true)
  expect(isDue(published, message('a', 1), 9999)).toBe(false)
  expect(isDue(unknownContent, message('a', 1), 0)).toBe(true)
})

// Conformance: C-16.50.
it('messages have the title, and the name on the equipment besides', () => {
  const [, channel] = toStateMessages(receiver, topics, buildTitles({ 11: 'Ana' }))
  expect(JSON.parse(channel?.toPayload() ?? '')).toMatchObject({ name: 'Ana', name_raw: 'A' })
  const device = JSON.parse(toDiscoveryMessage(receiver, topics, buildTitles({ 11: 'Ana' }))?.toPayload() ?? '')
  expect(device.components.channel_11_battery.name).toBe('5 Ana battery')
})

// Conformance: C-16.75.
it('toDiscoveryMessage removes components of channels that no longer exist, once', () => {
  const before = toDiscoveryMessage(receiver, topics, buildTitles())
  const known = listComponents(before?.toPayload() ?? '')
  expect(known.get('channel_11_battery')).toBe('sensor')
  const other = { ...receiver, channels: [emptyChannel(12, 2, 6)] }
  const removing = toDiscoveryMessage(other, topics, buildTitles(), known)
  const { components } = JSON.parse(removing?.toPayload() ?? '')
  expect(components.channel_11_battery).toEqual({ platform: 'sensor' })
  expect(components.channel_12_battery).toMatchObject({ unique_id: 'micwatch_channel_12_battery' })
  const after = toDiscoveryMessage(other, topics, buildTitles(), listComponents(removing?.toPayload() ?? ''))
  expect(JSON.parse(after?.toPayload() ?? '').components).not.toHaveProperty('channel_11_battery')
  expect(after?.facts).not.toEqual(removing?.facts)
})

it('listComponents reads nothing from other payloads', () => {
  for (const payload of ['', '{', '[]', '{"components":[]}', '{"components":{"a":1}}'])
    expect([...listComponents(payload)]).toEqual([])
})
