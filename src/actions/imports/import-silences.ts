/** Imports the silences in a file. Those that have ended are left out. */

import { isDeepStrictEqual } from 'node:util'
import type { Silence } from '../../domain/alerts/silences.ts'
import type { SilenceEntry } from '../../domain/installation-file.ts'
import { insertSilence } from '../../storage/silences.ts'
import { readInstallation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'
import { describe, findReceiver } from './import-equipment.ts'

export async function putSilences(work: ImportContext): Promise<void> {
  const { tx, file, now, count } = work
  const entries = file.silences ?? []
  if (entries.length === 0) return
  const { groups, receivers, silences } = await readInstallation(tx.query, work.secrets)
  const pick = createPicker(silences)
  for (const [index, entry] of entries.entries()) {
    const { kinds = [], reason = '' } = entry
    const until = toTime(entry.until, `silences.${index}.until`)
    if (until <= now) continue
    const channels = (entry.channels ?? []).map((reference) => {
      const known = findReceiver(receivers, reference)?.channels.find(({ channel }) => channel === reference.channel)
      if (known === undefined) work.unknown.push(`${describe(reference)}, channel ${reference.channel}`)
      return known?.id
    })
    // Without one of its channels, a silence would be another one.
    if (channels.includes(undefined)) continue
    const groupIds = (entry.groups ?? []).map((title, position) => {
      const group = groups.find((candidate) => candidate.title === title)
      if (group !== undefined) return group.id
      const expected = `expected the title of a group; ${title} does not exist`
      throw new ImportError(`silences.${index}.groups.${position}`, expected)
    })
    const known = channels.filter((id) => id !== undefined)
    if (known.length + groupIds.length + kinds.length === 0) {
      throw new ImportError(`silences.${index}`, 'expected at least one channel, group or kind')
    }
    const fields = { channels: known.toSorted(byNumber), groups: groupIds.toSorted(byNumber), kinds, until, reason }
    const stored = pick((silence) => isDeepStrictEqual(comparable(silence), comparable(fields)))
    if (count('silences', stored && comparable(stored), comparable(fields))) await insert(work, entry, index, fields)
  }
}

async function insert(
  { tx, now }: ImportContext,
  { by = 'import', since }: SilenceEntry,
  index: number,
  fields: SilenceFields,
): Promise<void> {
  const created_at = since === undefined ? now : toTime(since, `silences.${index}.since`)
  await insertSilence(tx, { ...fields, by, created_at })
}

type SilenceFields = Omit<Silence, 'id' | 'by' | 'created_at'>

/** Returns what makes two silences the same. */
function comparable({ channels, groups, kinds, until, reason }: SilenceFields) {
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

function toTime(text: string, path: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new ImportError(path, 'expected a time such as 2026-05-01T18:00:00Z')
  return time
}
