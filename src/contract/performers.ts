import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  binary,
  body,
  boundedText,
  flag,
  id,
  idOf,
  ignoredOfRecord,
  listOf,
  localList,
  manufacturerFilter,
  NoContent,
  name,
  named,
  nullable,
  optional,
  pagedOf,
  paging,
  query,
  recordId,
  Scope,
  SiteReference,
  sameValue,
  siteInsteadOfLocal,
  text,
  textOrNull,
  time,
  timeOrNull,
  trueOrFalse,
  uploadedFile,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'

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
  version,
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

export const pictureText =
  'text of at most 262144 characters, a data URL of a PNG, JPEG or WebP picture of at most 2 MB'

/** Long enough for the data URL of a picture of 2 MB. */
const picture = nullable(boundedText(1, 2_700_000), pictureText)

export const performerFields = {
  notes: Type.Optional(boundedText(0, 4096)),
  picture: Type.Optional(picture),
}

export const performedRole = nullable(boundedText(1, 255), 'text of 1 to 255 characters')

const NewPerformer = body({ name, ...performerFields })
const PerformerChange = body({ ...ignoredOfRecord, ...optional({ name, ...performerFields }) })

const assignment = {
  performer: recordId,
  wireless_unit: recordId,
  role: Type.Optional(performedRole),
  is_active: Type.Optional(trueOrFalse),
}
const NewAssignment = body(assignment)

const ignoredTime = boundedText(1, 64)

const AssignmentChange = body({
  id: Type.Optional(recordId),
  ...optional(assignment),
  // Read-only fields, accepted so that a client can send back a response.
  started_at: Type.Optional(ignoredTime),
  ended_at: Type.Optional(nullable(ignoredTime, 'text of 1 to 64 characters')),
})

const ByPicture = Type.Object({
  id: text("Id of the picture, which is a digest of the picture's content."),
})

export const maxPictureFiles = 500
const Pictures = body({
  file: Type.Array(uploadedFile('A picture, named after its performer.'), {
    minItems: 1,
    maxItems: maxPictureFiles,
    description: `1 to ${maxPictureFiles} files`,
  }),
})

export const StoredPictures = named('StoredPictures', 'The result of an upload of pictures.', {
  matched: listOf(
    Type.Object({
      file: text('Name of the file.'),
      performer_id: whole('Id of the performer.'),
      name: text('Name of the performer.'),
    }),
    'The files that are stored.',
  ),
  unmatched: listOf(Type.String(), 'The names of all other files.'),
  failures: listOf(
    Type.Object({ file: text('Name of the file.'), reason: text('Why it is not stored.') }),
    'The files in `unmatched` that are not pictures, are too large, or match several performers.',
  ),
  undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null if nothing changes.'),
})
export type StoredPictures = Body<typeof StoredPictures>

const PerformerQuery = query({
  manufacturer: text('Returns all performers if this manufacturer exists, and none if it does not.'),
  ...localList,
})

export const AssignmentQuery = query({
  is_active: flag(sameValue),
  performer: idOf('Only assignments of the performer with this id.'),
  wireless_unit: idOf('Only assignments of the unit with this id.'),
  names: flag('Include the name of each performer and a tag that changes with the picture.'),
  manufacturer: manufacturerFilter,
  site: siteInsteadOfLocal,
  ...paging,
})

export const performerOperations = operationsOf({
  listPerformers: endpoint('GET', '/api/performers/', {
    ...about('Hardware', 'Performers. They do not belong to a manufacturer.'),
    querystring: PerformerQuery,
    response: { 200: pagedOf(Performer) },
  }),

  getPerformer: endpoint('GET', '/api/performers/:id/', {
    ...about('Hardware', 'One performer.'),
    params: ById,
    response: { 200: Performer },
  }),

  createPerformer: endpoint('POST', '/api/performers/', {
    ...about('Hardware', 'Adds a performer.'),
    querystring: Scope,
    body: NewPerformer,
    response: { 201: Performer, 404: ErrorResponse },
  }),

  changePerformer: endpoint('PUT', '/api/performers/:id/', {
    ...about('Hardware', 'Changes a performer.'),
    params: ById,
    querystring: Scope,
    body: PerformerChange,
    response: { 200: Performer, 412: ErrorResponse },
  }),

  removePerformer: endpoint('DELETE', '/api/performers/:id/', {
    ...about('Hardware', 'Removes a performer.'),
    params: ById,
    querystring: Scope,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),

  setPicture: endpoint('PUT', '/api/performers/:id/picture/', {
    ...about('Hardware', 'Stores a picture of a performer: PNG, JPEG or WebP, at most 2 MB.'),
    params: ById,
    querystring: Scope,
    consumes: ['image/png', 'image/jpeg', 'image/webp'],
    body: binary('image/*', 'The picture; its format is determined from its content.'),
    response: { 200: Performer },
  }),

  setPictures: endpoint('POST', '/api/performers/pictures/', {
    ...about(
      'Hardware',
      'Stores pictures of performers. The name of a file without its extension is the name of the performer, without regard to case and accents.',
    ),
    querystring: Scope,
    consumes: ['multipart/form-data'],
    body: Pictures,
    response: { 200: StoredPictures },
  }),

  removePicture: endpoint('DELETE', '/api/performers/:id/picture/', {
    ...about('Hardware', 'Removes the picture of a performer.'),
    params: ById,
    querystring: Scope,
    response: { 204: NoContent },
  }),

  getPicture: endpoint('GET', '/api/pictures/:id', {
    ...about('Hardware', 'A stored picture. A changed picture has another address.'),
    params: ByPicture,
    response: { 200: binary('image/*', 'The picture.'), 304: NoContent },
  }),

  listAssignments: endpoint('GET', '/api/assignments/', {
    ...about('Hardware', 'Assignments of units to performers.'),
    querystring: AssignmentQuery,
    response: { 200: pagedOf(Type.Union([Assignment, SiteAssignment])) },
  }),

  createAssignment: endpoint('POST', '/api/assignments/', {
    ...about('Hardware', 'Assigns a unit to a performer.'),
    querystring: Scope,
    body: NewAssignment,
    response: { 201: Assignment, 404: ErrorResponse, 409: ErrorResponse },
  }),

  changeAssignment: endpoint('PUT', '/api/assignments/:id/', {
    ...about('Hardware', 'Changes an assignment.'),
    params: ById,
    querystring: Scope,
    body: AssignmentChange,
    response: { 200: Assignment, 409: ErrorResponse },
  }),

  removeAssignment: endpoint('DELETE', '/api/assignments/:id/', {
    ...about('Hardware', 'Removes an assignment.'),
    params: ById,
    querystring: Scope,
    response: { 204: NoContent },
  }),
})
