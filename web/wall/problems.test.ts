import { describe, expect, it } from 'vitest'
import type { ChannelFacts } from '../app/channel-state.ts'
import type { ConditionState } from '../app/conditions.ts'
import { createDelay, delayMs, listProblems } from './problems.ts'

const start = Date.parse('2026-11-29T19:00:00.000Z')

function facts(slot: number, state: ConditionState, fields: Partial<ChannelFacts['condition']> = {}): ChannelFacts {
  const severity = state === 'ok' ? 'ok' : state.startsWith('rf') ? 'warning' : 'critical'
  const since = new Date(start + slot).toISOString()
  return {
    ...{ slot, channelId: slot, receiverId: Math.ceil(slot / 4), title: `Singer ${slot}`, receiverName: 'Rack' },
    ...{ needsAttention: state !== 'ok', isHandled: false },
    condition: { state, severity, attention: state !== 'ok', since, since_known: true, flags: [], ...fields },
  } as unknown as ChannelFacts
}

describe('listProblems', () => {
  it('says what to do, the worst problem first', () => {
    const problems = listProblems([facts(2, 'rf_weak'), facts(9, 'battery_critical'), facts(3, 'rf_weak')])
    expect(problems.map(({ text }) => text)).toEqual([
      '9 Singer 9: replace battery',
      '2 Singer 2: check antennas',
      '3 Singer 3: check antennas',
    ])
  })

  it('counts a lost receiver once, with all its slots', () => {
    const lost = [1, 2, 3, 4].map((slot) => facts(slot, 'receiver_offline'))
    const problems = listProblems([...lost, facts(7, 'receiver_offline')])
    expect(problems.map(({ text }) => text)).toEqual([
      '1–4 Rack: check power and network',
      '7 Singer 7: check power and network',
    ])
  })

  it('names the cause of the attention, even if it is a flag', () => {
    const [problem] = listProblems([facts(1, 'clipping', { flags: ['rf_weak'] })])
    expect(problem?.text).toBe('1 Singer 1: check antennas')
  })
})

describe('createDelay', () => {
  const idsAt = (delay: ReturnType<typeof createDelay>, list: readonly ChannelFacts[], now: number) =>
    delay(list, now).map(({ channelId }) => channelId)

  it('waits until a channel has needed attention for 5 seconds', () => {
    const delay = createDelay()
    expect(idsAt(delay, [facts(1, 'rf_weak')], start + delayMs - 1)).toEqual([])
    expect(idsAt(delay, [facts(1, 'rf_weak')], start + delayMs + 1)).toEqual([1])
  })

  it('keeps a problem that gets worse, and begins again after its end', () => {
    const delay = createDelay()
    delay([facts(1, 'rf_weak')], start)
    const later = start + 60_000
    const worse = facts(1, 'battery_critical', { since: new Date(later).toISOString() })
    expect(idsAt(delay, [worse], later)).toEqual([1])
    expect(idsAt(delay, [facts(1, 'ok')], later)).toEqual([])
    expect(idsAt(delay, [worse], later + 1)).toEqual([])
  })

  it('leaves out what is handled', () => {
    const handled = { ...facts(1, 'rf_weak'), isHandled: true }
    expect(idsAt(createDelay(), [handled], start + 60_000)).toEqual([])
  })
})
