/** Imports an installation file in one transaction. Adds and changes records, but removes none. */

import { isDeepStrictEqual } from 'node:util'
import type { Location } from '../../contract/locations.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { compareEdited } from '../../domain/events/edit-events.ts'
import type { InstallationFile, LocationEntry } from '../../domain/installation-file.ts'
import type { SourceDeps } from '../../manufacturers/sources.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Database } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import { insertGroup, saveGroup } from '../../storage/groups.ts'
import { insertPerformer, savePerformer } from '../../storage/hardware.ts'
import { insertLocation, listLocations, saveLocation } from '../../storage/locations.ts'
import { listNotificationChannels } from '../../storage/notification-channels.ts'
import { lockPictures, removeUnusedPictures, savePictureText } from '../../storage/pictures.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { nextRevision } from '../../storage/revision.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { listManufacturers } from '../../storage/settings.ts'
import { expectedPicture } from '../equipment/edit-pictures.ts'
import { recordAssignments } from '../equipment/record-assignments.ts'
import { readInstallation } from './export-installation.ts'
import { putChecks } from './import-checks.ts'
import {
  type Count,
  createImportCounts,
  createPicker,
  type ImportContext,
  ImportError,
  type Kind,
} from './import-context.ts'
import { putAssignments, putPlaceholders, putReceivers } from './import-equipment.ts'
import { putFrequencyProfiles } from './import-frequency-profiles.ts'
import { planManufacturers, putManufacturers } from './import-manufacturers.ts'
import { putMarkers } from './import-markers.ts'
import { planNotificationChannels, putNotifications } from './import-notifications.ts'
import { putPlanningCenter } from './import-planning-center-entry.ts'
import { putScenes } from './import-scenes.ts'
import { putSettings } from './import-settings.ts'
import { putShows } from './import-shows.ts'
import { putSilences } from './import-silences.ts'

export interface ImportReport {
  readonly counts: Readonly<Record<Kind, Readonly<Count>>>
  /** Devices in the file that are not known yet. The file has to be imported again after they have been found. */
  readonly unknown: readonly string[]
}

interface ImportDeps extends Pick<SourceDeps, 'destinations'> {
  readonly db: Database
  readonly secrets: Secrets
  now(): number
}

/** Imports the file. Throws an ImportError if the file is invalid; nothing is changed then. */
export async function importInstallation(
  deps: ImportDeps,
  actor: Actor,
  file: InstallationFile,
  { isDryRun, source }: { readonly isDryRun: boolean; readonly source: string },
): Promise<ImportReport> {
  const { db, secrets, now } = deps
  let report: ImportReport | undefined
  // Planning resolves host names, which takes time, so it happens outside the transaction.
  const stored = await listManufacturers(db.read, secrets)
  const planned = await planManufacturers(file, stored, deps)
  const storedChannels = await listNotificationChannels(db.read, secrets)
  const plannedChannels = await planNotificationChannels(file, storedChannels, deps)
  try {
    await db.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      const work = {
        tx,
        secrets,
        revision,
        now: now(),
        file,
        before: await readInstallation(tx.query, secrets),
        ...createImportCounts(),
      }
      if (!isDeepStrictEqual(work.before.manufacturers, stored)) {
        throw new RequestError('concurrent_change', { subject: 'the manufacturers' })
      }
      if (!isDeepStrictEqual(work.before.notification_channels, storedChannels)) {
        throw new RequestError('concurrent_change', { subject: 'the notification channels' })
      }
      await recordAssignments(tx, { actor, time: work.now }, async () => {
        await putManufacturers(work, planned)
        const locations = await putLocations(work)
        await putGroups(work)
        await putPerformers(work)
        await putFrequencyProfiles(work)
        await putReceivers(work, locations)
        await putPlaceholders(work)
        await putAssignments(work)
        await putShows(work)
        await putScenes(work)
        await putSilences(work)
        await putChecks(work)
        await putNotifications(work, plannedChannels)
        await putPlanningCenter(work)
      })
      await recordEdits(work, actor)
      await putMarkers(work)
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

/** Stores the locations in the file. Returns all locations, including those that were added. */
async function putLocations(work: ImportContext): Promise<Location[]> {
  const locations = [...work.before.locations]
  const put = async (entries: readonly LocationEntry[], parent: number | null): Promise<void> => {
    const pick = createPicker(locations.filter((location) => location.parent === parent))
    for (const { name, description, zone, locations: inside = [] } of entries) {
      const stored = pick((candidate) => candidate.name === name)
      const fields = {
        name,
        description: description ?? stored?.description ?? '',
        zone: zone === undefined ? (stored?.zone ?? null) : zone,
        parent,
      }
      let location = stored
      if (location === undefined) {
        work.count('locations', undefined, fields)
        location = await insertLocation(work.tx, fields)
        locations.push(location)
      } else if (work.count('locations', location, { ...location, ...fields })) {
        await saveLocation(work.tx, { ...location, ...fields })
      }
      await put(inside, location.id)
    }
  }
  await put(work.file.locations ?? [], null)
  return locations
}

async function putGroups(work: ImportContext): Promise<void> {
  const { tx, file, before, count } = work
  const codes = [...before.manufacturers, ...(file.manufacturers ?? [])].map(({ code }) => code)
  const pick = createPicker(before.groups)
  for (const [index, { settings, ...entry }] of (file.groups ?? []).entries()) {
    const { manufacturer = null } = entry
    if (manufacturer !== null && !codes.includes(manufacturer)) {
      throw new ImportError(`groups.${index}.manufacturer`, `expected a manufacturer; ${manufacturer} does not exist`)
    }
    const stored = pick(({ title }) => title === entry.title)
    const group = { slots: [], hide_charts: false, zone: null, manufacturer: null, ...stored, ...entry }
    let id = stored?.id
    if (count('groups', stored, group)) {
      if (id === undefined) id = (await insertGroup(tx, group)).id
      else await saveGroup(tx, { ...group, id })
    }
    if (id !== undefined)
      await putSettings(work, settings, { manufacturer: null, group: id }, `groups.${index}.settings`)
  }
}

async function putPerformers({ tx, file, before, count }: ImportContext): Promise<void> {
  const pick = createPicker(before.performers)
  await lockPictures(tx)
  for (const [index, entry] of (file.performers ?? []).entries()) {
    const stored = pick(({ name }) => name === entry.name)
    const entered = { notes: '', picture: null, ...stored, ...entry }
    if (!count('performers', stored, entered)) continue
    const picture = entered.picture === null ? null : await savePictureText(tx, entered.picture)
    if (picture === undefined) throw new ImportError(`performers.${index}.picture`, expectedPicture)
    const performer = { ...entered, picture }
    if (stored === undefined) await insertPerformer(tx, performer)
    else await savePerformer(tx, { ...performer, id: stored.id })
  }
  await removeUnusedPictures(tx)
}
