import Type from 'typebox'
import { checkedFields } from '../../contract/checks.ts'
import { type Body, boundedText, name } from '../../contract/schema.ts'
import { checkResults } from '../../contract/values.ts'
import { toCheckEvent } from '../../domain/events/event-drafts.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertCheck, listShows } from '../../storage/shows.ts'
import { readTitles } from '../../storage/slot-entries.ts'
import { ChannelReference, describeChannel, findChannel, indexChannels } from './devices.ts'
import { defineSection, list, record, sortByContent, time, toIsoTime } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTimeOrNull } from './import-context.ts'
import { findShow, ShowReference, toShowReference } from './shows.ts'

/** A line check is identified by its show, channel and times. */
const CheckEntry = record(
  {
    show: ShowReference,
    channel: ChannelReference,
    began_at: Type.Optional(time),
    /** When the result was entered. */
    time: Type.Optional(time),
    result: Type.Optional(Type.Enum([...checkResults], { description: `one of ${checkResults.join(', ')}` })),
    note: Type.Optional(boundedText(1, 500)),
    by: name,
    /** The state of the channel when the result was entered. */
    checked: Type.Optional(record(checkedFields, 'the slot, title, pack, battery and walk of the channel')),
  },
  'a line check with its show, channel and user',
)
type CheckEntry = Body<typeof CheckEntry>

export const checkSection = defineSection(list(CheckEntry, 'a list of line checks'), exportChecks, importChecks)

/** Checks of removed channels are omitted, because nothing identifies these. */
function exportChecks({ checks, shows, receivers }: Installation): CheckEntry[] {
  const references = indexChannels(receivers)
  const entries = checks.flatMap(
    ({ show_id, channel_id, began_at, checked_at, result, note, by, checked }): CheckEntry[] => {
      const show = shows.find(({ id }) => id === show_id)
      const channel = references.get(channel_id)
      if (show === undefined || channel === undefined) return []
      return [
        {
          show: toShowReference(show),
          channel,
          ...(began_at !== null && { began_at: toIsoTime(began_at) }),
          ...(checked_at !== null && { time: toIsoTime(checked_at) }),
          ...(result !== null && { result }),
          ...(note !== null && { note }),
          by,
          ...(checked !== null && { checked }),
        },
      ]
    },
  )
  return sortByContent(entries)
}

/** Never changes stored checks. */
async function importChecks(work: ImportContext, entries: readonly CheckEntry[] = []): Promise<void> {
  const { tx, before, unknown } = work
  if (entries.length === 0) return
  const revision = await nextRevision(tx, 'checks')
  const receivers = await listReceivers(tx.query)
  const shows = await listShows(tx.query)
  const titleOf = await readTitles(tx.query)
  const pick = createPicker(before.checks)
  for (const [index, entry] of entries.entries()) {
    const path = `checks.${index}`
    const { id: show_id } = findShow(shows, entry.show, `${path}.show`)
    const checked = findChannel(receivers, entry.channel)
    if (checked === undefined) {
      unknown.push(describeChannel(entry.channel, entry.channel.channel))
      continue
    }
    const check = {
      show_id,
      channel_id: checked.channel.id,
      began_at: readTimeOrNull(entry.began_at, `${path}.began_at`),
      ...readResult(entry, path),
      by: entry.by,
      checked: entry.checked ?? null,
    }
    const stored = pick(
      (known) =>
        known.show_id === check.show_id &&
        known.channel_id === check.channel_id &&
        known.began_at === check.began_at &&
        known.checked_at === check.checked_at,
    )
    if (!work.count('checks', stored, stored ?? check)) continue
    const { checked_at, ...inserted } = await insertCheck(tx, revision, check)
    if (checked_at === null) continue
    const named = { ...checked, title: titleOf(checked.receiver, checked.channel) }
    work.events.push(toCheckEvent({ ...inserted, checked_at }, named))
  }
}

/** Returns the result, which has a time. */
function readResult({ time, result, note }: CheckEntry, path: string) {
  if (result === undefined) return { checked_at: null, result: null, note: null }
  const checked_at = readTimeOrNull(time, `${path}.time`)
  if (checked_at === null) throw new ImportError(`${path}.time`, 'expected the time of the result')
  return { checked_at, result, note: note ?? null }
}
