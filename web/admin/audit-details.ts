/** Texts of the details of audit entries. */

import { formatDateTime } from '../app/format.ts'

const isoTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Returns a value as text: times in the format of the page, lists without their JSON punctuation. */
export function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map(detailText).join(', ')
  if (typeof value !== 'string') return JSON.stringify(value)
  return isoTime.test(value) ? formatDateTime(value) : value
}
