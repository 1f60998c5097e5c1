import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../../test/builders.ts'
import { emptyChannel } from '../equipment/receiver.ts'
import { isOwnMessage, toDiscoveryMessage, toStateMessages } from './messages.ts'
import { type Published, planPublications } from './plan.ts'

const topics = { prefix: 'mics', discoveryPrefix: 'ha', version: '1.0.0', publicUrl: null }
const receiver = buildReceiver(1, { channels: [{ ...emptyChannel(11, 1, 5), name: 'A', rf_level: -90 }] })
const options = { now: 0, limit: 100 }

// Conformance: C-16.50.
it('toStateMessages separates levels from facts', () => {
  const [, channel] = toStateMessages(receiver, topics)
  expect(channel?.topic).toBe('mics/channel/11/state')
  expect(JSON.parse(channel?.payload ?? '')).toEqual({
    name: 'A',
    slot: 5,
    battery: null,
    minutes_left: null,
    rf_level: -90,
    audio_level: null,
    frequency: null,
    transmitter_on: false,
    condition: { state: 'ok', severity: 'ok', attention: false, since: '1970-01-01T00:00:00.000Z', flags: [] },
  })
  expect(channel?.facts).not.toContain('rf_level')
})

// Conformance: C-16.54.
it('isOwnMessage recognizes topics below the prefix, and devices with its status', () => {
  const config = toDiscoveryMessage(receiver, topics)
  expect(isOwnMessage(topics, config?.topic ?? '', config?.payload ?? '')).toBe(true)
  expect(isOwnMessage({ ...topics, prefix: 'other' }, config?.topic ?? '', config?.payload ?? '')).toBe(false)
  expect(isOwnMessage(topics, 'ha/device/other_1/config', config?.payload ?? '')).toBe(false)
  expect(isOwnMessage(topics, 'mics/channel/3/state', '{}')).toBe(true)
  expect(isOwnMessage(topics, 'nics/channel/3/state', '{}')).toBe(false)
  expect(toDiscoveryMessage(receiver, { ...topics, discoveryPrefix: null })).toBeNull()
})

describe('planPublications', () => {
  const message = (facts: string, level: number, topic = 't') => ({ topic, payload: `${facts} ${level}`, facts })
  const plan = (published: ReadonlyMap<string, Published>, wanted: ReturnType<typeof message>[], now: number) =>
    planPublications(published, wanted, { ...options, now })

  // Conformance: C-16.55.
  it('publishes facts at once, and levels a second after the last publication', () => {
    const first = plan(new Map(), [message('a', 1)], 0)
    expect(first.publications).toEqual([{ topic: 't', payload: 'a 1' }])
    const early = plan(first.published, [message('a', 2)], 999)
    expect(early.publications).toEqual([])
    expect(plan(early.published, [message('a', 2)], 1000).publications).toEqual([{ topic: 't', payload: 'a 2' }])
    expect(plan(early.published, [message('b', 2)], 999).publications).toEqual([{ topic: 't', payload: 'b 2' }])
    expect(plan(first.published, [message('a', 1)], 9999).publications).toEqual([])
  })

  // Conformance: C-16.54.
  it('empties what is no longer wanted, once', () => {
    const { published } = plan(new Map(), [message('a', 1)], 0)
    const removed = plan(published, [], 1)
    expect(removed.publications).toEqual([{ topic: 't', payload: '' }])
    expect(plan(removed.published, [], 2).publications).toEqual([])
  })

  it('leaves what is beyond the limit for the next time', () => {
    const wanted = ['a', 'b', 'c'].map((topic) => message('x', 1, topic))
    const first = planPublications(new Map(), wanted, { now: 0, limit: 2 })
    const second = planPublications(first.published, wanted, { now: 1, limit: 2 })
    expect([first, second].map(({ publications }) => publications.map(({ topic }) => topic))).toEqual([
      ['a', 'b'],
      ['c'],
    ])
    expect(planPublications(second.published, [], { now: 2, limit: 2 }).publications).toHaveLength(2)
  })
})
