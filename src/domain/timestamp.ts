/** Times in requests and files. */

const pattern = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** Parses a time with `Z` or an offset. Returns epoch milliseconds, or null for anything else, such as 30 February. */
export function parseTimestamp(text: string): number | null {
  const [, day] = pattern.exec(text) ?? []
  const time = Date.parse(text)
  if (day === undefined || Number.isNaN(time)) return null
  // JavaScript takes 30 February for 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? time : null
}
