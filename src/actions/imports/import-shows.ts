/** Imports the shows in a file. A show that is already stored keeps its start and its end, and an ended one its groups. */

import type { Group } from '../../contract/groups.ts'
import type { ShowEntry } from '../../domain/installation-file.ts'
import { type NewShow, type Show, stateOf } from '../../domain/shows.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import { listGroups } from '../../storage/groups.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertShow, saveShow } from '../../storage/shows.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'

export async function putShows({ tx, file, before, count }: ImportContext): Promise<void> {
  const entries = file.shows ?? []
  if (entries.length === 0) return
  await nextRevision(tx, 'shows')
  const groups = await listGroups(tx.query)
  const pick = createPicker(before.shows)
  for (const [index, entry] of entries.entries()) {
    const path = `shows.${index}`
    const times = parseTimes(entry, path)
    const stored = pick(({ title, starts_at }) => title === entry.title && starts_at === (times.starts_at ?? null))
    const show = stored === undefined ? createShow(entry, times) : stored
    const isFixed = stored !== undefined && stateOf(stored) === 'ended'
    const imported = {
      ...show,
      ...(times.ends_at !== undefined && { ends_at: times.ends_at }),
      ...(entry.notes !== undefined && { notes: entry.notes }),
      ...(entry.groups !== undefined && !isFixed && { group_ids: findGroups(entry.groups, groups, show, path) }),
    }
    requireOrder(imported, path)
    if (!count('shows', stored, imported)) continue
    if (stored === undefined) await insertShow(tx, imported)
    else await saveShow(tx, { ...stored, ...imported })
  }
}

type Times = Partial<Pick<Show, 'starts_at' | 'ends_at' | 'started_at' | 'ended_at'>>

function parseTimes(entry: ShowEntry, path: string): Times {
  const times: Record<string, number | null> = {}
  for (const field of ['starts_at', 'ends_at', 'started_at', 'ended_at'] as const) {
    const text = entry[field]
    if (text === undefined) continue
    const time = text === null ? null : parseTimestamp(text)
    if (text !== null && time === null) {
      throw new ImportError(`${path}.${field}`, 'expected a time such as 2026-05-01T18:00:00Z')
    }
    times[field] = time
  }
  return times
}

function createShow({ title }: ShowEntry, times: Times): NewShow {
  const { starts_at = null, ends_at = null, started_at = null, ended_at = null } = times
  return { title, starts_at, ends_at, group_ids: [], notes: '', started_at, ended_at, channel_ids: null }
}

/** Returns the ids of the groups with these titles, and those of the show's groups that were removed. */
function findGroups(
  titles: readonly string[],
  groups: readonly Group[],
  { group_ids }: Pick<Show, 'group_ids'>,
  path: string,
): number[] {
  const found = titles.map((title, index) => {
    const group = groups.find((candidate) => candidate.title === title)
    if (group !== undefined) return group.id
    throw new ImportError(`${path}.groups.${index}`, `expected the title of a group; ${title} does not exist`)
  })
  return [...new Set([...found, ...group_ids.filter((id) => groups.every((group) => group.id !== id))])]
}

function requireOrder({ starts_at, ends_at, started_at, ended_at }: NewShow, path: string): void {
  if (starts_at !== null && ends_at !== null && ends_at <= starts_at) {
    throw new ImportError(`${path}.ends_at`, 'expected a time after starts_at')
  }
  if (ended_at !== null && (started_at === null || ended_at < started_at)) {
    throw new ImportError(`${path}.ended_at`, 'expected a time after started_at')
  }
}
