/** Scenes: stored arrangements of shows. */

import Type from 'typebox'
import {
  type Body,
  listOf,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from '../described.ts'
import { placeholderKinds } from '../values.ts'
import { id } from './common.ts'
import { RecordChange } from './imports.ts'

export const Arrangement = named('Arrangement', 'What a scene stores.', {
  channels: listOf(
    Type.Object({
      id,
      name: textOrNull('Name at the time; it is not restored.'),
      slot: whole('Slot.'),
      frequency: textOrNull('Planned frequency: MHz with three decimals.'),
    }),
    'The channels of the show.',
  ),
  placeholders: listOf(
    Type.Object({
      id,
      slot: whole('Slot.'),
      name: text('Name.'),
      kind: oneOf([...placeholderKinds], 'What is in the slot.'),
      frequency: textOrNull('MHz with three decimals.'),
    }),
    'The placeholders of the show.',
  ),
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
    'The packs of the show.',
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
})
export type SceneBody = Body<typeof Scene>

export const SceneDetail = named('SceneDetail', 'A scene with what it stores.', {
  ...Scene.properties,
  arrangement: Arrangement,
})

export const SceneRecall = named('SceneRecall', 'The result of recalling a scene, or its preview.', {
  changes: listOf(RecordChange, 'What the recall changes. Equipment is not changed.'),
  skipped: listOf(
    Type.Object({
      what: oneOf(['channel', 'placeholder', 'group', 'performer', 'unit'], 'The kind of record.'),
      id,
      name: textOrNull('The name in the scene.'),
      reason: text('Why it was not restored.'),
    }),
    'What the scene contains and no longer exists.',
  ),
  undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
})
export type SceneRecall = Body<typeof SceneRecall>
