import type { Severity, Weekday } from '../../contract/values.ts'
import type { AlertKind } from '../alerts/alert.ts'

export interface Schedule {
  readonly days: readonly Weekday[]
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, exclusive. A schedule that passes midnight belongs to the day on which it began. */
  readonly to: string
  /** IANA name of a time zone. */
  readonly time_zone: string
}

export interface NotificationRule {
  readonly id: number
  readonly name: string
  readonly notification_channel_ids: readonly number[]
  /** Empty lists do not restrict. */
  readonly kinds: readonly AlertKind[]
  /** Without effect unless `kinds` is empty. */
  readonly excluded_kinds: readonly AlertKind[]
  readonly min_severity: Severity
  readonly group_ids: readonly number[]
  readonly manufacturers: readonly string[]
  /** Codes of sites, `local` or `*`. Unlike with the other lists, an empty one stands for this installation alone. */
  readonly sites: readonly string[]
  readonly when: 'always' | 'during_shows' | Schedule
  readonly delay_seconds: number
  /** 0: never. */
  readonly repeat_minutes: number
  readonly send_cleared: boolean
  readonly escalate: {
    readonly after_seconds: number
    readonly notification_channel_ids: readonly number[]
  } | null
  readonly version: number
}

/** Stands for all sites and this installation. */
export const allSites = '*'

export const defaultRule = {
  kinds: [],
  excluded_kinds: [],
  min_severity: 'info',
  group_ids: [],
  manufacturers: [],
  sites: [],
  when: 'always',
  delay_seconds: 0,
  repeat_minutes: 0,
  send_cleared: false,
  escalate: null,
} as const satisfies Partial<NotificationRule>

/** The same rule if it does not use the channel. */
export function withoutChannel(rule: NotificationRule, id: number): NotificationRule {
  const { notification_channel_ids, escalate } = rule
  if (!notification_channel_ids.includes(id) && escalate?.notification_channel_ids.includes(id) !== true) return rule
  const others = (ids: readonly number[]) => ids.filter((candidate) => candidate !== id)
  const escalatedTo = others(escalate?.notification_channel_ids ?? [])
  return {
    ...rule,
    notification_channel_ids: others(notification_channel_ids),
    escalate:
      escalate === null || escalatedTo.length === 0 ? null : { ...escalate, notification_channel_ids: escalatedTo },
  }
}
