import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  flag,
  id,
  ignoredOfRecord,
  listOf,
  NoContent,
  name,
  named,
  nullable,
  pagedOf,
  Scope,
  ScopedList,
  slot,
  text,
  textOrNull,
  trueOrFalse,
  version,
  zone,
} from './schema.ts'

export const Group = named('Group', 'Slots that are shown together.', {
  id,
  title: text('Heading.'),
  slots: listOf(Type.Integer(), 'Slots in the group.'),
  hide_charts: flag('True if charts are hidden.'),
  zone: textOrNull('Zone of its channels and placeholders; carriers in different zones do not intermodulate.'),
  manufacturer: textOrNull('Code of the manufacturer to which the group belongs.'),
  version,
})
export type Group = Body<typeof Group>

export const groupFields = {
  slots: Type.Optional(
    Type.Array(slot, {
      maxItems: 10_000,
      uniqueItems: true,
      description: 'at most 10000 distinct whole numbers from 1 to 65535',
    }),
  ),
  hide_charts: Type.Optional(trueOrFalse),
  zone: Type.Optional(zone),
  manufacturer: Type.Optional(nullable(boundedText(1, 64), "a manufacturer's code")),
}

const GroupChange = body({ ...ignoredOfRecord, title: Type.Optional(name), ...groupFields })

export const groupOperations = operationsOf({
  listGroups: endpoint('GET', '/api/groups/', {
    ...about('Hardware', 'Groups of slots.'),
    querystring: ScopedList,
    response: { 200: pagedOf(Group) },
  }),

  getGroup: endpoint('GET', '/api/groups/:id/', {
    ...about('Hardware', 'One group.'),
    params: ById,
    querystring: Scope,
    response: { 200: Group },
  }),

  changeGroup: endpoint('PUT', '/api/groups/:id/', {
    ...about('Hardware', 'Changes the given fields of a group.'),
    params: ById,
    querystring: Scope,
    body: GroupChange,
    response: { 200: Group, 412: ErrorResponse },
  }),

  removeGroup: endpoint('DELETE', '/api/groups/:id/', {
    ...about('Hardware', 'Removes a group.'),
    params: ById,
    querystring: Scope,
    response: { 204: NoContent, 412: ErrorResponse },
  }),

  saveGroup: endpoint('POST', '/api/group/', {
    ...about('Hardware', 'Changes the group with the given `id`; creates a group if there is no `id`.'),
    querystring: Scope,
    body: GroupChange,
    response: { 200: Group, 201: Group, 404: ErrorResponse, 412: ErrorResponse },
  }),
})
