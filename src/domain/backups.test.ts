import { expect, test } from 'vitest'
import { nextBackup } from './backups.ts'

const at = (text: string) => Date.parse(text)

// Conformance: C-26.10.
test.each([
  [
    'before the time of the day',
    ['mon', 'wed'],
    '2026-06-03T02:44:00Z',
    '2026-06-01T02:45:00Z',
    '2026-06-03T02:45:00Z',
  ],
  ['at the time', ['mon', 'wed'], '2026-06-03T02:45:00Z', '2026-06-03T02:45:00Z', '2026-06-08T02:45:00Z'],
  ['over a change of the clocks', ['sun'], '2026-03-30T00:00:00Z', '2026-03-29T02:45:00Z', '2026-04-05T02:45:00Z'],
] as const)('backups are due in the time zone of the installation, %s', (_, days, now, due, next) => {
  const times = { at: '04:45', days: [...days] }
  const nextAfter = (newest: number | null) => nextBackup(times, 'Europe/Berlin', newest, at(now))
  expect(nextAfter(at(due))).toBe(at(next))
  expect(nextAfter(at(due) - 1)).toBeNull()
  expect(nextAfter(at(now) + 1)).toBeNull()
  expect(nextAfter(null)).toBeNull()
})
