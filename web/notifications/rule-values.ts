import { alertKinds } from '../../src/contract/alert-kinds.ts'
import type { NotificationRuleBody } from '../../src/contract/notifications.ts'
import { severities, weekdays } from '../../src/contract/values.ts'
import type { Unstored } from '../../src/domain/versions.ts'
import { chosenValues } from '../parts/forms/choices-field.tsx'

export type RuleValues = Unstored<NotificationRuleBody>

export type Schedule = Exclude<RuleValues['when'], string>

export const ruleTimes = ['always', 'during_shows', 'schedule'] as const
type RuleTime = (typeof ruleTimes)[number]

export function timeOf(when: RuleValues['when']): RuleTime {
  return typeof when === 'string' ? when : 'schedule'
}

/** Suits most installations: critical alerts at any time. */
export function suggestedRule(name: string, notifierIds: readonly number[]): RuleValues {
  return {
    name,
    notification_channel_ids: [...notifierIds],
    kinds: [],
    excluded_kinds: [],
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

/** The evenings of all days. */
export function usualSchedule(timeZone: string): Schedule {
  return { days: [...weekdays], from: '17:00', to: '23:30', time_zone: timeZone }
}

export function passesMidnight({ from, to }: Pick<Schedule, 'from' | 'to'>): boolean {
  return from !== '' && to !== '' && to <= from
}

/** An invalid number becomes NaN. */
export function ruleOf(values: FormData): RuleValues {
  const text = (name: string) => String(values.get(name) ?? '').trim()
  const number = (name: string) => (text(name) === '' ? Number.NaN : Number(text(name)))
  const ids = (name: string) => chosenValues(values, name).map(Number)
  const kinds = (name: string) => alertKinds.filter((kind) => chosenValues(values, name).includes(kind))
  const when = ruleTimes.find((time) => time === text('when')) ?? 'always'
  return {
    name: text('name'),
    notification_channel_ids: ids('notification_channel_ids'),
    kinds: kinds('kinds'),
    excluded_kinds: kinds('excluded_kinds'),
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
