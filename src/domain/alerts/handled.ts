/**
 * A channel is handled if every cause for its attention has an alert that was acknowledged, snoozed or silenced. Used for
 * `GET /api/summary/` and by the pages.
 */

import type { AlertBody } from '../../contract/alerts.ts'
import { conditionTable } from '../conditions/condition.ts'
import { batteryKinds } from './alert.ts'

type HandledAlert = Pick<AlertBody, 'kind' | 'state' | 'silenced' | 'manufacturer' | 'receiver_id' | 'channel_id'>

interface HandledCondition {
  readonly state: string
  readonly attention: boolean
  readonly flags: readonly string[]
}

/** The battery rows of a channel share one alert. */
const batteryRows: readonly string[] = batteryKinds
/** Rows that are not judged separately while their source fails: the alert about the source covers them. */
const coveredBySource: readonly string[] = ['receiver_offline', 'stale']
const rowsWith = (...wanted: readonly unknown[]): readonly string[] =>
  conditionTable.filter(({ attention }) => wanted.includes(attention)).map(({ state }) => state)
const attentionRows = rowsWith(true)
/** A condition does not say whether a flag of such a row needs attention, so it counts only while it has an alert. */
const dependentRows = rowsWith('setting', 'on')

export class HandledChannels {
  /** By `<subject> <kind>`. */
  readonly #alerts = new Map<string, boolean>()

  /** `alerts` are those that are not cleared. */
  constructor(alerts: Iterable<HandledAlert>) {
    for (const { kind, state, silenced, manufacturer, receiver_id, channel_id } of alerts) {
      const isHandled = silenced || state === 'acknowledged' || state === 'snoozed'
      const subject = subjectOf(manufacturer, receiver_id, channel_id)
      const key = keyOf(subject, kind)
      // A manufacturer can have several failing sources.
      this.#alerts.set(key, isHandled && this.#alerts.get(key) !== false)
    }
  }

  has(manufacturer: string, receiverId: number, channelId: number, condition: HandledCondition): boolean {
    if (!condition.attention) return false
    const isHandled = (subject: string, kind: string) => this.#alerts.get(keyOf(subject, kind))
    const channel = subjectOf(manufacturer, receiverId, channelId)
    const source = isHandled(subjectOf(manufacturer, null, null), 'upstream_failing') ?? false
    // An offline receiver has one alert for all its channels.
    if (condition.state === 'receiver_offline') {
      return isHandled(subjectOf(manufacturer, receiverId, null), 'receiver_offline') ?? source
    }
    const { state, flags } = condition
    const ofRow = (row: string) =>
      row === 'no_levels'
        ? isHandled(subjectOf(manufacturer, receiverId, null), 'levels_lost')
        : isHandled(channel, row)
    const counts = (row: string) =>
      attentionRows.includes(row) || (dependentRows.includes(row) && (row === state || ofRow(row) !== undefined))
    return [state, ...flags].filter(counts).every((row) => ofRow(row) ?? (coveredBySource.includes(row) && source))
  }
}

function subjectOf(manufacturer: string | null, receiverId: number | null, channelId: number | null): string {
  if (channelId !== null) return `channel ${channelId}`
  return receiverId === null ? `source ${manufacturer}` : `receiver ${receiverId}`
}

function keyOf(subject: string, kind: string): string {
  return `${subject} ${batteryRows.includes(kind) ? 'battery' : kind}`
}
