/** Reads the configuration of an installation and everything that users entered, in one consistent snapshot. */

import { now } from '../../platform/clock.ts'
import { listSilences } from '../../storage/alerts.ts'
import type { Database, Reader } from '../../storage/database.ts'
import { listMarkers } from '../../storage/events.ts'
import { listStoredProfiles } from '../../storage/frequencies.ts'
import { listPlans } from '../../storage/frequency-plans.ts'
import { listAssignments, listPerformers } from '../../storage/hardware.ts'
import { listLocations } from '../../storage/locations.ts'
import { listNotificationChannels, listNotificationRules } from '../../storage/notifications.ts'
import { embedPictures } from '../../storage/pictures.ts'
import { findToken, listStoredServiceTypes } from '../../storage/planning-center.ts'
import { listReceivers } from '../../storage/receivers.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { listManufacturers, listSettings } from '../../storage/settings.ts'
import { listChecks, listShows, listStoredScenes } from '../../storage/shows.ts'
import { listSlotEntries } from '../../storage/slot-entries.ts'
import { listGroups, listPlaceholders } from '../../storage/slots.ts'
import { listUnits } from '../../storage/units.ts'

export type Installation = Awaited<ReturnType<typeof readInstallation>>

export async function readInstallation(reader: Reader, secrets: Secrets) {
  return {
    manufacturers: await listManufacturers(reader, secrets),
    settings: await listSettings(reader),
    locations: await listLocations(reader),
    groups: await listGroups(reader),
    performers: await embedPictures(reader, await listPerformers(reader)),
    frequency_profiles: await listStoredProfiles(reader),
    receivers: await listReceivers(reader),
    units: await listUnits(reader),
    assignments: await listAssignments(reader, { is_active: true }),
    placeholders: await listPlaceholders(reader),
    slots: await listSlotEntries(reader),
    shows: await listShows(reader),
    scenes: await listStoredScenes(reader),
    frequency_plans: await listPlans(reader),
    silences: await listSilences(reader, now()),
    markers: await listMarkers(reader),
    checks: await listChecks(reader),
    notification_channels: await listNotificationChannels(reader, secrets),
    notification_rules: await listNotificationRules(reader),
    planning_center: await readPlanningCenter(reader, secrets),
  }
}

async function readPlanningCenter(reader: Reader, secrets: Secrets) {
  const stored = await listStoredServiceTypes(reader)
  return {
    /** Null if none is stored, or if it cannot be opened. */
    token: (await findToken(reader, secrets))?.token ?? null,
    service_types: stored.map(({ service_type, name, positions }) => ({ id: service_type, name, positions })),
  }
}

/** Leaves out the receivers of followed installations, which appear again when these are followed. */
export async function exportInstallation({
  db,
  secrets,
}: {
  readonly db: Database
  readonly secrets: Secrets
}): Promise<Installation> {
  const installation = await db.transaction((tx) => readInstallation(tx.query, secrets))
  return { ...installation, receivers: installation.receivers.filter(({ origin }) => origin === undefined) }
}
