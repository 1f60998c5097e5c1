import Type from 'typebox'
import type { Group } from '../../contract/groups.ts'
import { type Body, name, nullable } from '../../contract/schema.ts'
import { showFields } from '../../contract/shows.ts'
import { type NewShow, type Show, stateOf, toShowBody } from '../../domain/shows.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertShow, saveShow } from '../../storage/shows.ts'
import { listGroups } from '../../storage/slots.ts'
import { defineSection, list, record, sortBy } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTimeOrNull } from './import-context.ts'

/** Validated by `readTime`, whose message has the path of the show. */
export const timeOrNull = Type.Optional(nullable(Type.String(), 'a time such as 2026-05-01T18:00:00Z'))

/** A show is identified by its title and its planned start. */
const ShowEntry = record(
  {
    title: name,
    groups: list(name, 'a list of group titles'),
    ...showFields,
    started_at: timeOrNull,
    ended_at: timeOrNull,
  },
  'a show with at least a title',
)
type ShowEntry = Body<typeof ShowEntry>

export const showSection = defineSection(list(ShowEntry, 'a list of shows'), exportShows, importShows)

export const ShowReference = record({ title: name, starts_at: timeOrNull }, 'a show with its title and planned start')
export type ShowReference = Body<typeof ShowReference>

function exportShows({ shows, groups }: Installation): ShowEntry[] {
  return sortBy(shows, ({ title, starts_at }) => `${starts_at ?? ''} ${title}`).map((show) => {
    const { id: _, state: __, version: ___, group_ids, ...fields } = toShowBody(show)
    const titles = group_ids.flatMap((id) => groups.find((group) => group.id === id)?.title ?? [])
    return { ...fields, groups: titles }
  })
}

export function toShowReference(show: Show): ShowReference {
  const { title, starts_at } = toShowBody(show)
  return { title, starts_at }
}

/** `path` is the position of the reference in the file. */
export function findShow(shows: readonly Show[], { title, starts_at }: ShowReference, path: string): Show {
  const start = readTimeOrNull(starts_at, `${path}.starts_at`)
  const found = shows.find((show) => show.title === title && show.starts_at === start)
  if (found !== undefined) return found
  throw new ImportError(path, `expected a show; ${title} does not exist`)
}

/** A show that is already stored keeps its start and its end, and an ended one its groups. */
async function importShows(work: ImportContext, entries: readonly ShowEntry[] = []): Promise<void> {
  const { tx, before } = work
  if (entries.length === 0) return
  await nextRevision(tx, 'shows')
  const groups = await listGroups(tx.query)
  const pick = createPicker(before.shows)
  for (const [index, entry] of entries.entries()) {
    const path = `shows.${index}`
    const times = readTimes(entry, path)
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
    if (!work.count('shows', stored, imported)) continue
    if (stored === undefined) await insertShow(tx, imported)
    else await saveShow(tx, { ...stored, ...imported })
  }
}

type Times = Partial<Pick<Show, 'starts_at' | 'ends_at' | 'started_at' | 'ended_at'>>

function readTimes(entry: ShowEntry, path: string): Times {
  const times: Record<string, number | null> = {}
  for (const field of ['starts_at', 'ends_at', 'started_at', 'ended_at'] as const) {
    const text = entry[field]
    if (text !== undefined) times[field] = readTimeOrNull(text, `${path}.${field}`)
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
