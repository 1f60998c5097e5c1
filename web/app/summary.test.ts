import { describe, expect, it } from 'vitest'
import type { ChannelBody } from '../../src/contract/channels.ts'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import { receiverProblems, summarize } from './summary.ts'

type Condition = ChannelBody['condition']

const ok: Condition = {
  state: 'ok',
  severity: 'ok',
  attention: false,
  since: '2026-11-20T19:00:00.000Z',
  since_known: true,
  flags: [],
}
const offline: Condition = { ...ok, state: 'receiver_offline', severity: 'critical', attention: true }
const low: Condition = {
  ...ok,
  state: 'battery_low',
  severity: 'warning',
  attention: true,
  flags: ['battery_replace_soon'],
}

function receiver(id: number, conditions: readonly Condition[], over: Partial<ReceiverInData> = {}): ReceiverInData {
  const channels = conditions.map((condition, index): ChannelBody => {
    const levels = { frequency: null, audio_level: null, rf_level: null }
    const transmitter = { slot: 1, upstream_slot: null, battery: 15, forecast: null, name: null, ...levels }
    const position = { id: id * 10 + index, channel: index + 1, slot: index + 1 }
    return { ...position, name: null, ...levels, transmitter, condition, not_now: null }
  })
  const hardware = { name: 'Rack', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  return { id, ...hardware, site: null, is_active: true, channels, ...over }
}

const state = (...receivers: ReceiverInData[]) => ({
  receivers: new Map(receivers.map((item) => [item.id, item])),
  placeholders: [],
  alerts: [],
  sources: [
    { code: 'shure', address: 'https://10.0.0.1', status: 'healthy', error: null, silent_since: null },
    { code: 'sennheiser', address: 'https://10.0.0.2', status: 'unhealthy', error: 'refused', silent_since: null },
  ],
})

describe('summarize', () => {
  it('counts channels, batteries and sources', () => {
    expect(summarize(state(receiver(1, [ok, low]), receiver(2, [low])))).toMatchObject({
      ...{ channels: 3, problems: 2, attention: 2, replace_soon: 2, sources: { healthy: 1, failing: 1 } },
    })
  })

  it('counts an offline receiver once', () => {
    const lost = receiver(1, [offline, offline, offline, offline], { is_active: false })
    expect(summarize(state(lost, receiver(2, [low])))).toMatchObject({ problems: 2, attention: 5 })
  })

  it('counts the receivers of a manufacturer once if all its sources fail', () => {
    const over = { is_active: false, manufacturer: 'sennheiser' }
    expect(summarize(state(receiver(1, [offline], over), receiver(2, [offline], over))).problems).toBe(1)
  })
})

it('counts the channels of an offline receiver as one problem, and no channel of a quiet one', () => {
  const lost = receiver(1, [offline, offline], { is_active: false })
  expect(receiverProblems([lost, receiver(2, [ok, low]), receiver(3, [ok])])).toEqual({ offline: 1, attention: 1 })
})
