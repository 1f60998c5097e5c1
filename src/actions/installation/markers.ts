import Type from 'typebox'
import { type Body, boundedText, name } from '../../contract/schema.ts'
import { toMarkerEvent } from '../../domain/events/event-drafts.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { readTitles } from '../../storage/slot-entries.ts'
import { ChannelReference, describeChannel, findChannel, indexChannels } from './devices.ts'
import { defineSection, list, record, sortByContent, time, toIsoTime } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTime } from './import-context.ts'

/** A marker applies to all channels if it has none. It is identified by all that it contains. */
const MarkerEntry = record(
  {
    time,
    until: Type.Optional(time),
    channel: Type.Optional(ChannelReference),
    text: boundedText(1, 500),
    by: Type.Optional(name),
  },
  'a marker with a time and a text',
)
type MarkerEntry = Body<typeof MarkerEntry>

export const markerSection = defineSection(list(MarkerEntry, 'a list of markers'), exportMarkers, importMarkers)

/** Markers of removed channels are omitted, because nothing identifies these. */
function exportMarkers({ markers, receivers }: Installation): MarkerEntry[] {
  const references = indexChannels(receivers)
  const entries = markers.flatMap(({ time, until, channel_id, text, by }): MarkerEntry[] => {
    const channel = channel_id === null ? undefined : references.get(channel_id)
    if (channel_id !== null && channel === undefined) return []
    return [
      {
        time: toIsoTime(time),
        ...(until !== null && { until: toIsoTime(until) }),
        ...(channel && { channel }),
        text,
        ...(by !== null && { by }),
      },
    ]
  })
  return sortByContent(entries)
}

/** Never changes stored markers. */
async function importMarkers(work: ImportContext, entries: readonly MarkerEntry[] = []): Promise<void> {
  const { tx, before, unknown } = work
  if (entries.length === 0) return
  const receivers = await listReceivers(tx.query)
  const titleOf = await readTitles(tx.query)
  const pick = createPicker(before.markers)
  for (const [index, { time, until, channel: reference, text, by }] of entries.entries()) {
    const path = `markers.${index}`
    const marker = { time: readTime(time, `${path}.time`), until: null as number | null, text }
    if (until !== undefined) marker.until = readTime(until, `${path}.until`)
    if (marker.until !== null && marker.until < marker.time) {
      throw new ImportError(`${path}.until`, 'expected a time that is not before time')
    }
    const marked = reference && findChannel(receivers, reference)
    if (reference !== undefined && marked === undefined) {
      unknown.push(describeChannel(reference, reference.channel))
      continue
    }
    const named = marked === undefined ? null : { ...marked, title: titleOf(marked.receiver, marked.channel) }
    const event = toMarkerEvent(marker, named, by ?? null)
    const stored = pick(
      (known) =>
        known.time === event.time &&
        known.until === event.until &&
        known.channel_id === event.channel_id &&
        known.text === event.text,
    )
    if (work.count('markers', stored, stored ?? event)) work.events.push(event)
  }
}
