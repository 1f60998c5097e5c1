import Type from 'typebox'
import { performedRole } from '../../contract/performers.ts'
import { placeholderFields, placeholderKind } from '../../contract/placeholders.ts'
import { type Body, boundedText, name, slot } from '../../contract/schema.ts'
import type { Arrangement } from '../../contract/shows.ts'
import { nameOfChannel } from '../../domain/scenes/arrangement.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertScene, saveArrangement } from '../../storage/shows.ts'
import {
  channelFields,
  channelNumber,
  type DeviceReference,
  describeChannel,
  describeDevice,
  deviceFields,
  findChannel,
  findReceiver,
  indexChannels,
  toReference,
} from './devices.ts'
import { defineSection, list, partial, record, sortByContent, toIsoTime } from './entries.ts'
import { type Installation, readInstallation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTimeOrNull } from './import-context.ts'
import { findShow, ShowReference, timeOrNull, toShowReference } from './shows.ts'

const { frequency } = placeholderFields

/**
 * A scene is identified by its show and its title. It refers to records by their present names, and placeholders by
 * their present slots; the other names and slots are those that it stores.
 */
const SceneEntry = record(
  {
    show: ShowReference,
    title: name,
    by: Type.Optional(name),
    since: timeOrNull,
    recalled_at: timeOrNull,
    channels: list(record({ ...channelFields, slot, frequency }, 'a channel'), 'a list of channels'),
    placeholders: list(
      record({ placeholder: slot, slot, name: boundedText(0, 255), kind: placeholderKind, frequency }, 'a placeholder'),
      'a list of placeholders',
    ),
    groups: list(
      record({ group: name, title: name, slots: Type.Array(slot, { description: 'a list of slots' }) }, 'a group'),
      'a list of groups',
    ),
    performers: list(record({ performer: name, name }, 'a performer'), 'a list of performers'),
    units: list(
      record(
        { ...deviceFields, ...partial({ channel: channelNumber, performer: name, role: performedRole }) },
        'a pack',
      ),
      'a list of packs',
    ),
  },
  'a scene with at least a title and its show',
)
type SceneEntry = Body<typeof SceneEntry>

export const sceneSection = defineSection(list(SceneEntry, 'a list of scenes'), exportScenes, importScenes)

/** Removed records are omitted. */
function exportScenes({ scenes, shows, groups, performers, placeholders, ...rest }: Installation): SceneEntry[] {
  const channels = indexChannels(rest.receivers)
  const nameOfPerformer = (id: number | null) => performers.find((performer) => performer.id === id)?.name
  const entries = scenes.flatMap(({ show_id, title, arrangement, by, created_at, recalled_at }): SceneEntry[] => {
    const show = shows.find(({ id }) => id === show_id)
    if (show === undefined) return []
    return [
      {
        ...{ show: toShowReference(show), title, by, since: toIsoTime(created_at) },
        ...(recalled_at !== null && { recalled_at: toIsoTime(recalled_at) }),
        channels: arrangement.channels.flatMap(({ id, slot, frequency }) => {
          const reference = channels.get(id)
          return reference === undefined ? [] : [{ ...reference, slot, frequency }]
        }),
        placeholders: arrangement.placeholders.flatMap(({ id, ...fields }) => {
          const placeholder = placeholders.find((candidate) => candidate.id === id)
          return placeholder === undefined ? [] : [{ placeholder: placeholder.slot, ...fields }]
        }),
        groups: arrangement.groups.flatMap(({ id, ...fields }) => {
          const group = groups.find((candidate) => candidate.id === id)
          return group === undefined ? [] : [{ group: group.title, ...fields }]
        }),
        performers: arrangement.performers.flatMap(({ id, name }) => {
          const performer = nameOfPerformer(id)
          return performer === undefined ? [] : [{ performer, name }]
        }),
        units: arrangement.units.flatMap(({ id, performer: performerId, role }) => {
          const unit = rest.units.find((candidate) => candidate.id === id)
          const performer = nameOfPerformer(performerId)
          if (unit === undefined || (performerId !== null && performer === undefined)) return []
          const worn = { ...(performer !== undefined && { performer }), ...(role !== null && { role }) }
          if (unit.api_device_id !== null) return [{ ...toReference({ ...unit, mac_address: null }), ...worn }]
          const reference = channels.get(unit.channel_id ?? 0)
          return reference === undefined ? [] : [{ ...reference, ...worn }]
        }),
      },
    ]
  })
  return sortByContent(entries)
}

async function importScenes(work: ImportContext, entries: readonly SceneEntry[] = []): Promise<void> {
  const { tx, now } = work
  if (entries.length === 0) return
  const revision = await nextRevision(tx, 'shows')
  const installation = await readInstallation(tx.query, work.secrets)
  const pick = createPicker(installation.scenes)
  for (const [index, entry] of entries.entries()) {
    const path = `scenes.${index}`
    const { id: show_id } = findShow(installation.shows, entry.show, `${path}.show`)
    const arrangement = toArrangement(entry, installation, work.unknown, path)
    const stored = pick((scene) => scene.show_id === show_id && scene.title === entry.title)
    if (!work.count('scenes', stored?.arrangement, arrangement)) continue
    if (stored !== undefined) {
      await saveArrangement(tx, revision, stored, arrangement)
      continue
    }
    const { title, by = 'import' } = entry
    const created_at = readTimeOrNull(entry.since, `${path}.since`) ?? now
    const recalled_at = readTimeOrNull(entry.recalled_at, `${path}.recalled_at`)
    await insertScene(tx, revision, { show_id, title, by, created_at, recalled_at, arrangement })
  }
}

/** Returns the arrangement without unknown devices. */
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
      const known = findChannel(receivers, reference)
      if (known !== undefined) {
        return [{ id: known.channel.id, name: nameOfChannel(known.receiver, known.channel), slot, frequency }]
      }
      unknown.push(describeUnknown(reference, findReceiver(receivers, reference) !== undefined, reference.channel))
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
        unknown.push(describeUnknown(reference, receiver !== undefined, number))
        return []
      }
      const id = performer === undefined ? null : findPerformer(performer, `units.${index}.performer`)
      return [{ id: unit.id, name: unit.name, performer: id, role }]
    }),
  }
}

/** Describes a channel that is not known, or its receiver if that is not known. */
function describeUnknown(reference: DeviceReference, isReceiverKnown: boolean, channel: number | undefined): string {
  return isReceiverKnown && channel !== undefined ? describeChannel(reference, channel) : describeDevice(reference)
}
