/** Imports the coordination of another program: a frequency plan, and placeholders for channels that are not known. */

import type { CoordinationImport } from '../../contract/imports.ts'
import type { UploadedFile } from '../../contract/schema.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Placeholder } from '../../domain/equipment/slots.ts'
import { RequestError } from '../../domain/errors.ts'
import { formatMhz } from '../../domain/frequencies/carrier.ts'
import {
  type Coordination,
  CoordinationFileError,
  type EquipmentProfile,
  maxCoordinationBytes,
  type NamedRange,
} from '../../domain/frequencies/coordination/coordination.ts'
import {
  type ImportedPlaceholder,
  type PlannedImport,
  planImport,
} from '../../domain/frequencies/coordination/plan-import.ts'
import { toScanName } from '../../domain/frequencies/scans/scan.ts'
import { toPlanCarriers } from '../../domain/frequencies/stored-plan.ts'
import { globalScope } from '../../domain/settings.ts'
import { now } from '../../platform/clock.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { nextRevision } from '../../storage/revision.ts'
import { insertPlaceholder, listPlaceholders, nextSlots, savePlaceholder } from '../../storage/slots.ts'
import { UndoRecorder } from '../../storage/undo.ts'
import type { CoordinationFileResult } from '../frequencies/coordination-worker.ts'
import { findPlanConflicts, storePlan } from '../frequencies/edit-frequency-plans.ts'
import { addMissingProfiles, importProfiles } from '../frequencies/edit-frequency-profiles.ts'
import { readInThread } from '../frequencies/read-in-thread.ts'
import { changeOrPreview } from '../preview.ts'

const worker = new URL('../frequencies/coordination-worker.ts', import.meta.url)

interface ImportRequest {
  readonly actor: Actor
  readonly client: ClientKey
  readonly file: UploadedFile
  readonly isPreview: boolean
}

export async function importCoordination(service: Service, request: ImportRequest): Promise<CoordinationImport> {
  const { client, file, actor, isPreview } = request
  if (file.isTooLarge || file.bytes.length > maxCoordinationBytes) {
    throw new RequestError('too_large', { details: 'file: expected at most 16 MiB' })
  }
  const read = await readInThread<CoordinationFileResult>(client, worker, file.bytes)
  if ('fault' in read) throw new RequestError('bad_request', { details: `file: ${read.fault}` })
  if ('profiles' in read) return importEquipmentProfile(service, actor, read.profiles, isPreview)
  return importPlan(service, request, read.coordination)
}

async function importEquipmentProfile(
  service: Service,
  actor: Actor,
  profiles: readonly EquipmentProfile[],
  isPreview: boolean,
): Promise<CoordinationImport> {
  const imported = await importProfiles(service, actor, profiles, isPreview)
  return { format: 'eqp', plan: null, matches: [], placeholders: [], profiles: imported, skipped: [], undo_id: null }
}

async function importPlan(
  service: Service,
  { actor, client, file, isPreview }: ImportRequest,
  coordination: Coordination,
): Promise<CoordinationImport> {
  const title = coordination.title ?? toScanName(file.name)
  const region = service.settings.inScope(globalScope).REGION
  const settings = toSettings(coordination)
  // Conflicts do not depend on slots, which are chosen in the transaction.
  const unplaced = planImport(coordination, {
    receivers: [],
    placeholders: [],
    freeSlots: coordination.carriers.map((_, i) => i + 1),
  })
  const spares = [...unplaced.spares]
  const conflicts = await findPlanConflicts(
    service,
    { region, carriers: toPlanCarriers([...unplaced.carriers]), spares, settings },
    client,
  )
  return changeOrPreview(service, isPreview, async (tx) => {
    await nextRevision(tx, 'plans')
    const undo = new UndoRecorder(tx, actor)
    const known = await listPlaceholders(tx.query)
    const planned = await planWith(service, tx, coordination, known)
    const placeholders = await applyPlaceholders(tx, undo, planned.placeholders, known)
    const carriers = toPlanCarriers([...planned.carriers])
    const profiles = await addMissingProfiles(tx, actor, coordination.profiles)
    const plan = { title, show_id: null, region, carriers, spares, settings, ...conflicts }
    const stored = await storePlan(tx, undo, { ...plan, created_by: actor.name, created_at: now(), used_at: null })
    const undo_id = await undo.save('coordination.import', now())
    const { format, skipped } = coordination
    const details = { title, format, carriers: carriers.length, placeholders: placeholders.length }
    await writeAudit(tx, {
      actor,
      action: 'coordination.import',
      target: `frequency plan ${stored.id}`,
      result: 'ok',
      details,
    })
    return {
      format,
      plan: {
        id: isPreview ? null : stored.id,
        title,
        carriers: [...carriers],
        spares,
        settings,
        conflict_count: conflicts.conflict_count,
      },
      matches: [...planned.matches],
      placeholders: placeholders.map((placeholder) =>
        isPreview && placeholder.is_new ? { ...placeholder, id: null } : placeholder,
      ),
      profiles,
      skipped: [...skipped],
      undo_id: isPreview ? null : undo_id,
    }
  })
}

async function planWith(
  { receiverStore }: Service,
  tx: Tx,
  coordination: Coordination,
  placeholders: readonly Placeholder[],
): Promise<PlannedImport> {
  try {
    return planImport(coordination, {
      receivers: receiverStore.listAllFacts().filter(({ origin }) => origin === undefined),
      placeholders,
      freeSlots: await nextSlots(tx, coordination.carriers.length),
    })
  } catch (error) {
    if (error instanceof CoordinationFileError)
      throw new RequestError('bad_request', { details: `file: ${error.message}` })
    throw error
  }
}

async function applyPlaceholders(
  tx: Tx,
  undo: UndoRecorder,
  planned: readonly ImportedPlaceholder[],
  known: readonly Placeholder[],
): Promise<CoordinationImport['placeholders'][number][]> {
  const stored = new Map(known.map((placeholder) => [placeholder.id, placeholder]))
  const applied: CoordinationImport['placeholders'][number][] = []
  for (const { id, ...fields } of planned) {
    const before = id === null ? undefined : stored.get(id)
    if (before === undefined) {
      const added = await insertPlaceholder(tx, { ...fields, created_at: now() })
      undo.added('placeholders', added.id)
      applied.push({ id: added.id, ...fields, is_new: true })
    } else {
      await undo.willChange('placeholders', before.id)
      await savePlaceholder(tx, { ...before, frequency: fields.frequency })
      applied.push({ id: before.id, ...fields, name: before.name, is_new: false })
    }
  }
  return applied
}

/** Returns the contents of the file beside its frequencies. `avoid` has the form that suggestions take. */
function toSettings({ exclusions, inclusions, tvChannels, excludeAboveDbm, peakAboveDbm }: Coordination) {
  return {
    avoid: exclusions.map(({ fromKhz, toKhz }) => ({ from: formatMhz(fromKhz), to: formatMhz(toKhz) })),
    inclusions: inclusions.map(toRange),
    tv_channels: [...tvChannels],
    ...(excludeAboveDbm !== null && { exclude_above_dbm: excludeAboveDbm }),
    ...(peakAboveDbm !== null && { peak_above_dbm: peakAboveDbm }),
  }
}

function toRange({ name, fromKhz, toKhz }: NamedRange) {
  return { name, from: formatMhz(fromKhz), to: formatMhz(toKhz) }
}
