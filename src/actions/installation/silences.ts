import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { alertKinds } from '../../contract/alert-kinds.ts'
import { type Body, boundedText, name } from '../../contract/schema.ts'
import type { Silence } from '../../domain/alerts/silences.ts'
import type { Unstored } from '../../domain/versions.ts'
import { insertSilence } from '../../storage/alerts.ts'
import { ChannelReference, describeChannel, findChannel, toReference } from './devices.ts'
import { defineSection, list, record, sortByContent, time, toIsoTime, whenNotEmpty } from './entries.ts'
import { type Installation, readInstallation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTime } from './import-context.ts'

/** Absent lists do not restrict a silence. */
const SilenceEntry = record(
  {
    channels: list(ChannelReference, 'a list of channels'),
    groups: list(name, 'a list of group titles'),
    kinds: list(Type.Enum([...alertKinds], { description: 'a kind of alert' }), 'a list of kinds of alerts'),
    until: time,
    reason: Type.Optional(boundedText(0, 500)),
    by: Type.Optional(name),
    since: Type.Optional(time),
  },
  'a silence with the time until which it applies',
)
type SilenceEntry = Body<typeof SilenceEntry>

export const silenceSection = defineSection(list(SilenceEntry, 'a list of silences'), exportSilences, importSilences)

function exportSilences({ silences, groups, receivers }: Installation): SilenceEntry[] {
  const entries = silences.flatMap(({ kinds, until, reason, by, created_at, ...ids }): SilenceEntry[] => {
    const channels = receivers.flatMap((receiver) =>
      receiver.channels
        .filter(({ id }) => ids.channels.includes(id))
        .map(({ channel }) => ({ ...toReference(receiver), channel })),
    )
    const titles = groups.filter(({ id }) => ids.groups.includes(id)).map(({ title }) => title)
    // Without its removed channels or groups, the silence would apply to more alerts.
    const isWidened =
      (ids.channels.length > 0 && channels.length === 0) || (ids.groups.length > 0 && titles.length === 0)
    if (isWidened) return []
    return [
      {
        ...whenNotEmpty('channels', channels),
        ...whenNotEmpty('groups', titles),
        ...whenNotEmpty('kinds', kinds),
        until: toIsoTime(until),
        ...(reason !== '' && { reason }),
        by,
        since: toIsoTime(created_at),
      },
    ]
  })
  return sortByContent(entries)
}

/** Silences that have ended are omitted. */
async function importSilences(work: ImportContext, entries: readonly SilenceEntry[] = []): Promise<void> {
  const { tx, now } = work
  if (entries.length === 0) return
  const { groups, receivers, silences } = await readInstallation(tx.query, work.secrets)
  const pick = createPicker(silences)
  for (const [index, { kinds = [], reason = '', by = 'import', since, ...entry }] of entries.entries()) {
    const path = `silences.${index}`
    const until = readTime(entry.until, `${path}.until`)
    if (until <= now) continue
    const channels = (entry.channels ?? []).map((reference) => {
      const known = findChannel(receivers, reference)
      if (known === undefined) work.unknown.push(describeChannel(reference, reference.channel))
      return known?.channel.id
    })
    // Without one of its channels, a silence would be another one.
    if (channels.includes(undefined)) continue
    const groupIds = (entry.groups ?? []).map((title, position) => {
      const group = groups.find((candidate) => candidate.title === title)
      if (group !== undefined) return group.id
      throw new ImportError(`${path}.groups.${position}`, `expected the title of a group; ${title} does not exist`)
    })
    const known = channels.filter((id) => id !== undefined)
    if (known.length + groupIds.length + kinds.length === 0) {
      throw new ImportError(path, 'expected at least one channel, group or kind')
    }
    const fields = { channels: known.toSorted(byNumber), groups: groupIds.toSorted(byNumber), kinds, until, reason }
    const stored = pick((silence) => isDeepStrictEqual(comparable(silence), comparable(fields)))
    if (!work.count('silences', stored && comparable(stored), comparable(fields))) continue
    const created_at = since === undefined ? now : readTime(since, `${path}.since`)
    await insertSilence(tx, { ...fields, by, created_at })
  }
}

/** Returns what makes two silences the same. */
function comparable({ channels, groups, kinds, until, reason }: Omit<Unstored<Silence>, 'by' | 'created_at'>) {
  return {
    channels: channels.toSorted(byNumber),
    groups: groups.toSorted(byNumber),
    kinds: kinds.toSorted(),
    until,
    reason,
  }
}

function byNumber(a: number, b: number): number {
  return a - b
}
