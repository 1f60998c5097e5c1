/** Performers and the units that are assigned to them. */

import Type from 'typebox'
import { type Body, flag, named, text, textOrNull, time, timeOrNull, whole, wholeOrNull } from '../described.ts'
import { id, SiteReference } from './common.ts'

export const ChannelAssignment = named(
  'ChannelAssignment',
  'The performer who wears the unit that a channel receives. With `site`, both belong to that site, and have no ids here.',
  {
    channel_id: wholeOrNull('Id of the channel that receives the unit.'),
    wireless_unit: wholeOrNull('Id of the unit; null: it belongs to a site.'),
    performer: Type.Object(
      { id: wholeOrNull('Id of the performer; null: the performer belongs to a site.'), name: text('Name.') },
      { description: 'The performer.' },
    ),
    site: Type.Optional(SiteReference),
  },
)
export type ChannelAssignment = Body<typeof ChannelAssignment>

export const Performer = named('Performer', 'A performer.', {
  id,
  name: text('Name.'),
  notes: text('Free text.'),
  picture: textOrNull(
    'Address of the picture: `/api/pictures/{id}` with the mount prefix for a picture that this service stores; any other address as it was entered.',
  ),
})
export type Performer = Body<typeof Performer>

export const Assignment = named('Assignment', 'The assignment of a unit to a performer.', {
  id,
  performer: whole('Id of the performer.'),
  wireless_unit: whole('Id of the unit.'),
  role: textOrNull('The role that the performer plays with this unit.'),
  is_active: flag('At most one assignment of a unit is active.'),
  started_at: time('When it began.'),
  ended_at: timeOrNull('When it ended.'),
  performer_name: Type.Optional(text("The performer's name; only with `names`.")),
  performer_picture_tag: Type.Optional(textOrNull('Changes when the picture changes; only with `names`.')),
})
export type AssignmentBody = Body<typeof Assignment>

export const SiteAssignment = named('SiteAssignment', 'Who wears a unit of a site.', {
  ...Assignment.properties,
  id: Type.Null({ description: 'Assignments of a site have no ids here.' }),
  performer: Type.Null({ description: 'Performers of a site have no ids here.' }),
  wireless_unit: Type.Null({ description: 'Units of a site have no ids here.' }),
  role: Type.Null({ description: 'Unknown.' }),
  started_at: Type.Null({ description: 'Unknown.' }),
  performer_name: text("The performer's name."),
  channel_id: whole('Id of the channel that receives the unit.'),
  site: SiteReference,
})
export type SiteAssignmentBody = Body<typeof SiteAssignment>
