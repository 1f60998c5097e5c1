/** Imports an installation file in one transaction. Adds and changes records, but removes none. */

import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import type { EventDraft } from '../../domain/events/event.ts'
import { compareEdited, compareSlots } from '../../domain/events/event-drafts.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import { now } from '../../platform/clock.ts'
import { writeAudit } from '../../storage/audit.ts'
import { settleCast } from '../../storage/cast.ts'
import type { Database } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import { listLocations } from '../../storage/locations.ts'
import { listNotificationChannels } from '../../storage/notifications.ts'
import { listReceivers } from '../../storage/receivers.ts'
import { nextRevision } from '../../storage/revision.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { listManufacturers } from '../../storage/settings.ts'
import { readTitles } from '../../storage/slot-entries.ts'
import { readInstallation } from './export-installation.ts'
import { type Count, createImportContext, type ImportContext, type Kind } from './import-context.ts'
import { type InstallationFile, importSections, kinds } from './installation-file.ts'
import { planManufacturers } from './manufacturers.ts'
import { planNotificationChannels } from './notifications.ts'

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
  const storedChannels = await listNotificationChannels(db.read, secrets)
  const planned = {
    manufacturers: await planManufacturers(file.manufacturers ?? [], stored, destinations),
    notification_channels: await planNotificationChannels(
      file.notification_channels ?? [],
      storedChannels,
      destinations,
    ),
  }
  const slots = {
    placeholders: (file.placeholders ?? []).map(({ slot }) => slot),
    channels: new Set((file.receivers ?? []).flatMap(({ slots = {} }) => Object.values(slots))),
    performers: new Set((file.slots ?? []).map(({ performer }) => performer)),
  }
  try {
    await db.transaction(async (tx) => {
      const revision = await nextRevision(tx)
      // In the order in which other transactions increment them.
      for (const counter of ['shows', 'plans', 'notifications', 'versions'] as const) await nextRevision(tx, counter)
      const before = await readInstallation(tx.query, secrets)
      const work = createImportContext({ tx, secrets, revision, now: now(), before, planned, slots }, kinds)
      if (!isDeepStrictEqual(work.before.manufacturers, stored)) {
        throw new RequestError('concurrent_change', { subject: 'the manufacturers' })
      }
      if (!isDeepStrictEqual(work.before.notification_channels, storedChannels)) {
        throw new RequestError('concurrent_change', { subject: 'the notification channels' })
      }
      await settleCast(tx, { actor, time: work.now }, () => importSections(work, file))
      await insertEvents(tx, [...(await listEdits(work, actor)), ...work.events])
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

/** Returns the events of receivers and channels that the import has renamed and moved. */
async function listEdits({ tx, before, now }: ImportContext, actor: Actor): Promise<EventDraft[]> {
  const locations = await listLocations(tx.query)
  const locationName = (id: number) => locations.find((location) => location.id === id)?.name ?? ''
  const after = new Map((await listReceivers(tx.query)).map((receiver) => [receiver.id, receiver]))
  const edit = { time: now, by: actor.name, locationName, titleOf: await readTitles(tx.query) }
  return before.receivers.flatMap((receiver) => {
    const changed = after.get(receiver.id) ?? receiver
    return [...compareEdited(receiver, changed, edit), ...compareSlots(receiver, changed, edit)]
  })
}

/** Thrown to roll back the transaction of a dry run. */
class DryRunRollback extends Error {
  override readonly name = 'DryRunRollback'
}
