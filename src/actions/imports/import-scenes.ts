/** Imports the scenes in a file. */

import type { Arrangement } from '../../contract/shows.ts'
import type { Installation } from '../../domain/installation-export.ts'
import type { DeviceReference, SceneEntry } from '../../domain/installation-file.ts'
import { nameOfChannel } from '../../domain/scenes/arrangement.ts'
import type { Show } from '../../domain/shows.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertScene, saveArrangement } from '../../storage/scenes.ts'
import { readInstallation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'
import { describe, findReceiver } from './import-equipment.ts'

export async function putScenes(work: ImportContext): Promise<void> {
  const { tx, file, now, count, unknown } = work
  const entries = file.scenes ?? []
  if (entries.length === 0) return
  const revision = await nextRevision(tx, 'shows')
  const installation = await readInstallation(tx.query, work.secrets)
  const pick = createPicker(installation.scenes)
  for (const [index, entry] of entries.entries()) {
    const path = `scenes.${index}`
    const { id: show_id } = findShow(entry, installation.shows, path)
    const arrangement = toArrangement(entry, installation, unknown, path)
    const stored = pick((scene) => scene.show_id === show_id && scene.title === entry.title)
    if (!count('scenes', stored?.arrangement, arrangement)) continue
    if (stored !== undefined) {
      await saveArrangement(tx, revision, stored, arrangement)
      continue
    }
    const { title, by = 'import' } = entry
    const created_at = parseTime(entry.since, `${path}.since`) ?? now
    const recalled_at = parseTime(entry.recalled_at, `${path}.recalled_at`)
    await insertScene(tx, revision, { show_id, title, by, created_at, recalled_at, arrangement })
  }
}

function findShow({ show }: SceneEntry, shows: readonly Show[], path: string): Show {
  const start = parseTime(show.starts_at, `${path}.show.starts_at`)
  const found = shows.find(({ title, starts_at }) => title === show.title && starts_at === start)
  if (found !== undefined) return found
  throw new ImportError(`${path}.show`, `expected a show; ${show.title} does not exist`)
}

/** Returns what the scene stores, without devices that are not known. */
function toArrangement(
  entry: SceneEntry,
  { receivers, units, placeholders, groups, performers }: Installation,
  unknown: string[],
  path: string,
): Arrangement {
  const find = <Item>(items: readonly Item[], matches: (item: Item) => boolean, where: string, what: string) => {
    const found = items.find(matches)
    if (found !== undefined) return found
    throw new ImportError(`${path}.${where}`, `expected ${what} that exists`)
  }
  const findPerformer = (name: string, where: string) =>
    find(performers, (performer) => performer.name === name, where, 'the name of a performer').id
  return {
    channels: (entry.channels ?? []).flatMap(({ slot, frequency = null, ...reference }) => {
      const receiver = findReceiver(receivers, reference)
      const channel = receiver?.channels.find(({ channel }) => channel === reference.channel)
      if (receiver !== undefined && channel !== undefined)
        return [{ id: channel.id, name: nameOfChannel(receiver, channel), slot, frequency }]
      unknown.push(describeChannel(reference, receiver !== undefined, reference.channel))
      return []
    }),
    placeholders: (entry.placeholders ?? []).map(({ placeholder, slot, name, kind, frequency = null }, index) => {
      const where = `placeholders.${index}.placeholder`
      const { id } = find(placeholders, (item) => item.slot === placeholder, where, 'the slot of a placeholder')
      return { id, slot, name, kind, frequency }
    }),
    groups: (entry.groups ?? []).map(({ group, title, slots }, index) => {
      const { id } = find(groups, (item) => item.title === group, `groups.${index}.group`, 'the title of a group')
      return { id, title, slots }
    }),
    performers: (entry.performers ?? []).map(({ performer, name }, index) => ({
      id: findPerformer(performer, `performers.${index}.performer`),
      name,
    })),
    units: (entry.units ?? []).flatMap(({ performer, role = null, channel: number, ...reference }, index) => {
      const receiver = findReceiver(receivers, reference)
      const channel = receiver?.channels.find(({ channel }) => channel === number)
      const unit = units.find((candidate) =>
        number === undefined
          ? candidate.manufacturer === reference.manufacturer && candidate.api_device_id === reference.api_device_id
          : channel !== undefined && candidate.channel_id === channel.id,
      )
      if (unit === undefined) {
        unknown.push(describeChannel(reference, receiver !== undefined, number))
        return []
      }
      const id = performer === undefined ? null : findPerformer(performer, `units.${index}.performer`)
      return [{ id: unit.id, name: unit.name, performer: id, role }]
    }),
  }
}

/** Describes a channel that is not known, or its receiver if that is not known. */
function describeChannel(reference: DeviceReference, isReceiverKnown: boolean, channel: number | undefined): string {
  return isReceiverKnown && channel !== undefined ? `${describe(reference)}, channel ${channel}` : describe(reference)
}

function parseTime(text: string | null | undefined, path: string): number | null {
  if (text === undefined || text === null) return null
  const time = parseTimestamp(text)
  if (time !== null) return time
  throw new ImportError(path, 'expected a time such as 2026-05-01T18:00:00Z')
}
