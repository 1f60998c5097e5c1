import Type from 'typebox'
import { performedRole } from '../../contract/performers.ts'
import { placeholderFields, placeholderKind } from '../../contract/placeholders.ts'
import { type Body, boundedText, name, slot } from '../../contract/schema.ts'
import type { Arrangement } from '../../contract/shows.ts'
import { emptyFields, nothingPlanned } from '../../domain/equipment/slot-entry.ts'
import { namesOfChannel, titleOf } from '../../domain/equipment/slot-record.ts'
import { type SceneSlot, toArrangement } from '../../domain/scenes/arrangement.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertScene, saveArrangement } from '../../storage/shows.ts'
import {
  ChannelReference,
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
import { defineSection, list, partial, record, sortByContent, toIsoTime, whenNotEmpty } from './entries.ts'
import { type Installation, readInstallation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, readTimeOrNull } from './import-context.ts'
import { findShow, ShowReference, timeOrNull, toShowReference } from './shows.ts'
import { slotEntryFields, toPlanned } from './slots.ts'

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
    slots: list(
      record(
        {
          slot,
          ...partial({
            channel: ChannelReference,
            placeholder: slot,
            kind: placeholderKind,
            name: boundedText(1, 2048),
            entered: record(slotEntryFields, 'what was entered about the slot'),
          }),
          frequency,
        },
        'a slot with its channel or the present slot of its placeholder',
      ),
      'a list of slots',
    ),
    /** Written by version 1.0.0. */
    channels: list(record({ ...channelFields, slot, frequency }, 'a channel'), 'a list of channels'),
    /** Stored by version 1.0.0, as are units. It stored only these fields of a placeholder. */
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
type SceneSlotEntry = NonNullable<SceneEntry['slots']>[number]

export const sceneSection = defineSection(list(SceneEntry, 'a list of scenes'), exportScenes, importScenes)

/** Removed records are omitted. */
function exportScenes({ scenes, shows, groups, performers, placeholders, ...rest }: Installation): SceneEntry[] {
  const channels = indexChannels(rest.receivers)
  const nameOfPerformer = (id: number | null) => performers.find((performer) => performer.id === id)?.name
  const listSlots = ({ slots }: Arrangement) =>
    slots.flatMap(({ channel_id, placeholder_id, name, entered, ...fields }): SceneSlotEntry[] => {
      const channel = channels.get(channel_id ?? 0)
      const placeholder = placeholders.find(({ id }) => id === placeholder_id)?.slot
      if (channel === undefined && placeholder === undefined) return []
      return [
        {
          ...fields,
          ...(channel && { channel }),
          ...(placeholder !== undefined && { placeholder }),
          ...(name !== null && { name }),
          entered: toEntry(entered, nameOfPerformer),
        },
      ]
    })
  const entries = scenes.flatMap(({ show_id, title, arrangement, by, created_at, recalled_at }): SceneEntry[] => {
    const show = shows.find(({ id }) => id === show_id)
    if (show === undefined) return []
    return [
      {
        ...{ show: toShowReference(show), title, by, since: toIsoTime(created_at) },
        ...(recalled_at !== null && { recalled_at: toIsoTime(recalled_at) }),
        ...(arrangement.slots.some(isFormer)
          ? {
              channels: listFormerChannels(arrangement, channels),
              placeholders: listFormerPlaceholders(arrangement, placeholders),
            }
          : { slots: listSlots(arrangement) }),
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

/** Version 1.0.0 stored no entries about slots but the name and the frequency of a placeholder. A recall keeps the rest. */
function isFormer({ entered }: Pick<SceneSlot, 'entered'>): boolean {
  return entered.performer === undefined
}

function listFormerChannels({ slots }: Arrangement, channels: ReturnType<typeof indexChannels>) {
  return slots.flatMap(({ channel_id, slot, frequency }) => {
    const reference = channels.get(channel_id ?? 0)
    return reference === undefined ? [] : [{ ...reference, slot, frequency }]
  })
}

function listFormerPlaceholders({ slots }: Arrangement, placeholders: Installation['placeholders']) {
  return slots.flatMap(({ placeholder_id, slot, kind, entered: { label, planned } }) => {
    const placeholder = placeholders.find(({ id }) => id === placeholder_id)?.slot
    if (placeholder === undefined) return []
    return [{ placeholder, slot, name: label ?? '', kind, frequency: planned?.frequency ?? null }]
  })
}

/** Omits empty fields. */
function toEntry(entered: SceneSlot['entered'], nameOf: (id: number | null) => string | undefined) {
  const { label, color, performer, role, note, planned = nothingPlanned, spares = [] } = entered
  const name = nameOf(performer ?? null)
  return {
    ...(label != null && { label }),
    ...(color != null && { color }),
    ...(name !== undefined && { performer: name }),
    ...(role != null && { role }),
    ...(note != null && { note }),
    ...whenNotEmpty('planned', toPlanned(planned)),
    ...(spares.length > 0 && { spares }),
  }
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
    const arrangement = readArrangement(entry, installation, work.unknown, path)
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
function readArrangement(
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
  const findPlaceholder = (slot: number, where: string) =>
    find(placeholders, (item) => item.slot === slot, where, 'the slot of a placeholder').id
  const findKnown = (reference: ChannelReference) => {
    const known = findChannel(receivers, reference)
    if (known === undefined) {
      unknown.push(describeUnknown(reference, findReceiver(receivers, reference) !== undefined, reference.channel))
    }
    return known
  }
  const toSlot = (
    { channel, placeholder, entered, kind = 'wireless', name, frequency = null, slot }: SceneSlotEntry,
    where: string,
  ): SceneSlot[] => {
    const after = entered === undefined ? {} : toFields(entered, where)
    const fields = { slot, kind, name: name ?? null, frequency, entered: after }
    if (placeholder !== undefined) {
      const placeholder_id = findPlaceholder(placeholder, `${where}.placeholder`)
      return [{ ...fields, channel_id: null, placeholder_id }]
    }
    const channel_id = channel && findKnown(channel)?.channel.id
    return channel_id === undefined ? [] : [{ ...fields, channel_id, placeholder_id: null }]
  }
  const toFields = ({ performer, planned, ...others }: NonNullable<SceneSlotEntry['entered']>, where: string) => ({
    ...emptyFields,
    ...others,
    performer: performer === undefined ? null : findPerformer(performer, `${where}.entered.performer`),
    planned: { ...nothingPlanned, ...planned },
    spares: others.spares ?? [],
  })
  return {
    slots: [
      ...(entry.slots ?? []).flatMap((slot, index) => toSlot(slot, `slots.${index}`)),
      ...toArrangement({
        channels: (entry.channels ?? []).flatMap(({ slot, frequency = null, ...reference }) => {
          const known = findKnown(reference)
          if (known === undefined) return []
          const name = titleOf(namesOfChannel(known.receiver, known.channel)).title
          return [{ id: known.channel.id, name, slot, frequency }]
        }),
        placeholders: (entry.placeholders ?? []).map(({ placeholder, slot, name, kind, frequency = null }, index) => {
          const id = findPlaceholder(placeholder, `placeholders.${index}.placeholder`)
          return { id, slot, name, kind, frequency }
        }),
        ...{ groups: [], performers: [], units: [] },
      }).slots,
    ],
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
