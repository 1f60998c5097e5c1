/** Shows: performances and rehearsals. */

import Type from 'typebox'
import { type Body, listOf, named, oneOf, text, timeOrNull } from '../described.ts'
import { showStates } from '../values.ts'
import { id } from './common.ts'

export const Show = named('Show', 'A performance or a rehearsal.', {
  id,
  title: text('Title.'),
  starts_at: timeOrNull('Planned start.'),
  ends_at: timeOrNull('Planned end.'),
  state: oneOf([...showStates], 'Set by starting and ending the show.'),
  group_ids: listOf(Type.Integer(), 'Ids of the groups whose channels belong to the show; empty: all channels.'),
  notes: text('Free text.'),
  started_at: timeOrNull('When it was started.'),
  ended_at: timeOrNull('When it was ended.'),
})
export type ShowBody = Body<typeof Show>

export const AnnouncedShow = named('AnnouncedShow', 'A show that changed.', {
  ...Show.properties,
  state: oneOf([...showStates, 'deleted'], 'State of the show; `deleted`: the show no longer exists.'),
})
export type AnnouncedShow = Body<typeof AnnouncedShow>
