import { expect, it } from 'vitest'
import { newAlarms } from './alarm.ts'
import type { ChannelFacts, ChannelState } from './channel-state.ts'

function card(channelId: number, state: ChannelState, needsHand = true): ChannelFacts {
  return { channelId, state, needsHand, marks: [] } as unknown as ChannelFacts
}

const ids = (cards: readonly ChannelFacts[]) => cards.map((one) => one.channelId)

it('says nothing of what was wrong when the page was opened', () => {
  const first = newAlarms(null, [card(1, 'critical')])
  expect(first.fresh).toEqual([])
  expect(ids(newAlarms(first.alarms, [card(1, 'critical'), card(2, 'low')]).fresh)).toEqual([2])
})

it('says it again when it comes back', () => {
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
])('%s (needs a hand: %s) alarms: %s', (state, needsHand, isAlarm) => {
  expect(newAlarms(new Set(), [card(1, state, needsHand)]).fresh).toHaveLength(isAlarm ? 1 : 0)
})
