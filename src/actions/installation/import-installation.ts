/** Imports an installation file in one transaction. Adds and changes records, but removes none. */

import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { compareEdited } from '../../domain/events/event-drafts.ts'
import { globalScope } from '../../domain/settings.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import { now } from '../../platform/clock.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Database } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import { listLocations } from '../../storage/locations.ts'
import { listNotificationChannels } from '../../storage/notifications.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { nextRevision } from '../../storage/revision.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { listManufacturers } from '../../storage/settings.ts'
import { recordAssignments } from '../equipment/record-assignments.ts'
import { importAssignments } from './assignments.ts'
import { importChecks } from './checks.ts'
import { readInstallation } from './export-installation.ts'
import { importFrequencyProfiles } from './frequency-profiles.ts'
import { importGroups } from './groups.ts'
import { type Count, createImportContext, type ImportContext, type Kind } from './import-context.ts'
import { type InstallationFile, kinds } from './installation-file.ts'
import { importLocations } from './locations.ts'
import { importManufacturers, planManufacturers } from './manufacturers.ts'
import { importMarkers } from './markers.ts'
import { importNotifications, type PlannedChannel, planNotificationChannels } from './notifications.ts'
import { importPerformers } from './performers.ts'
import { importPlaceholders } from './placeholders.ts'
import { importPlanningCenter } from './planning-center.ts'
import { importReceivers } from './receivers.ts'
import { importScenes } from './scenes.ts'
import { importSettings } from './settings.ts'
import { importShows } from './shows.ts'
import { importSilences } from './silences.ts'
import { importSlots } from './slots.ts'

export interface ImportReport {
  readonly counts: Readonly<Record<Kind, Readonly<Count>>>
  /** Devices in the file that are not known yet. The file has to be imported again after they have been found. */
  readonly unknown: readonly string[]
}

/** Imports the file. Throws an ImportError if the file is invalid; nothing is changed then. */
export async function importInstallation(
  db: Database,
  secrets: Secrets,
  destinations: Outbound['destinations'],
  actor: Actor,
  file: InstallationFile,
  { isDryRun, source }: { readonly isDryRun: boolean; readonly source: string },
): Promise<ImportReport> {
  let report: ImportReport | undefined
  // Planning resolves host names, which takes time, so it happens outside the transaction.
  const stored = await listManufacturers(db.read, secrets)
  const planned = await planManufacturers(file.manufacturers ?? [], stored, destinations)
  const storedChannels = await listNotificationChannels(db.read, secrets)
  const plannedChannels = await planNotificationChannels(file.notification_channels ?? [], storedChannels, destinations)
  try {
    await db.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      const before = await readInstallation(tx.query, secrets)
      const work = createImportContext({ tx, secrets, revision, now: now(), before }, kinds)
      if (!isDeepStrictEqual(work.before.manufacturers, stored)) {
        throw new RequestError('concurrent_change', { subject: 'the manufacturers' })
      }
      if (!isDeepStrictEqual(work.before.notification_channels, storedChannels)) {
        throw new RequestError('concurrent_change', { subject: 'the notification channels' })
      }
      await recordAssignments(tx, { actor, time: work.now }, async () => {
        await importManufacturers(work, file.manufacturers ?? [], planned)
        await importSettings(work, file.settings, globalScope, 'settings')
        await importRecords(work, file, plannedChannels)
      })
      await recordEdits(work, actor)
      await importMarkers(work, file.markers ?? [])
      report = { counts: work.counts, unknown: [...new Set(work.unknown)] }
      if (isDryRun) throw new DryRunRollback()
      await writeAudit(tx, {
        actor,
        action: 'configuration.import',
        target: source,
        result: 'ok',
        details: { ...report },
      })
    })
  } catch (error) {
    if (!(error instanceof DryRunRollback)) throw error
  }
  if (report === undefined) throw new Error('Nothing was imported.')
  return report
}

/** Imports what refers to manufacturers and to each other, in the order of these references. */
async function importRecords(
  work: ImportContext,
  file: InstallationFile,
  plannedChannels: readonly PlannedChannel[],
): Promise<void> {
  const { before } = work
  const { manufacturers = [], frequency_profiles: profiles = [], placeholders = [] } = file
  const locations = await importLocations(work, file.locations ?? [])
  const codes = [...before.manufacturers, ...manufacturers].map(({ code }) => code)
  await importGroups(work, file.groups ?? [], codes)
  await importPerformers(work, file.performers ?? [])
  await importFrequencyProfiles(work, profiles)
  await importReceivers(work, file.receivers ?? [], {
    locations,
    profiles: [...before.frequency_profiles, ...profiles].map(({ id }) => id),
    placeholderSlots: placeholders.map(({ slot }) => slot),
  })
  await importPlaceholders(work, placeholders)
  await importAssignments(work, file.assignments ?? [])
  const channelSlots = (file.receivers ?? []).flatMap(({ slots = {} }) => Object.values(slots))
  await importSlots(work, file.slots ?? [], new Set(channelSlots))
  await importShows(work, file.shows ?? [])
  await importScenes(work, file.scenes ?? [])
  await importSilences(work, file.silences ?? [])
  await importChecks(work, file.checks ?? [])
  await importNotifications(work, plannedChannels, file.notification_rules ?? [])
  await importPlanningCenter(work, file.planning_center ?? {})
}

/** Stores the events of receivers and channels that the import has renamed and moved. */
async function recordEdits({ tx, before, now }: ImportContext, actor: Actor): Promise<void> {
  const locations = await listLocations(tx.query)
  const locationName = (id: number) => locations.find((location) => location.id === id)?.name ?? ''
  const after = new Map((await listReceivers(tx.query)).map((receiver) => [receiver.id, receiver]))
  const events = before.receivers.flatMap((receiver) =>
    compareEdited(receiver, after.get(receiver.id) ?? receiver, { time: now, by: actor.name, locationName }),
  )
  await insertEvents(tx, events)
}

/** Thrown to roll back the transaction of a dry run. */
class DryRunRollback extends Error {
  override readonly name = 'DryRunRollback'
}
