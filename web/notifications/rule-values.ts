/** Conversion between a notification rule and the fields of its form. */

import { alertKinds } from '../../src/contract/alert-kinds.ts'
import type { NotificationRuleBody } from '../../src/contract/notifications.ts'
import { severities, weekdays } from '../../src/contract/values.ts'
import { chosenValues } from '../parts/choices-field.tsx'

/** A rule that is not stored yet has no id. */
export type RuleValues = Omit<NotificationRuleBody, 'id'>

export type Schedule = Exclude<RuleValues['when'], string>

/** The choices of the form for `when`. */
export const ruleTimes = ['always', 'during_shows', 'schedule'] as const
export type RuleTime = (typeof ruleTimes)[number]

export function timeOf(when: RuleValues['when']): RuleTime {
  return typeof when === 'string' ? when : 'schedule'
}

/** Returns a rule that suits most installations: critical alerts at any time, to these channels. */
export function suggestedRule(name: string, channelIds: readonly number[]): RuleValues {
  return {
    name,
    notification_channel_ids: [...channelIds],
    kinds: [],
    min_severity: 'critical',
    group_ids: [],
    manufacturers: [],
    sites: [],
    when: 'always',
    delay_seconds: 0,
    repeat_minutes: 0,
    send_cleared: true,
    escalate: null,
  }
}

/** Returns the schedule with which the form starts: the evenings of all days. */
export function usualSchedule(timeZone: string): Schedule {
  return { days: [...weekdays], from: '17:00', to: '23:30', time_zone: timeZone }
}

/** Whether the schedule ends on the day after the one on which it began. */
export function passesMidnight({ from, to }: Pick<Schedule, 'from' | 'to'>): boolean {
  return from !== '' && to !== '' && to <= from
}

/** Returns the rule that a form contains. A number that is not one becomes NaN. */
export function ruleOf(values: FormData): RuleValues {
  const text = (name: string) => String(values.get(name) ?? '').trim()
  const number = (name: string) => (text(name) === '' ? Number.NaN : Number(text(name)))
  const ids = (name: string) => chosenValues(values, name).map(Number)
  const when = ruleTimes.find((time) => time === text('when')) ?? 'always'
  return {
    name: text('name'),
    notification_channel_ids: ids('notification_channel_ids'),
    kinds: alertKinds.filter((kind) => chosenValues(values, 'kinds').includes(kind)),
    min_severity: severities.find((severity) => severity === text('min_severity')) ?? 'critical',
    group_ids: ids('group_ids'),
    manufacturers: [...chosenValues(values, 'manufacturers')],
    sites: [...chosenValues(values, 'sites')],
    when:
      when === 'schedule'
        ? {
            days: weekdays.filter((day) => chosenValues(values, 'when.days').includes(day)),
            ...{ from: text('when.from'), to: text('when.to'), time_zone: text('when.time_zone') },
          }
        : when,
    delay_seconds: number('delay_seconds'),
    repeat_minutes: number('repeat_minutes'),
    send_cleared: values.has('send_cleared'),
    escalate: values.has('escalate')
      ? {
          after_seconds: number('escalate.after_seconds'),
          notification_channel_ids: ids('escalate.notification_channel_ids'),
        }
      : null,
  }
}
