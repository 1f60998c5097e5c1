/** Puts what a file says into the house: adds and changes, takes nothing away; wholly, or not at all. */

import { isDeepStrictEqual } from 'node:util'
import type { SourceDeps } from '../manufacturers/sources.ts'
import type { Actor } from '../model/access.ts'
import { RequestError } from '../model/errors.ts'
import type { InstallationFile, LocationEntry } from '../model/installation-file.ts'
import type { Location } from '../model/location.ts'
import { writeAudit } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { insertGroup, saveGroup } from '../store/groups.ts'
import { insertPerformer, savePerformer } from '../store/hardware.ts'
import { insertLocation, saveLocation } from '../store/locations.ts'
import { nextRevision } from '../store/revision.ts'
import type { Secrets } from '../store/secrets.ts'
import { listManufacturers } from '../store/settings.ts'
import { readInstallation } from './export-installation.ts'
import {
  type Count,
  createImportCounts,
  createPicker,
  type ImportContext,
  ImportError,
  type Kind,
} from './import-context.ts'
import { putAssignments, putReceivers } from './import-equipment.ts'
import { planManufacturers, putManufacturers } from './import-manufacturers.ts'

export interface ImportReport {
  readonly counts: Readonly<Record<Kind, Readonly<Count>>>
  /** Devices of the file that are not known here yet: what it says of them waits for another import. */
  readonly unknown: readonly string[]
}

interface ImportDeps extends Pick<SourceDeps, 'destinations'> {
  readonly db: Database
  readonly secrets: Secrets
  now(): number
}

/** Throws ImportFault, and then nothing has changed. */
export async function importInstallation(
  deps: ImportDeps,
  actor: Actor,
  file: InstallationFile,
  { isRehearsal, source }: { readonly isRehearsal: boolean; readonly source: string },
): Promise<ImportReport> {
  const { db, secrets, now } = deps
  let report: ImportReport | undefined
  // Names are resolved here, which takes its time: no transaction waits for that.
  const stored = await listManufacturers(db.read, secrets)
  const planned = await planManufacturers(file, stored, deps)
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
        throw new RequestError('concurrent_change', { about: 'the manufacturers' })
      }
      await putManufacturers(work, planned)
      const locations = await putLocations(work)
      await putGroups(work)
      await putPerformers(work)
      await putReceivers(work, locations)
      await putAssignments(work)
      report = { counts: work.counts, unknown: [...new Set(work.unknown)] }
      if (isRehearsal) throw new RehearsalOver()
      await writeAudit(tx, { actor, action: 'house.import', target: source, result: 'ok', details: { ...report } })
    })
  } catch (error) {
    if (!(error instanceof RehearsalOver)) throw error
  }
  if (report === undefined) throw new Error('nothing was imported')
  return report
}

/** Everything was tried, and is taken back. */
class RehearsalOver extends Error {
  override readonly name = 'RehearsalOver'
}

/** All locations as they are then. */
async function putLocations(work: ImportContext): Promise<Location[]> {
  const locations = [...work.before.locations]
  const put = async (entries: readonly LocationEntry[], parent: number | null): Promise<void> => {
    const take = createPicker(locations.filter((one) => one.parent === parent))
    for (const { name, description, locations: inside = [] } of entries) {
      const stored = take((one) => one.name === name)
      const fields = { name, description: description ?? stored?.description ?? '', parent }
      let place = stored
      if (place === undefined) {
        work.count('locations', undefined, fields)
        place = await insertLocation(work.tx, fields)
        locations.push(place)
      } else if (work.count('locations', place, { ...place, ...fields })) {
        await saveLocation(work.tx, { ...place, ...fields })
      }
      await put(inside, place.id)
    }
  }
  await put(work.file.locations ?? [], null)
  return locations
}

async function putGroups({ tx, file, before, count }: ImportContext): Promise<void> {
  const codes = [...before.manufacturers, ...(file.manufacturers ?? [])].map(({ code }) => code)
  const take = createPicker(before.groups)
  for (const [at, entry] of (file.groups ?? []).entries()) {
    const { manufacturer = null } = entry
    if (manufacturer !== null && !codes.includes(manufacturer)) {
      throw new ImportError(
        `groups.${at}.manufacturer`,
        `expected a manufacturer; there is none called ${manufacturer}`,
      )
    }
    const stored = take(({ title }) => title === entry.title)
    const group = { slots: [], hide_charts: false, manufacturer: null, ...stored, ...entry }
    if (!count('groups', stored, group)) continue
    if (stored === undefined) await insertGroup(tx, group)
    else await saveGroup(tx, { ...group, id: stored.id })
  }
}

async function putPerformers({ tx, file, before, count }: ImportContext): Promise<void> {
  const take = createPicker(before.performers)
  for (const entry of file.performers ?? []) {
    const stored = take(({ name }) => name === entry.name)
    const performer = { notes: '', picture: null, ...stored, ...entry }
    if (!count('performers', stored, performer)) continue
    if (stored === undefined) await insertPerformer(tx, performer)
    else await savePerformer(tx, { ...performer, id: stored.id })
  }
}
