/** Local times as fields of the type `datetime-local` contain them. */

/** Returns epoch ms as `2026-11-22T20:14:05`. */
export function toLocalInput(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** Returns null for a text that is not a time. */
export function fromLocalInput(text: string): number | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
