import Type from 'typebox'
import { type Body, boundedText, name, nullable, slot } from '../../contract/schema.ts'
import { isPlanningCenterToken, mergeSlots, planningCenterUrl } from '../../domain/imports/planning-center.ts'
import { findStoredServiceType, saveServiceType, saveToken } from '../../storage/planning-center.ts'
import { defineSection, type ExportOptions, list, record, sortBy, whenNotEmpty } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'

const PlanningCenterEntry = record(
  {
    /** Only present in an export with secrets. */
    token: Type.Optional(boundedText(3, 1000)),
    service_types: list(
      record(
        {
          id: boundedText(1, 64),
          name,
          positions: Type.Record(Type.String(), nullable(slot, 'a whole number from 1 to 65535'), {
            description: 'positions with their slots',
          }),
        },
        'a service type with its id, name and positions',
      ),
      'a list of service types',
    ),
  },
  'a section of token and service_types',
)
type PlanningCenterEntry = Body<typeof PlanningCenterEntry>

export const planningCenterSection = defineSection(
  Type.Optional(PlanningCenterEntry),
  exportPlanningCenter,
  importPlanningCenter,
)

function exportPlanningCenter(
  { planning_center: { token, service_types } }: Installation,
  { withSecrets }: ExportOptions,
): PlanningCenterEntry {
  return {
    ...(withSecrets && token !== null && { token }),
    ...whenNotEmpty(
      'service_types',
      sortBy(service_types, ({ id }) => id),
    ),
  }
}

async function importPlanningCenter(
  work: ImportContext,
  { token, service_types = [] }: PlanningCenterEntry = {},
): Promise<void> {
  const { tx, secrets, before } = work
  if (token !== undefined) {
    if (!isPlanningCenterToken(token)) {
      throw new ImportError('planning_center.token', 'expected text in the form <application id>:<secret>')
    }
    const stored = before.planning_center.token ?? undefined
    if (work.count('planning_center', stored, token)) await saveToken(tx, secrets, { token, origin: planningCenterUrl })
  }
  for (const { id, name, positions } of service_types) {
    const stored = await findStoredServiceType(tx.query, id)
    const base = stored ?? { service_type: id, positions: {}, plan: null, loaded_at: null }
    const imported = { ...base, name, positions: mergeSlots(base.positions, positions) }
    if (work.count('planning_center', stored, imported)) await saveServiceType(tx, imported)
  }
}
