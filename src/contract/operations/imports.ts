/** Imports, and the undo of actions on several records. */

import { NoContent } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ByUndo } from '../queries.ts'
import {
  CastText,
  MicboardConfig,
  PlanningCenterPlan,
  PlanningCenterPositionSlots,
  PlanningCenterServiceType,
  PlanningCenterToken,
} from '../requests.ts'
import { CastImport, MicboardImport, Undone } from '../resources/imports.ts'
import {
  PlanningCenterImport,
  PlanningCenterPlans,
  PlanningCenterPositions,
  PlanningCenterServiceTypes,
  PlanningCenterState,
} from '../resources/planning-center.ts'

export const importCast = endpoint('POST', '/api/import/cast/', {
  ...operation(
    'Hardware',
    'importCast',
    'Imports a cast list: performers, their roles and packs, and the names of placeholders.',
  ),
  body: CastText,
  response: { 200: CastImport },
})

export const importMicboard = endpoint('POST', '/api/import/micboard/', {
  ...operation(
    'Hardware',
    'importMicboard',
    "Imports micboard's config.json: the slots of channels, extended names as performers, and groups.",
  ),
  body: MicboardConfig,
  response: { 200: MicboardImport },
})

const planningCenter = '/api/import/planning-center/'

export const getPlanningCenter = endpoint('GET', planningCenter, {
  ...operation('Hardware', 'getPlanningCenter', 'Returns what is stored of Planning Center.'),
  response: { 200: PlanningCenterState },
})

export const importPlanningCenter = endpoint('POST', planningCenter, {
  ...operation(
    'Hardware',
    'importPlanningCenter',
    'Imports the people in a plan of Planning Center, with their photos, to the slots of their positions.',
  ),
  body: PlanningCenterPositionSlots,
  response: { 200: PlanningCenterImport, 404: ErrorResponse, 502: ErrorResponse },
})

export const listPlanningCenterServiceTypes = endpoint('POST', `${planningCenter}service-types/`, {
  ...operation('Hardware', 'listPlanningCenterServiceTypes', 'Lists the service types in Planning Center.'),
  body: PlanningCenterToken,
  response: { 200: PlanningCenterServiceTypes, 502: ErrorResponse },
})

export const listPlanningCenterPlans = endpoint('POST', `${planningCenter}plans/`, {
  ...operation('Hardware', 'listPlanningCenterPlans', 'Lists the next plans of a service type in Planning Center.'),
  body: PlanningCenterServiceType,
  response: { 200: PlanningCenterPlans, 502: ErrorResponse },
})

export const listPlanningCenterPositions = endpoint('POST', `${planningCenter}positions/`, {
  ...operation(
    'Hardware',
    'listPlanningCenterPositions',
    'Lists the positions of a plan in Planning Center, with a slot for each.',
  ),
  body: PlanningCenterPlan,
  response: { 200: PlanningCenterPositions, 404: ErrorResponse, 502: ErrorResponse },
})

export const forgetPlanningCenterToken = endpoint('DELETE', `${planningCenter}token/`, {
  ...operation('Hardware', 'forgetPlanningCenterToken', 'Deletes the stored token of Planning Center.'),
  response: { 204: NoContent, 404: ErrorResponse },
})

export const undo = endpoint('POST', '/api/undo/:undo_id', {
  ...operation('Hardware', 'undo', 'Undoes an action within 24 hours, unless its records have been changed since.'),
  params: ByUndo,
  response: { 200: Undone, 409: ErrorResponse },
})
