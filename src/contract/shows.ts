/** Shows, and their scenes: stored arrangements. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { RecordChange } from './imports.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  distinctIds,
  id,
  idOf,
  LocalList,
  listOf,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  optional,
  orNull,
  Paging,
  pagedOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'
import { SlotPlan } from './slots.ts'
import { placeholderKinds, showStates, slotColors } from './values.ts'

export const Show = named('Show', 'A performance or a rehearsal.', {
  id,
  title: text('Title.'),
  starts_at: timeOrNull('Planned start.'),
  ends_at: timeOrNull('Planned end.'),
  state: oneOf(showStates, 'Set by starting and ending the show.'),
  group_ids: listOf(Type.Integer(), 'Ids of the groups whose channels belong to the show; empty: all channels.'),
  notes: text('Free text.'),
  started_at: timeOrNull('When it was started.'),
  ended_at: timeOrNull('When it was ended.'),
  version,
})
export type ShowBody = Body<typeof Show>

export const AnnouncedShow = named('AnnouncedShow', 'A show that changed.', {
  ...Show.properties,
  state: oneOf([...showStates, 'deleted'], 'State of the show; `deleted`: the show no longer exists.'),
})
export type AnnouncedShow = Body<typeof AnnouncedShow>

const SceneSlot = Type.Object({
  slot: whole('Slot.'),
  channel_id: wholeOrNull('Id of the channel in the slot.'),
  placeholder_id: wholeOrNull('Id of the placeholder in the slot.'),
  kind: oneOf(placeholderKinds, 'Content of the slot.'),
  name: textOrNull('Title at the time; it is not restored.'),
  frequency: textOrNull('Planned frequency of the channel: MHz with three decimals.'),
  entered: Type.Object(
    {
      label: Type.Optional(textOrNull('Label.')),
      color: Type.Optional(orNull(Type.Enum([...slotColors]), 'Color.')),
      performer: Type.Optional(wholeOrNull('Id of the performer.')),
      role: Type.Optional(textOrNull('Role.')),
      note: Type.Optional(textOrNull('Note.')),
      planned: Type.Optional(SlotPlan),
      spares: Type.Optional(listOf(Type.Integer(), 'The slots of its spares.')),
    },
    { description: 'What people entered about the slot. Scenes of version 1.0.0 contain only a part of it.' },
  ),
})

export const Arrangement = named('Arrangement', 'The contents of a scene.', {
  slots: listOf(SceneSlot, 'The slots of the show.'),
  groups: listOf(
    Type.Object({ id, title: text('Heading.'), slots: listOf(Type.Integer(), 'Slots in the group.') }),
    'The groups of the show.',
  ),
  performers: listOf(Type.Object({ id, name: text('Name.') }), 'The performers of the show.'),
  units: listOf(
    Type.Object({
      id,
      name: textOrNull('Name at the time; it is not restored.'),
      performer: wholeOrNull('Id of the performer who wears it; null: nobody.'),
      role: textOrNull('Role of the performer.'),
    }),
    'The packs of the show; only in scenes of version 1.0.0.',
  ),
})
export type Arrangement = Body<typeof Arrangement>

export const Scene = named('Scene', 'A stored arrangement of a show.', {
  id,
  show_id: whole('Id of the show.'),
  title: text('Title.'),
  created_at: time('When it was stored.'),
  by: text('Who stored it.'),
  recalled_at: timeOrNull('When it was last recalled; the scene that was recalled last is the frequency plan.'),
  version,
})
export type SceneBody = Body<typeof Scene>

const SceneDetail = named('SceneDetail', 'A scene with its contents.', {
  ...Scene.properties,
  arrangement: Arrangement,
})

export const SceneRecall = named('SceneRecall', 'The result of recalling a scene, or its preview.', {
  changes: listOf(RecordChange, 'The changes that the recall makes. Equipment is not changed.'),
  skipped: listOf(
    Type.Object({
      what: oneOf(['channel', 'placeholder', 'group', 'performer', 'unit'], 'The kind of record.'),
      id,
      name: textOrNull('The name in the scene.'),
      reason: text('Why it was not restored.'),
    }),
    'Records in the scene that no longer exist.',
  ),
  undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
})
export type SceneRecall = Body<typeof SceneRecall>

export const showFields = {
  starts_at: Type.Optional(nullable(boundedText(1, 64), 'a time such as 2026-05-01T18:00:00Z')),
  ends_at: Type.Optional(nullable(boundedText(1, 64), 'a time such as 2026-05-01T20:30:00Z')),
  notes: Type.Optional(boundedText(0, 4096)),
}

const show = { title: name, group_ids: Type.Optional(distinctIds), ...showFields }
const NewShow = body(show)
const ShowChange = body(optional(show))
const NewScene = body({ title: name })

/** The body may be absent. */
const SceneRecallRequest = Type.Optional(body({ preview: Type.Optional(trueOrFalse) }))
const ByScene = Type.Object({ ...ById.properties, scene_id: idOf('Id of the scene.') })

export const showOperations = operationsOf({
  listShows: endpoint('GET', '/api/shows/', {
    ...about('Shows', 'Planned, running and ended shows.'),
    querystring: LocalList,
    response: { 200: pagedOf(Show) },
  }),

  getShow: endpoint('GET', '/api/shows/:id/', {
    ...about('Shows', 'One show.'),
    params: ById,
    response: { 200: Show },
  }),

  createShow: endpoint('POST', '/api/shows/', {
    ...about('Shows', 'Plans a show.'),
    body: NewShow,
    response: { 201: Show },
  }),

  changeShow: endpoint('PATCH', '/api/shows/:id/', {
    ...about('Shows', 'Changes the given fields of a show.'),
    params: ById,
    body: ShowChange,
    response: { 200: Show, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeShow: endpoint('DELETE', '/api/shows/:id/', {
    ...about('Shows', 'Removes a show that is not running.'),
    params: ById,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),

  startShow: endpoint('POST', '/api/shows/:id/start', {
    ...about('Shows', 'Starts a planned show.'),
    params: ById,
    response: { 200: Show, 409: ErrorResponse },
  }),

  endShow: endpoint('POST', '/api/shows/:id/end', {
    ...about('Shows', 'Ends a running show.'),
    params: ById,
    response: { 200: Show, 409: ErrorResponse },
  }),

  listScenes: endpoint('GET', '/api/shows/:id/scenes/', {
    ...about('Shows', 'The scenes of a show: stored arrangements.'),
    params: ById,
    querystring: Paging,
    response: { 200: pagedOf(Scene) },
  }),

  getScene: endpoint('GET', '/api/shows/:id/scenes/:scene_id/', {
    ...about('Shows', 'One scene with its contents.'),
    params: ByScene,
    response: { 200: SceneDetail },
  }),

  createScene: endpoint('POST', '/api/shows/:id/scenes/', {
    ...about(
      'Shows',
      'Stores the current arrangement of a show: slots with what people entered about them, groups, names of performers, ' +
        'and frequencies as a plan.',
    ),
    params: ById,
    body: NewScene,
    response: { 201: Scene },
  }),

  changeScene: endpoint('PATCH', '/api/shows/:id/scenes/:scene_id/', {
    ...about('Shows', 'Renames a scene.'),
    params: ByScene,
    body: NewScene,
    response: { 200: Scene, 412: ErrorResponse },
  }),

  removeScene: endpoint('DELETE', '/api/shows/:id/scenes/:scene_id/', {
    ...about('Shows', 'Removes a scene.'),
    params: ByScene,
    response: { 204: NoContent, 412: ErrorResponse },
  }),

  recallScene: endpoint('POST', '/api/shows/:id/scenes/:scene_id/recall', {
    ...about('Shows', 'Restores the arrangement that a scene stores. Never writes to equipment.'),
    params: ByScene,
    body: SceneRecallRequest,
    response: { 200: SceneRecall },
  }),
})
