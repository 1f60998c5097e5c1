import { locale, t } from './i18n.ts'
import { serviceNow } from './service-time.ts'

const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
const dayTime = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' })
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const day = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short' })
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
const list = new Intl.ListFormat(locale)
const period = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const preciseTime = new Intl.DateTimeFormat(locale, {
  ...{ hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 1 },
})
const number = new Intl.NumberFormat(locale, { useGrouping: false })
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
const celsius = unitFormat('celsius')
const placeholder = '\0'
const durationUnits = {
  week: unitFormat('week'),
  day: unitFormat('day'),
  gigabyte: unitFormat('gigabyte'),
  hour: unitFormat('hour'),
  minute: unitFormat('minute'),
  second: unitFormat('second'),
  millisecond: unitFormat('millisecond'),
}

const ageUnits = {
  day: unitFormat('day', 'narrow'),
  hour: unitFormat('hour', 'narrow'),
  minute: unitFormat('minute', 'narrow'),
  second: unitFormat('second', 'narrow'),
}

/** "12 min 38 sec", "3 hr 5 min", "12 hr", "2 days" */
export function formatDuration(ms: number): string {
  const [seconds, minutes, hours] = splitDuration(ms)
  if (hours > 0) return formatShortDuration(ms)
  return minutes > 0
    ? join(formatUnit('minute', minutes), formatUnit('second', seconds))
    : formatUnit('second', seconds)
}

/** Without seconds from one minute, without minutes from ten hours. */
export function formatShortDuration(ms: number): string {
  const [seconds, minutes, hours] = splitDuration(ms)
  if (hours >= 48) return formatUnit('day', Math.floor(hours / 24))
  if (hours >= 10 || (hours > 0 && minutes === 0)) return formatUnit('hour', hours)
  if (hours > 0) return join(formatUnit('hour', hours), formatUnit('minute', minutes))
  return minutes > 0 ? formatUnit('minute', minutes) : formatUnit('second', seconds)
}

/** "1 h 20", "12 min". Cannot be read as a time of day. */
export function formatTimeLeft(minutes: number): string {
  if (minutes < 60) return formatUnit('minute', minutes)
  return t('units.hoursMinutes', { hours: Math.floor(minutes / 60), minutes: String(minutes % 60).padStart(2, '0') })
}

/** One narrow unit: "45s", "6d". */
export function formatAge(ms: number): string {
  const [seconds, minutes, hours] = splitDuration(ms)
  if (hours >= 48) return ageUnits.day.format(Math.floor(hours / 24))
  if (hours > 0) return ageUnits.hour.format(hours)
  return minutes > 0 ? ageUnits.minute.format(minutes) : ageUnits.second.format(seconds)
}

/** "1 hr 20 min" */
export function formatMinutes(minutes: number): string {
  return formatShortDuration(minutes * 60_000)
}

/** Here and below, a number is a time in epoch milliseconds, and a string is an ISO 8601 timestamp. */
export function formatTime(at: number): string {
  return time.format(at)
}

/** A day and a time without seconds. */
export function formatDayTime(at: number): string {
  return dayTime.format(at)
}

/** Without seconds. */
export function formatClock(at: number): string {
  return clock.format(at)
}

/** Without seconds, with the dates unless both are on one day. */
export function formatClockRange(from: number, until: number): string {
  return clock.formatRange(from, until)
}

/** With tenths of a second. */
export function formatPreciseTime(at: number): string {
  return preciseTime.format(at)
}

export function formatDay(at: number): string {
  return day.format(at)
}

/** 0 is Monday. */
export function formatWeekday(day: number): string {
  // 5 January 1970 was a Monday.
  return weekday.format((4 + day) * 86_400_000)
}

/** "Nora, Ada and Kim" */
export function formatList(items: readonly string[]): string {
  return list.format(items)
}

/** `at`: ISO 8601, or epoch ms. */
export function formatDateTime(at: string | number): string {
  return dateTime.format(new Date(at))
}

/** With the date unless it is today. */
export function formatMoment(at: string | number, now = serviceNow()): string {
  return formatDate(at) === formatDate(now) ? formatTime(new Date(at).getTime()) : formatDateTime(at)
}

/** Without seconds, with the day unless it is today. */
export function formatRoughMoment(at: number, now = serviceNow()): string {
  return date.format(at) === date.format(now) ? formatClock(at) : formatDayTime(at)
}

/** Without seconds; only the start if there is no end. */
export function formatPeriod(from: string, to: string | null): string {
  const start = new Date(from)
  return to === null ? period.format(start) : period.formatRange(start, new Date(to))
}

export function formatDate(at: string | number): string {
  return date.format(new Date(at))
}

/** With a minus sign (U+2212) instead of a hyphen. */
function formatNumber(value: number): string {
  return number.format(value).replace('-', '−')
}

/** `value`: 0 to 100. */
export function formatPercent(value: number): string {
  return percent.format(value / 100)
}

export function formatCelsius(value: number): string {
  return celsius.format(value).replace('-', '−')
}

/** Meters call these functions in every frame, so the catalogue is read only once. */
export const formatDbm = withUnit(t('units.dbm', { value: placeholder }))
export const formatDbfs = withUnit(t('units.dbfs', { value: placeholder }))
export const formatDb = withUnit(t('units.db', { value: placeholder }))
export const formatMilliwatts = withUnit(t('units.mw', { value: placeholder }))
export const formatHertz = withUnit(t('units.hz', { value: placeholder }))
/** A string, such as `518.200` from the API, is shown unchanged. */
export const formatMegahertz = withUnit(t('units.mhz', { value: placeholder }))

/** "expected a name" -> "Expected a name." */
export function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?。！？]$/.test(text) ? '' : '.'}`
}

/** Removes control characters and bidirectional formatting marks, which could disguise a name. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
}

function withUnit(pattern: string): (value: number | string) => string {
  const [before = '', after = ''] = pattern.split(placeholder)
  return (value) => before + (typeof value === 'number' ? formatNumber(value) : value) + after
}

function splitDuration(ms: number): [seconds: number, minutes: number, hours: number] {
  const whole = Math.max(0, Math.floor(ms / 1_000))
  return [whole % 60, Math.floor(whole / 60) % 60, Math.floor(whole / 3_600)]
}

function unitFormat(
  unit: 'celsius' | 'week' | 'day' | 'gigabyte' | 'hour' | 'minute' | 'second' | 'millisecond',
  unitDisplay: 'short' | 'narrow' = 'short',
): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay })
}

/** Does not convert to another unit: "90 sec". */
export function formatUnit(unit: keyof typeof durationUnits, value: number): string {
  return durationUnits[unit].format(value)
}

function join(...parts: readonly string[]): string {
  return parts.join(' ')
}

const byteFormats = (['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const).map(
  (unit) => new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }),
)

/** "1.2 MB", in powers of 1,000. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(1, bytes)) / 3), byteFormats.length - 1)
  return byteFormats[power]?.format(bytes / 1000 ** power) ?? ''
}
