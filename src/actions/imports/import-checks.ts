/** Imports the line checks in a file. Those that are already stored are left as they are. */

import { toCheckEvent } from '../../domain/events/check-event.ts'
import type { CheckEntry } from '../../domain/installation-file.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import { insertCheck } from '../../storage/checks.ts'
import { insertEvents } from '../../storage/events.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { nextRevision } from '../../storage/revision.ts'
import { listShows } from '../../storage/shows.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'
import { describe, findReceiver } from './import-equipment.ts'

/** Call it after the shows were imported. */
export async function putChecks({ tx, file, before, unknown, count }: ImportContext): Promise<void> {
  const entries = file.checks ?? []
  if (entries.length === 0) return
  const revision = await nextRevision(tx, 'checks')
  const receivers = await listReceivers(tx.query)
  const shows = await listShows(tx.query)
  const pick = createPicker(before.checks)
  for (const [index, entry] of entries.entries()) {
    const path = `checks.${index}`
    const startsAt = toTime(entry.show.starts_at, `${path}.show.starts_at`)
    const show = shows.find(({ title, starts_at }) => title === entry.show.title && starts_at === startsAt)
    if (show === undefined) {
      throw new ImportError(`${path}.show`, `expected a show; ${entry.show.title} does not exist`)
    }
    const receiver = findReceiver(receivers, entry.channel)
    const channel = receiver?.channels.find(({ channel }) => channel === entry.channel.channel)
    if (receiver === undefined || channel === undefined) {
      unknown.push(`${describe(entry.channel)}, channel ${entry.channel.channel}`)
      continue
    }
    const check = {
      show_id: show.id,
      channel_id: channel.id,
      began_at: toTime(entry.began_at, `${path}.began_at`),
      ...toResult(entry, path),
      by: entry.by,
    }
    const stored = pick(
      (known) =>
        known.show_id === check.show_id &&
        known.channel_id === check.channel_id &&
        known.began_at === check.began_at &&
        known.checked_at === check.checked_at,
    )
    if (!count('checks', stored, stored ?? check)) continue
    const { checked_at, ...inserted } = await insertCheck(tx, revision, check)
    if (checked_at !== null) await insertEvents(tx, [toCheckEvent({ ...inserted, checked_at }, { receiver, channel })])
  }
}

/** Returns the result, which has a time. */
function toResult({ time, result, note }: CheckEntry, path: string) {
  if (result === undefined) return { checked_at: null, result: null, note: null }
  const checked_at = toTime(time, `${path}.time`)
  if (checked_at === null) throw new ImportError(`${path}.time`, 'expected the time of the result')
  return { checked_at, result, note: note ?? null }
}

function toTime(text: string | null | undefined, path: string): number | null {
  if (text === null || text === undefined) return null
  const time = parseTimestamp(text)
  if (time === null) throw new ImportError(path, 'expected a time such as 2026-05-01T18:00:00Z')
  return time
}
