import { expect, it } from 'vitest'
import { newAlarms } from './alarm.ts'
import type { ChannelFacts, ChannelState } from './channel-state.ts'

function card(channelId: number, state: ChannelState, needsAttention = true): ChannelFacts {
  return { channelId, state, needsAttention, flags: [] } as unknown as ChannelFacts
}

const ids = (cards: readonly ChannelFacts[]) => cards.map((card) => card.channelId)

it('raises no alarm for problems that exist when the page opens', () => {
  const first = newAlarms(null, [card(1, 'critical')])
  expect(first.fresh).toEqual([])
  expect(ids(newAlarms(first.alarms, [card(1, 'critical'), card(2, 'low')]).fresh)).toEqual([2])
})

it('raises an alarm again when a problem returns', () => {
  const { alarms } = newAlarms(new Set([1]), [card(1, 'good', false)])
  expect(ids(newAlarms(alarms, [card(1, 'receiver_lost')]).fresh)).toEqual([1])
})

it.each<[ChannelState, boolean, boolean]>([
  ['critical', true, true],
  ['low', true, true],
  ['key_error', true, true],
  ['receiver_lost', true, true],
  ['off_recently', true, true],
  ['off_recently', false, false],
  ['clipping', true, false],
  ['rf_weak', true, false],
  ['stale', true, false],
])('%s (needs attention: %s) raises an alarm: %s', (state, needsAttention, isAlarm) => {
  expect(newAlarms(new Set(), [card(1, state, needsAttention)]).fresh).toHaveLength(isAlarm ? 1 : 0)
})
