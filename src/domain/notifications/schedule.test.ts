import fc from 'fast-check'
import { expect, test } from 'vitest'
import { weekdays } from '../../contract/values.ts'
import type { Schedule } from './rule.ts'
import { scheduleBegan, scheduleBegins } from './schedule.ts'

const everyDay = [...weekdays]

function schedule(values: Partial<Schedule>): Schedule {
  return { days: everyDay, from: '18:00', to: '23:00', time_zone: 'Europe/Berlin', ...values }
}

function toText(time: number | null): string | null {
  return time === null || !Number.isFinite(time) ? (time?.toString() ?? null) : new Date(time).toISOString()
}

function began(values: Partial<Schedule>, now: string): string | null {
  return toText(scheduleBegan(schedule(values), Date.parse(now)))
}

function begins(values: Partial<Schedule>, now: string): string | null {
  return toText(scheduleBegins(schedule(values), Date.parse(now)))
}

// Conformance: C-14.38.
test.each([
  ['before it begins', '2026-11-23T16:59:59.999Z', null],
  ['when it begins', '2026-11-23T17:00:00.000Z', '2026-11-23T17:00:00.000Z'],
  ['until it ends', '2026-11-23T21:59:59.999Z', '2026-11-23T17:00:00.000Z'],
  ['when it ends, which is excluded', '2026-11-23T22:00:00.000Z', null],
])('compares the local time: %s', (_, now, expected) => {
  expect(began({}, now)).toBe(expected)
})

test('past midnight belongs to the day on which it began', () => {
  const fridayNight = { days: ['fri'] as const, from: '22:00', to: '02:00' }
  const start = '2026-11-27T21:00:00.000Z'
  expect(began(fridayNight, '2026-11-27T21:30:00Z')).toBe(start)
  expect(began(fridayNight, '2026-11-28T00:59:59Z')).toBe(start)
  expect(began(fridayNight, '2026-11-28T01:00:00Z')).toBeNull()
  // The night before Friday belongs to Thursday.
  expect(began(fridayNight, '2026-11-27T00:30:00Z')).toBeNull()
  expect(began(fridayNight, '2026-11-28T21:30:00Z')).toBeNull()
})

test('says when it begins next', () => {
  const weekend = { days: ['sat', 'sun'] as const }
  expect(begins(weekend, '2026-11-23T12:00:00Z')).toBe('2026-11-28T17:00:00.000Z')
  expect(begins(weekend, '2026-11-28T17:00:00Z')).toBe('2026-11-29T17:00:00.000Z')
  expect(begins(weekend, '2026-11-29T17:00:00Z')).toBe('2026-12-05T17:00:00.000Z')
  expect(begins({ days: [] }, '2026-11-23T12:00:00Z')).toBeNull()
})

test('joins hours that follow each other', () => {
  const workdays = { days: ['mon', 'tue', 'wed'] as const, from: '00:00', to: '00:00' }
  expect(began(workdays, '2026-11-25T12:00:00Z')).toBe('2026-11-22T23:00:00.000Z')
  expect(began({ days: ['mon', 'wed'], from: '00:00', to: '00:00' }, '2026-11-25T12:00:00Z')).toBe(
    '2026-11-24T23:00:00.000Z',
  )
  expect(began({ from: '06:00', to: '06:00' }, '2026-11-25T12:00:00Z')).toBe('-Infinity')
})

test.each([
  ['the first second', 'Europe/Berlin', '2026-03-29T00:00:00Z', '02:00', '2026-03-29T01:00:00.000Z'],
  ['the middle', 'Europe/Berlin', '2026-03-29T00:00:00Z', '02:30', '2026-03-29T01:00:00.000Z'],
  ['half an hour', 'Australia/Lord_Howe', '2026-10-03T14:00:00Z', '02:10', '2026-10-03T15:30:00.000Z'],
  ['midnight', 'America/Santiago', '2026-09-06T03:00:00Z', '00:30', '2026-09-06T04:00:00.000Z'],
])('begins with summer time if the clocks skip its beginning: %s', (_, time_zone, now, from, expected) => {
  expect(begins({ time_zone, from, to: '05:00' }, now)).toBe(expected)
})

test('ends with the beginning of summer time if the clocks skip its end', () => {
  const night = { from: '01:00', to: '02:30' }
  expect(began(night, '2026-03-29T00:59:59Z')).toBe('2026-03-29T00:00:00.000Z')
  expect(began(night, '2026-03-29T01:00:00Z')).toBeNull()
  const skipped = { from: '02:10', to: '02:50', days: ['sun'] as const }
  expect(begins(skipped, '2026-03-28T12:00:00Z')).toBe('2026-04-05T00:10:00.000Z')
})

test('contains both of two hours that the clocks show twice', () => {
  const night = { from: '02:00', to: '03:00' }
  const start = '2026-10-25T00:00:00.000Z'
  for (const now of ['2026-10-25T00:00:00Z', '2026-10-25T00:59:59Z', '2026-10-25T01:00:00Z', '2026-10-25T01:59:59Z']) {
    expect(began(night, now)).toBe(start)
  }
  expect(began(night, '2026-10-25T02:00:00Z')).toBeNull()
})

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia']
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
const schedules = fc.record({
  days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
  from: time,
  to: time,
  time_zone: fc.constantFrom(...zones),
})
const hourMs = 3600_000
/** 2026 has four changes in Lord Howe, Berlin and New York together. */
const instants = fc.integer({ min: Date.UTC(2026, 0, 1) / 60_000, max: Date.UTC(2027, 0, 1) / 60_000 })

/** Returns the weekday and the minute of the day that a clock on the wall shows. */
function onTheWall(time_zone: string, now: number) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: time_zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const day = weekdays.map(String).indexOf(parts.get('weekday')?.toLowerCase() ?? '')
  return { day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) }
}

function appliesOnTheWall({ days, from, to, time_zone }: Schedule, now: number): boolean {
  const { day, minute } = onTheWall(time_zone, now)
  const [start = 0, end = 0] = [from, to].map((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)))
  const includes = (index: number) => days.some((name) => name === weekdays[(index + 7) % 7])
  if (start < end) return includes(day) && start <= minute && minute < end
  return (includes(day) && minute >= start) || (includes(day - 1) && minute < end)
}

function offsetChangesNear(time_zone: string, now: number): boolean {
  const minutes = [-26, 26].map((hours) => onTheWall(time_zone, now + hours * hourMs).minute)
  return ((minutes[1] ?? 0) - (minutes[0] ?? 0) + 1440) % 1440 !== (52 * 60) % 1440
}

test('agrees with the clock on the wall, except where summer time changes it', () => {
  fc.assert(
    fc.property(schedules, instants, (values, minutes) => {
      const now = minutes * 60_000
      const start = scheduleBegan(values, now)
      if (!offsetChangesNear(values.time_zone, now)) expect(start !== null).toBe(appliesOnTheWall(values, now))
      if (start === null || start === Number.NEGATIVE_INFINITY) return
      expect(start).toBeLessThanOrEqual(now)
      expect(scheduleBegan(values, start)).toBe(start)
      expect(scheduleBegan(values, start - 1)).toBeNull()
    }),
    { numRuns: 300 },
  )
})

test('does not apply between now and its next beginning', () => {
  fc.assert(
    fc.property(schedules, instants, fc.double({ min: 0, max: 1, noNaN: true }), (values, minutes, part) => {
      const now = minutes * 60_000
      const next = scheduleBegins(values, now)
      if (next === null) throw new Error('A schedule with days begins.')
      expect(next).toBeGreaterThan(now)
      expect(scheduleBegan(values, next)).not.toBeNull()
      if (scheduleBegan(values, now) !== null) return
      expect(scheduleBegan(values, now + Math.floor((next - 1 - now) * part))).toBeNull()
    }),
    { numRuns: 300 },
  )
})
