/** Imports the markers in a file. Those that are already stored are left as they are. */

import { toMarkerEvent } from '../../domain/events/marker.ts'
import type { MarkerEntry } from '../../domain/installation-file.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import { insertEvents } from '../../storage/events.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'
import { describe, findReceiver } from './import-equipment.ts'

export async function putMarkers({ tx, file, before, unknown, count }: ImportContext): Promise<void> {
  const entries = file.markers ?? []
  if (entries.length === 0) return
  const receivers = await listReceivers(tx.query)
  const pick = createPicker(before.markers)
  for (const [index, { time, until, channel: reference, text, by }] of entries.entries()) {
    const path = `markers.${index}`
    const marker = {
      time: toTime(time, `${path}.time`),
      until: until === undefined ? null : toTime(until, `${path}.until`),
      text,
    }
    if (marker.until !== null && marker.until < marker.time) {
      throw new ImportError(`${path}.until`, 'expected a time that is not before time')
    }
    const receiver = reference && findReceiver(receivers, reference)
    const channel = receiver?.channels.find(({ channel }) => channel === reference?.channel)
    if (reference !== undefined && channel === undefined) {
      unknown.push(`${describe(reference)}, channel ${reference.channel}`)
      continue
    }
    const marked = receiver === undefined || channel === undefined ? null : { receiver, channel }
    const event = toMarkerEvent(marker, marked, by ?? null)
    const stored = pick(
      (known) =>
        known.time === event.time &&
        known.until === event.until &&
        known.channel_id === event.channel_id &&
        known.text === event.text,
    )
    if (count('markers', stored, stored ?? event)) await insertEvents(tx, [event])
  }
}

function toTime(text: MarkerEntry['time'], path: string): number {
  const time = parseTimestamp(text)
  if (time === null) throw new ImportError(path, 'expected a time such as 2026-05-01T18:00:00Z')
  return time
}
