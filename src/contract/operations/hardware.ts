/** Groups, slots, chassis, units, performers and assignments. */

import Type from 'typebox'
import { binary, NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import {
  AssignmentQuery,
  ById,
  ByPicture,
  ChassisQuery,
  EquipmentList,
  PerformerQuery,
  Scope,
  ScopedList,
  UnitQuery,
} from '../queries.ts'
import {
  AssignmentChange,
  ChannelChange,
  GroupChange,
  NewAssignment,
  NewPerformer,
  PerformerChange,
  SlotMovesRequest,
} from '../requests.ts'
import { Channel, ListedChannel } from '../resources/channels.ts'
import { Group } from '../resources/groups.ts'
import { Chassis, SiteUnit, Unit } from '../resources/hardware.ts'
import { Assignment, Performer, SiteAssignment } from '../resources/performers.ts'
import { SlotMoves } from '../resources/slots.ts'

export const listGroups = endpoint('GET', '/api/groups/', {
  ...operation('Hardware', 'listGroups', 'Groups of slots.'),
  querystring: ScopedList,
  response: { 200: pagedOf(Group) },
})

export const getGroup = endpoint('GET', '/api/groups/:id/', {
  ...operation('Hardware', 'getGroup', 'One group.'),
  params: ById,
  querystring: Scope,
  response: { 200: Group },
})

export const changeGroup = endpoint('PUT', '/api/groups/:id/', {
  ...operation('Hardware', 'changeGroup', 'Changes the given fields of a group.'),
  params: ById,
  querystring: Scope,
  body: GroupChange,
  response: { 200: Group },
})

export const removeGroup = endpoint('DELETE', '/api/groups/:id/', {
  ...operation('Hardware', 'removeGroup', 'Removes a group.'),
  params: ById,
  querystring: Scope,
  response: { 204: NoContent },
})

export const saveGroup = endpoint('POST', '/api/group/', {
  ...operation('Hardware', 'saveGroup', 'Changes the group with the given `id`; creates a group if there is no `id`.'),
  querystring: Scope,
  body: GroupChange,
  response: { 200: Group, 201: Group, 404: ErrorResponse },
})

export const listChannels = endpoint('GET', '/api/channels/', {
  ...operation('Hardware', 'listChannels', 'Channels of all receivers.'),
  querystring: EquipmentList,
  response: { 200: pagedOf(ListedChannel) },
})

export const getChannel = endpoint('GET', '/api/channels/:id/', {
  ...operation('Hardware', 'getChannel', 'One channel.'),
  params: ById,
  querystring: Scope,
  response: { 200: ListedChannel },
})

export const changeChannel = endpoint('PATCH', '/api/channels/:id/', {
  ...operation(
    'Hardware',
    'changeChannel',
    'Moves a channel to another slot, or sets its frequency profile; null: the profile of the model.',
  ),
  params: ById,
  querystring: Scope,
  body: ChannelChange,
  response: { 200: Channel, 409: ErrorResponse },
})

export const moveToSlots = endpoint('PUT', '/api/slots/', {
  ...operation('Hardware', 'moveToSlots', 'Moves channels and placeholders to other slots, all at once or none.'),
  body: SlotMovesRequest,
  response: { 200: SlotMoves, 409: ErrorResponse },
})

export const listChassis = endpoint('GET', '/api/chassis/', {
  ...operation('Hardware', 'listChassis', 'Receivers as physical devices.'),
  querystring: ChassisQuery,
  response: { 200: pagedOf(Chassis) },
})

export const getChassis = endpoint('GET', '/api/chassis/:id/', {
  ...operation('Hardware', 'getChassis', 'One receiver as a physical device.'),
  params: ById,
  querystring: Scope,
  response: { 200: Chassis },
})

export const listUnits = endpoint('GET', '/api/units/', {
  ...operation('Hardware', 'listUnits', 'Transmitters and in-ear packs.'),
  querystring: UnitQuery,
  response: { 200: pagedOf(Type.Union([Unit, SiteUnit])) },
})

export const getUnit = endpoint('GET', '/api/units/:id/', {
  ...operation('Hardware', 'getUnit', 'One transmitter or in-ear pack.'),
  params: ById,
  querystring: Scope,
  response: { 200: Unit },
})

export const listPerformers = endpoint('GET', '/api/performers/', {
  ...operation('Hardware', 'listPerformers', 'Performers. They do not belong to a manufacturer.'),
  querystring: PerformerQuery,
  response: { 200: pagedOf(Performer) },
})

export const getPerformer = endpoint('GET', '/api/performers/:id/', {
  ...operation('Hardware', 'getPerformer', 'One performer.'),
  params: ById,
  response: { 200: Performer },
})

export const createPerformer = endpoint('POST', '/api/performers/', {
  ...operation('Hardware', 'createPerformer', 'Adds a performer.'),
  querystring: Scope,
  body: NewPerformer,
  response: { 201: Performer, 404: ErrorResponse },
})

export const changePerformer = endpoint('PUT', '/api/performers/:id/', {
  ...operation('Hardware', 'changePerformer', 'Changes a performer.'),
  params: ById,
  querystring: Scope,
  body: PerformerChange,
  response: { 200: Performer },
})

export const removePerformer = endpoint('DELETE', '/api/performers/:id/', {
  ...operation('Hardware', 'removePerformer', 'Removes a performer.'),
  params: ById,
  querystring: Scope,
  response: { 204: NoContent, 409: ErrorResponse },
})

export const setPicture = endpoint('PUT', '/api/performers/:id/picture/', {
  ...operation('Hardware', 'setPicture', 'Stores a picture of a performer: PNG, JPEG or WebP, at most 2 MB.'),
  params: ById,
  querystring: Scope,
  consumes: ['image/png', 'image/jpeg', 'image/webp'],
  body: binary('image/*', 'The picture; its format is determined from its content.'),
  response: { 200: Performer },
})

export const removePicture = endpoint('DELETE', '/api/performers/:id/picture/', {
  ...operation('Hardware', 'removePicture', 'Removes the picture of a performer.'),
  params: ById,
  querystring: Scope,
  response: { 204: NoContent },
})

export const getPicture = endpoint('GET', '/api/pictures/:id', {
  ...operation('Hardware', 'getPicture', 'A stored picture. A changed picture has another address.'),
  params: ByPicture,
  response: { 200: binary('image/*', 'The picture.'), 304: NoContent },
})

export const listAssignments = endpoint('GET', '/api/assignments/', {
  ...operation('Hardware', 'listAssignments', 'Assignments of units to performers.'),
  querystring: AssignmentQuery,
  response: { 200: pagedOf(Type.Union([Assignment, SiteAssignment])) },
})

export const createAssignment = endpoint('POST', '/api/assignments/', {
  ...operation('Hardware', 'createAssignment', 'Assigns a unit to a performer.'),
  querystring: Scope,
  body: NewAssignment,
  response: { 201: Assignment, 404: ErrorResponse, 409: ErrorResponse },
})

export const changeAssignment = endpoint('PUT', '/api/assignments/:id/', {
  ...operation('Hardware', 'changeAssignment', 'Changes an assignment.'),
  params: ById,
  querystring: Scope,
  body: AssignmentChange,
  response: { 200: Assignment, 409: ErrorResponse },
})

export const removeAssignment = endpoint('DELETE', '/api/assignments/:id/', {
  ...operation('Hardware', 'removeAssignment', 'Removes an assignment.'),
  params: ById,
  querystring: Scope,
  response: { 204: NoContent },
})
