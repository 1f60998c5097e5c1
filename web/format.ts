/** Values -> what is read. Widths are kept by the style sheet; the minus sign is a real one. */

import { locale, words } from './words.ts'

const texts = words.times

export function formatAge(ms: number): string {
  const [seconds, minutes, hours] = parts(ms)
  if (hours > 0) return shortAge(ms)
  return minutes > 0 ? texts.minutesSeconds(minutes, two(seconds)) : texts.seconds(seconds)
}

export function shortAge(ms: number): string {
  const [seconds, minutes, hours] = parts(ms)
  if (hours >= 48) return texts.days(Math.floor(hours / 24))
  if (hours >= 10) return texts.hours(hours)
  if (hours > 0) return texts.hoursMinutes(hours, two(minutes))
  return minutes > 0 ? texts.minutes(minutes) : texts.seconds(seconds)
}

export function formatTime(at: number): string {
  const date = new Date(at)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** ISO 8601 -> day and time, as one says it where this language is spoken. */
export function formatMoment(at: string): string {
  return texts.moment(new Date(at), locale)
}

export function formatDay(at: string): string {
  return texts.day(new Date(at), locale)
}

export function formatLevel(level: number): string {
  return level < 0 ? `−${-level}` : `${level}`
}

/** "expected a name" -> "Expected a name." */
export function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** Without control characters and marks that turn the direction of what follows: a name may not disguise itself. */
export function plainText(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
}

function parts(ms: number): [seconds: number, minutes: number, hours: number] {
  const whole = Math.max(0, Math.floor(ms / 1_000))
  return [whole % 60, Math.floor(whole / 60) % 60, Math.floor(whole / 3_600)]
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
