import { expect, it } from 'vitest'
import { passesMidnight, ruleOf } from './rule-values.ts'

function form(values: readonly (readonly [string, string])[]): FormData {
  const data = new FormData()
  for (const [name, value] of values) data.append(name, value)
  return data
}

it('reads a rule from its form', () => {
  const values = form([
    ['name', ' Shows '],
    ['notification_channel_ids[]', '2'],
    ['notification_channel_ids[]', '5'],
    ['min_severity', 'warning'],
    ['kinds[]', 'rf_weak'],
    ['kinds[]', 'battery_low'],
    ['group_ids[]', '3'],
    ['manufacturers[]', 'shure'],
    ['sites[]', 'local'],
    ['when', 'schedule'],
    ['when.days[]', 'sun'],
    ['when.days[]', 'fri'],
    ['when.from', '18:00'],
    ['when.to', '02:00'],
    ['when.time_zone', 'Europe/Berlin'],
    ['delay_seconds', '30'],
    ['repeat_minutes', ''],
    ['send_cleared', 'on'],
    ['escalate', 'on'],
    ['escalate.after_seconds', '60'],
    ['escalate.notification_channel_ids[]', '7'],
  ])
  expect(ruleOf(values)).toEqual({
    ...{ name: 'Shows', notification_channel_ids: [2, 5], min_severity: 'warning', kinds: ['rf_weak', 'battery_low'] },
    excluded_kinds: [],
    ...{
      group_ids: [3],
      manufacturers: ['shure'],
      sites: ['local'],
      delay_seconds: 30,
      repeat_minutes: Number.NaN,
      send_cleared: true,
    },
    when: { days: ['fri', 'sun'], from: '18:00', to: '02:00', time_zone: 'Europe/Berlin' },
    escalate: { after_seconds: 60, notification_channel_ids: [7] },
  })
})

it.each([
  ['17:00', '23:30', false],
  ['20:00', '02:00', true],
  ['20:00', '20:00', true],
  ['', '', false],
])('a schedule from %s to %s passes midnight: %s', (from, to, expected) => {
  expect(passesMidnight({ from, to })).toBe(expected)
})
