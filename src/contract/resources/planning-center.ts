/** Planning Center: service types, plans, positions, and the import of a plan. */

import Type from 'typebox'
import { type Body, flag, listOf, named, text, textOrNull, time, timeOrNull, wholeOrNull } from '../described.ts'
import { RecordChange } from './imports.ts'

const problem = textOrNull(
  'Why Planning Center could not be read, if the response contains what was stored earlier; otherwise null.',
)

const ServiceType = Type.Object({ id: text('Id of the service type.'), name: text('Name of the service type.') })

export const PlanningCenterState = named('PlanningCenterState', 'What is stored of Planning Center.', {
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
