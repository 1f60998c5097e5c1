import { expect, it } from 'vitest'
import { type RuleNames, ruleSentence } from './rule-sentence.ts'
import { type RuleValues, suggestedRule } from './rule-values.ts'

const named = (texts: Readonly<Record<number, string>>) => (id: number) => texts[id] ?? 'deleted'
const names: RuleNames = {
  notifier: named({ 1: 'RF crew', 2: 'Head of sound', 3: 'Ops' }),
  group: named({ 7: 'Act 1', 8: 'Band' }),
  manufacturer: (code) => code.toUpperCase(),
  site: (code) => code.toUpperCase(),
}
const rule = (values: Partial<RuleValues> = {}): RuleValues => ({
  ...suggestedRule('Rule', [1]),
  send_cleared: false,
  ...values,
})
const hours = { from: '18:00', to: '23:30', time_zone: 'Europe/Berlin' }

// Conformance: C-14.80.
it.each<[Partial<RuleValues>, string]>([
  [{}, 'Critical alerts, to RF crew'],
  [
    {
      ...{ group_ids: [7], when: 'during_shows' },
      escalate: { after_seconds: 60, notification_channel_ids: [2] },
    },
    'Critical alerts of group Act 1, during shows, to RF crew; after 1 min unacknowledged to Head of sound',
  ],
  [
    { min_severity: 'warning', group_ids: [7, 8], manufacturers: ['shure'], notification_channel_ids: [1, 3] },
    'Warnings and critical alerts of groups Act 1 and Band from SHURE, to RF crew and Ops',
  ],
  [
    { min_severity: 'info', kinds: ['battery_low', 'rf_weak'], delay_seconds: 90, send_cleared: true },
    'Alerts (Battery low, RF weak) that last longer than 1 min 30 sec, to RF crew; also when cleared',
  ],
  [{ excluded_kinds: ['levels_lost', 'muted'] }, 'Critical alerts (except Levels lost, Muted), to RF crew'],
  [
    { kinds: ['battery_low', 'battery_died', 'rf_weak', 'stale'], repeat_minutes: 10 },
    'Critical alerts (4 kinds), to RF crew; again every 10 min until acknowledged',
  ],
  [{ min_severity: 'info', notification_channel_ids: [] }, 'All alerts, to no channel'],
  [
    { when: { ...hours, days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sun'] } },
    'Critical alerts, Mon–Fri, Sun 6:00 PM–11:30 PM (Europe/Berlin), to RF crew',
  ],
  [
    { when: { ...hours, to: '02:00', days: ['fri', 'sat'] } },
    'Critical alerts, Fri, Sat 6:00 PM–2:00 AM the next day (Europe/Berlin), to RF crew',
  ],
  [
    { when: { ...hours, days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] } },
    'Critical alerts, every day 6:00 PM–11:30 PM (Europe/Berlin), to RF crew',
  ],
])('words %j', (values, sentence) => {
  expect(ruleSentence(rule(values), names).replaceAll('\u202f', ' ')).toBe(sentence)
})
