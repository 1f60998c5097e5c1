/** Reads the configuration of an installation and everything that users entered, in one consistent snapshot. */

import type { Installation } from '../model/installation-file.ts'
import type { Database, Reader } from '../store/database.ts'
import { listGroups } from '../store/groups.ts'
import { listAssignments, listPerformers } from '../store/hardware.ts'
import { listLocations } from '../store/locations.ts'
import { listReceivers } from '../store/receivers.ts'
import type { Secrets } from '../store/secrets.ts'
import { listManufacturers, listSettings } from '../store/settings.ts'
import { listUnits } from '../store/units.ts'

export async function readInstallation(reader: Reader, secrets: Secrets): Promise<Installation> {
  return {
    manufacturers: await listManufacturers(reader, secrets),
    settings: await listSettings(reader),
    locations: await listLocations(reader),
    groups: await listGroups(reader),
    performers: await listPerformers(reader),
    receivers: await listReceivers(reader),
    units: await listUnits(reader),
    assignments: await listAssignments(reader, { is_active: true }),
  }
}

export function exportInstallation({
  db,
  secrets,
}: {
  readonly db: Database
  readonly secrets: Secrets
}): Promise<Installation> {
  return db.transaction((tx) => readInstallation(tx.query, secrets))
}
