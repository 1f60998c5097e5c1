/** Imports, and actions that can be undone. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { PlanCarrier, Spare } from './frequency-plans.ts'
import {
  type Body,
  body,
  boundedText,
  boundedWhole,
  flag,
  idOf,
  LocalList,
  listOf,
  NoContent,
  named,
  nullable,
  oneOf,
  pagedOf,
  query,
  slot,
  text,
  textOrNull,
  time,
  timeOrNull,
  trueOrFalse,
  uploadedFile,
  whole,
  wholeOrNull,
} from './schema.ts'
import { coordinationFormats, deviceMatches, placeholderKinds } from './values.ts'

export const Undone = named('Undone', 'An action that was undone.', {
  action: text('The action, for instance `cast.import`.'),
  records: whole('Number of records that were restored.'),
})
export type Undone = Body<typeof Undone>

const UndoableAction = named('UndoableAction', 'An action that can be undone.', {
  id: whole('Id for `POST /api/undo/{undo_id}`.'),
  at: time('When it was done.'),
  by: text('Who did it.'),
  what: text('The action, for instance `cast.import`.'),
  slots: listOf(Type.Integer(), 'The slots that it concerned.'),
})

export const RecordChange = named('RecordChange', 'A difference between the stored records and the requested ones.', {
  what: text('What changes, for instance `performer`, `slot`, `assignment`, `placeholder`, `channel_slot` or `group`.'),
  id: wholeOrNull('Id of the record; null if it does not exist yet.'),
  from: Type.Unknown({ description: 'The values before, or null if the record is added.' }),
  to: Type.Unknown({ description: 'The values after, or null if the assignment ends.' }),
})
export type RecordChange = Body<typeof RecordChange>

const column = (name: string) => wholeOrNull(`Index of the column with the ${name}, from 0; null: no such column.`)

export const CastImport = named('CastImport', 'The result of an import of a cast list, or its preview.', {
  changes: listOf(RecordChange, 'What the import changes.'),
  skipped: listOf(
    Type.Object({
      row: whole('Number of the row in the text, from 1.'),
      slot: wholeOrNull('The slot in this row.'),
      name: textOrNull('The name in this row.'),
      reason: text('Why it was not imported.'),
    }),
    'Rows and values that are not imported.',
  ),
  failures: listOf(
    Type.Object({
      row: whole('Number of the row in the text, from 1.'),
      name: text('The name in this row.'),
      address: text('The address of the photo.'),
      reason: text('Why it could not be fetched.'),
    }),
    'Photos that could not be fetched. Their rows are imported without them.',
  ),
  columns: Type.Object(
    {
      slot: column('slot'),
      name: column("performer's name"),
      role: column('role'),
      note: column('note'),
      photo: column('address of a photo'),
      pack: column('pack'),
    },
    { description: 'The columns that were used.' },
  ),
  undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
})
export type CastImport = Body<typeof CastImport>

export const MicboardImport = named(
  'MicboardImport',
  "The result of an import of micboard's config.json, or its preview.",
  {
    changes: listOf(RecordChange, 'What the import changes.'),
    skipped: listOf(
      Type.Object({
        slot: whole('Slot in the file.'),
        name: textOrNull('Extended name of the slot.'),
        reason: text('Why it was not imported.'),
      }),
      'Slots and names that are not imported.',
    ),
    undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
  },
)
export type MicboardImport = Body<typeof MicboardImport>

const problem = textOrNull(
  'The reason if Planning Center could not be read and the response contains earlier data; otherwise null.',
)

const ServiceType = Type.Object({ id: text('Id of the service type.'), name: text('Name of the service type.') })

export const PlanningCenterState = named('PlanningCenterState', 'The stored data of Planning Center.', {
  is_token_stored: flag('Whether a token is stored.'),
  service_types: listOf(
    Type.Object({
      id: text('Id of the service type.'),
      name: text('Name of the service type.'),
      plan_id: textOrNull('Id of the plan that is stored.'),
      loaded_at: timeOrNull('When the plan was loaded.'),
    }),
    'The service types that were used.',
  ),
})
export type PlanningCenterState = Body<typeof PlanningCenterState>

export const PlanningCenterServiceTypes = named('PlanningCenterServiceTypes', 'The service types of a church.', {
  service_types: listOf(ServiceType, 'By name.'),
  problem,
})
export type PlanningCenterServiceTypes = Body<typeof PlanningCenterServiceTypes>

const dates = text('The dates, as Planning Center writes them.')

export const PlanningCenterPlans = named('PlanningCenterPlans', 'The next plans of a service type.', {
  plans: listOf(
    Type.Object({ id: text('Id of the plan.'), title: textOrNull('Title of the plan, or of its series.'), dates }),
    'The earliest first.',
  ),
  problem,
})
export type PlanningCenterPlans = Body<typeof PlanningCenterPlans>

const Plan = Type.Object(
  {
    id: text('Id of the plan.'),
    title: textOrNull('Title of the plan, or of its series.'),
    dates,
    service_type: text('Id of the service type.'),
    time: textOrNull('Id of the service whose people are imported; null if the plan has no services.'),
    loaded_at: time('When the plan was loaded from Planning Center.'),
    problem,
  },
  { description: 'The plan.' },
)

export const PlanningCenterPositions = named('PlanningCenterPositions', 'The positions of a plan.', {
  plan: Plan,
  times: listOf(
    Type.Object({
      id: text('Id of the service.'),
      name: textOrNull('Name of the service.'),
      starts_at: time('Planned start.'),
    }),
    'The services of the plan.',
  ),
  positions: listOf(
    Type.Object({
      position: text('The position; `team / position` if several teams have it.'),
      people: listOf(Type.String(), 'The names of the people who are scheduled.'),
      slot: wholeOrNull('The slot of the last import, or a suggestion.'),
    }),
    'The positions for which people are scheduled.',
  ),
})
export type PlanningCenterPositions = Body<typeof PlanningCenterPositions>

export const PlanningCenterImport = named(
  'PlanningCenterImport',
  'The result of an import of a plan, or its preview.',
  {
    changes: listOf(RecordChange, 'What the import changes.'),
    skipped: listOf(
      Type.Object({
        position: text('The position.'),
        name: textOrNull('Who is scheduled for it.'),
        reason: text('Why it was not imported.'),
      }),
      'Positions, people and photos that are not imported.',
    ),
    undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing changes.'),
    plan: Plan,
  },
)
export type PlanningCenterImport = Body<typeof PlanningCenterImport>

export const CoordinationImport = named(
  'CoordinationImport',
  'The result of an import of a coordination, or its preview.',
  {
    format: oneOf([...coordinationFormats, 'eqp'], 'Format of the file. `eqp` is an equipment profile.'),
    plan: Type.Union(
      [
        Type.Object({
          id: wholeOrNull('Id of the frequency plan; null for a preview.'),
          title: text('Title: the name of the show, or of the file.'),
          carriers: listOf(PlanCarrier, 'Its carriers, with the slots of their channels and placeholders.'),
          spares: listOf(Spare, 'Backups.'),
          settings: Type.Unsafe<Readonly<Record<string, unknown>>>({
            ...Type.Record(Type.String(), Type.Unknown()),
            description:
              'What the file excludes (`avoid`) and includes (`inclusions`), its TV channels (`tv_channels`), and its limits for scans (`exclude_above_dbm`, `peak_above_dbm`). Nothing of it changes the settings of the installation.',
          }),
          conflict_count: whole('Number of conflicts between its carriers.'),
        }),
        Type.Null(),
      ],
      { description: 'The frequency plan; null for an equipment profile.' },
    ),
    matches: listOf(
      Type.Object({
        device: text('Name of the device in the file.'),
        receiver_id: whole('Id of the receiver.'),
        receiver: text('Name of the receiver.'),
        by: oneOf(deviceMatches, 'What is the same.'),
      }),
      'The devices that are known receivers.',
    ),
    placeholders: listOf(
      Type.Object({
        id: wholeOrNull('Id; null if it is not stored yet.'),
        slot: whole('Slot.'),
        name: text('Name.'),
        kind: oneOf(placeholderKinds, 'Kind.'),
        frequency: text('Planned frequency, MHz with three decimals.'),
        is_new: flag('Whether it is added. Otherwise, one with the name gets the frequency.'),
      }),
      'The placeholders for channels that are not known.',
    ),
    profiles: listOf(
      Type.Object({
        id: text('Id.'),
        name: text('Name.'),
        is_new: flag('Whether it is added. Otherwise, it is replaced.'),
      }),
      'The frequency profiles of an equipment profile.',
    ),
    skipped: listOf(
      Type.Object({ line: whole('Line in the file.'), why: text('Why it is not imported.') }),
      'Parts of the file that are not imported.',
    ),
    undo_id: wholeOrNull('Id for `POST /api/undo/{undo_id}`; null for a preview, or if nothing can be undone.'),
  },
)
export type CoordinationImport = Body<typeof CoordinationImport>

/** Null if there is no such column. */
const columnField = Type.Optional(
  Type.Union([boundedWhole(0, 1000), boundedText(1, 255), Type.Null()], {
    description: 'the index of a column, from 0, its heading, or null',
  }),
)

const CastText = body({
  text: boundedText(1, 4_000_000),
  columns: Type.Optional(
    body({
      slot: columnField,
      name: columnField,
      role: columnField,
      note: columnField,
      photo: columnField,
      pack: columnField,
    }),
  ),
  /** Adds placeholders for slots that do not exist. */
  create_slots: Type.Optional(trueOrFalse),
  /** Fetches and stores photos that are http or https addresses. */
  fetch_photos: Type.Optional(trueOrFalse),
  preview: Type.Optional(trueOrFalse),
})

const MicboardConfig = body({ text: boundedText(1, 1_000_000), preview: Type.Optional(trueOrFalse) })
const token = boundedText(3, 1000)

const planningCenterId = Type.Union(
  [Type.String({ pattern: '^[\\w-]{1,64}$' }), boundedWhole(1, Number.MAX_SAFE_INTEGER)],
  {
    description: 'an id of Planning Center, as text or number',
  },
)

const optionalId = Type.Optional(nullable(planningCenterId, 'an id of Planning Center, as text or number'))

const plan = {
  token: Type.Optional(token),
  service_type: planningCenterId,
  /** Default: the next plan. */
  plan: optionalId,
  /** Default: the next service of the plan. */
  time: optionalId,
}

const PlanningCenterToken = body({ token: Type.Optional(token) })
const PlanningCenterServiceType = body({ token: plan.token, service_type: planningCenterId })
const PlanningCenterPlan = body(plan)

const PlanningCenterPositionSlots = body({
  ...plan,
  positions: Type.Record(Type.String(), nullable(slot, 'a whole number from 1 to 65535'), {
    maxProperties: 1000,
    description: 'at most 1000 positions with their slots',
  }),
  remember: Type.Optional(trueOrFalse),
  preview: Type.Optional(trueOrFalse),
})

const ByUndo = Type.Object({ undo_id: idOf('The `undo_id` in the response of the action.') })
const planningCenter = '/api/import/planning-center/'

export const importOperations = operationsOf({
  importCast: endpoint('POST', '/api/import/cast/', {
    ...about(
      'Hardware',
      'Imports a cast list: performers, their photos, slots and roles. Slots need no pack. Rows that cannot be imported are skipped.',
    ),
    body: CastText,
    response: { 200: CastImport },
  }),

  importMicboard: endpoint('POST', '/api/import/micboard/', {
    ...about(
      'Hardware',
      "Imports micboard's config.json: the slots of channels, extended names as performers, and groups.",
    ),
    body: MicboardConfig,
    response: { 200: MicboardImport },
  }),

  getPlanningCenter: endpoint('GET', planningCenter, {
    ...about('Hardware', 'Returns the stored data of Planning Center.'),
    response: { 200: PlanningCenterState },
  }),

  importPlanningCenter: endpoint('POST', planningCenter, {
    ...about(
      'Hardware',
      'Imports the people in a plan of Planning Center, with their photos, to the slots of their positions.',
    ),
    body: PlanningCenterPositionSlots,
    response: { 200: PlanningCenterImport, 404: ErrorResponse, 502: ErrorResponse },
  }),

  listPlanningCenterServiceTypes: endpoint('POST', `${planningCenter}service-types/`, {
    ...about('Hardware', 'Lists the service types in Planning Center.'),
    body: PlanningCenterToken,
    response: { 200: PlanningCenterServiceTypes, 502: ErrorResponse },
  }),

  listPlanningCenterPlans: endpoint('POST', `${planningCenter}plans/`, {
    ...about('Hardware', 'Lists the next plans of a service type in Planning Center.'),
    body: PlanningCenterServiceType,
    response: { 200: PlanningCenterPlans, 502: ErrorResponse },
  }),

  listPlanningCenterPositions: endpoint('POST', `${planningCenter}positions/`, {
    ...about('Hardware', 'Lists the positions of a plan in Planning Center, with a slot for each.'),
    body: PlanningCenterPlan,
    response: { 200: PlanningCenterPositions, 404: ErrorResponse, 502: ErrorResponse },
  }),

  forgetPlanningCenterToken: endpoint('DELETE', `${planningCenter}token/`, {
    ...about('Hardware', 'Deletes the stored token of Planning Center.'),
    response: { 204: NoContent, 404: ErrorResponse },
  }),

  importCoordination: endpoint('POST', '/api/import/coordination/', {
    ...about(
      'Frequencies',
      'Imports a show, a workspace, a report or an equipment profile of Wireless Workbench, or a project of WSM, of at most 16 MiB. Carriers become a frequency plan, and unknown channels placeholders. With `preview=1`, nothing is stored.',
    ),
    querystring: query({ preview: flag('Only returns what would be stored.') }),
    consumes: ['multipart/form-data'],
    body: body({ file: uploadedFile('The file.') }),
    response: { 200: CoordinationImport, 201: CoordinationImport, 409: ErrorResponse },
  }),

  listUndo: endpoint('GET', '/api/undo/', {
    ...about('Hardware', 'The actions of the last 24 hours that can be undone, newest first.'),
    querystring: LocalList,
    response: { 200: pagedOf(UndoableAction) },
  }),

  undo: endpoint('POST', '/api/undo/:undo_id', {
    ...about('Hardware', 'Undoes an action within 24 hours, unless its records have been changed since.'),
    params: ByUndo,
    response: { 200: Undone, 409: ErrorResponse },
  }),
})
