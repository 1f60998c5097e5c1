/** The date-time of RFC 3339; seconds are optional. */
const pattern = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i

/** Parses a time with `Z` or an offset. Returns epoch milliseconds, or null for anything else, such as 30 February. */
export function parseTimestamp(text: string): number | null {
  const [, day] = pattern.exec(text) ?? []
  const time = Date.parse(text)
  if (day === undefined || Number.isNaN(time)) return null
  return isDay(day) ? time : null
}

/** Accepts dates that exist, such as 2026-05-01. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text))) return false
  // JavaScript parses 30 February as 2 March.
  return new Date(text).toISOString().startsWith(text)
}

/** Formats a time as ISO 8601 in UTC. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
