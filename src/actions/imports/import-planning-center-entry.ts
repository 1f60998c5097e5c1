/** Imports what a file contains of Planning Center: the token, and the slots of the positions. */

import { isPlanningCenterToken, mergeSlots, planningCenterUrl } from '../../domain/imports/planning-center.ts'
import { findStoredServiceType, saveServiceType, saveToken } from '../../storage/planning-center.ts'
import { type ImportContext, ImportError } from './import-context.ts'

export async function putPlanningCenter({ tx, secrets, file, before, count }: ImportContext): Promise<void> {
  const { token, service_types = [] } = file.planning_center ?? {}
  if (token !== undefined) {
    if (!isPlanningCenterToken(token)) {
      throw new ImportError('planning_center.token', 'expected text in the form <application id>:<secret>')
    }
    const stored = before.planning_center.token ?? undefined
    if (count('planning_center', stored, token)) await saveToken(tx, secrets, { token, origin: planningCenterUrl })
  }
  for (const { id, name, positions } of service_types) {
    const stored = await findStoredServiceType(tx.query, id)
    const base = stored ?? { service_type: id, positions: {}, plan: null, loaded_at: null }
    const imported = { ...base, name, positions: mergeSlots(base.positions, positions) }
    if (count('planning_center', stored, imported)) await saveServiceType(tx, imported)
  }
}
