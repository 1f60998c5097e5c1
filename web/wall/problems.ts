/** Problems for the strip of the wall: channels that have needed attention for 5 seconds, and what to do. */

import { hasRow } from '../../src/domain/conditions/condition.ts'
import { groupBy } from '../../src/domain/group-by.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { type ConditionState, compareConditions } from '../app/conditions.ts'
import { t } from '../app/i18n.ts'
import { formatSlots } from '../parts/channels/slots.ts'

export const delayMs = 5_000

export interface WallProblem {
  readonly key: string
  readonly severity: ChannelFacts['condition']['severity']
  /** For example "7 Nora: replace battery". A receiver is one problem, with all its slots. */
  readonly text: string
}

/** The states that need attention. */
const actionable = [
  ...(['receiver_offline', 'stale', 'no_levels', 'encryption_error', 'battery_critical', 'battery_died'] as const),
  ...(['interference', 'rf_weak', 'battery_low', 'no_audio', 'muted'] as const),
]
/** States of a receiver, which its channels share. */
const ofReceiver: readonly ConditionState[] = ['receiver_offline', 'stale', 'no_levels']

/** The worst first. */
export function listProblems(facts: readonly ChannelFacts[]): readonly WallProblem[] {
  const sorted = facts.toSorted((a, b) => compareConditions(a.condition, b.condition) || a.slot - b.slot)
  const groups = groupBy(sorted, ({ condition: { state }, receiverId, channelId }) =>
    ofReceiver.includes(state) ? `${state} ${receiverId}` : `${channelId}`,
  )
  return [...groups].flatMap(([key, [first, ...others]]) => {
    const state = actionable.find((state) => first && hasRow(first.condition, state))
    if (first === undefined || state === undefined) return []
    const { condition, slot, title, receiverName } = first
    const slots = [slot, ...others.map((other) => other.slot)].sort((a, b) => a - b)
    const name = t('alerts.channelOption', {
      slot: formatSlots(slots),
      name: others.length === 0 ? title : receiverName,
    })
    const text = t('alerts.line', { name, title: t(`wall.actions.${state}`) })
    return [{ key, severity: condition.severity, text }]
  })
}

/** Remembers since when channels have needed attention, also while their state changes. */
export function createDelay(): (facts: readonly ChannelFacts[], now: number) => readonly ChannelFacts[] {
  const since = new Map<number, number>()
  return (facts, now) => {
    const needing = facts.filter(({ needsAttention, isHandled }) => needsAttention && !isHandled)
    const ids = new Set(needing.map(({ channelId }) => channelId))
    for (const id of since.keys()) if (!ids.has(id)) since.delete(id)
    for (const { channelId, condition } of needing) {
      if (!since.has(channelId)) since.set(channelId, Date.parse(condition.since))
    }
    return needing.filter(({ channelId }) => now - (since.get(channelId) ?? now) >= delayMs)
  }
}
