/** Adds, changes and removes frequency profiles, and resets built-in ones. */

import type { FrequencyProfileBody, NewFrequencyProfile } from '../../contract/frequency-profiles.ts'
import type { Body } from '../../contract/schema.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import type { EquipmentProfile } from '../../domain/frequencies/coordination/coordination.ts'
import {
  completeLevels,
  findReversedRange,
  isBuiltIn,
  mergeProfileChanges,
  type ProfileChange,
  toProfileBodies,
} from '../../domain/frequencies/profile-changes.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import {
  clearChannelProfile,
  deleteStoredProfile,
  hasProfile,
  listStoredProfiles,
  saveStoredProfile,
} from '../../storage/frequencies.ts'
import { changeOrPreview } from '../preview.ts'

export async function addFrequencyProfile(
  service: Service,
  actor: Actor,
  { id: requested, ...entered }: Body<typeof NewFrequencyProfile>,
): Promise<FrequencyProfileBody> {
  const id = requested ?? toId(entered.name)
  checkRanges(entered)
  const body = await service.ingest.change(async (tx) => {
    if (await hasProfile(tx.query, id)) throw new RequestError('taken', { subject: `profile ${id}` })
    await saveStoredProfile(tx, { id, change: completeLevels(entered) })
    await audit(tx, actor, 'frequency_profile.create', id, { name: entered.name })
    return bodyOf(tx.query, id)
  })
  await service.reload()
  return body
}

export async function changeFrequencyProfile(
  service: Service,
  actor: Actor,
  id: string,
  change: ProfileChange,
  requireVersion: RequireVersion<FrequencyProfileBody>,
): Promise<FrequencyProfileBody> {
  checkRanges(change)
  const body = await service.ingest.change(async (tx) => {
    requireVersion(await requireProfile(tx.query, id), `profile ${id}`)
    const stored = (await listStoredProfiles(tx.query)).find((profile) => profile.id === id)
    if (Object.keys(change).length > 0) {
      await saveStoredProfile(tx, { id, change: mergeProfileChanges(stored?.change ?? {}, change) })
      await audit(tx, actor, 'frequency_profile.change', id, { ...change })
    }
    return bodyOf(tx.query, id)
  })
  await service.reload()
  return body
}

interface ImportedProfile {
  readonly id: string
  readonly name: string
  readonly is_new: boolean
}

/** Adds profiles, or replaces those with the same names. A profile that is replaced keeps its bands of other names. */
export function importProfiles(
  service: Service,
  actor: Actor,
  profiles: readonly EquipmentProfile[],
  isPreview: boolean,
): Promise<ImportedProfile[]> {
  return changeOrPreview(service, isPreview, async (tx) => {
    const imported: ImportedProfile[] = []
    for (const { bands = [], ...profile } of profiles) {
      const id = toId(profile.name)
      if (isBuiltIn(id)) throw new RequestError('taken', { subject: `the built-in profile ${id}` })
      const before = (await listStoredProfiles(tx.query)).find((stored) => stored.id === id)
      const kept = (before?.change.bands ?? []).filter(({ name }) => !bands.some((band) => band.name === name))
      await saveStoredProfile(tx, { id, change: completeLevels({ ...profile, bands: [...kept, ...bands] }) })
      await audit(tx, actor, 'coordination.import', id, { name: profile.name })
      imported.push({ id, name: profile.name, is_new: before === undefined })
    }
    return imported
  })
}

/** Adds the profiles of a show. Those that exist stay as they are, because they may have been edited. */
export async function addMissingProfiles(
  tx: Tx,
  actor: Actor,
  profiles: readonly EquipmentProfile[],
): Promise<ImportedProfile[]> {
  const added: ImportedProfile[] = []
  for (const profile of profiles) {
    const id = toId(profile.name)
    if (await hasProfile(tx.query, id)) continue
    await saveStoredProfile(tx, { id, change: completeLevels(profile) })
    await audit(tx, actor, 'coordination.import', id, { name: profile.name })
    added.push({ id, name: profile.name, is_new: true })
  }
  return added
}

/** Removes an added profile, also from its channels. Resets a built-in one. */
export async function removeFrequencyProfile(
  service: Service,
  actor: Actor,
  id: string,
  requireVersion: RequireVersion<FrequencyProfileBody>,
): Promise<void> {
  await service.ingest.change(async (tx, revision) => {
    const profile = await requireProfile(tx.query, id)
    requireVersion(profile, `profile ${id}`)
    const { name, is_built_in, is_changed } = profile
    if (is_built_in && !is_changed) {
      const sentence = `The profile ${id} is built in and has not been changed.`
      throw new RequestError('wrong_state', { subject: sentence })
    }
    await deleteStoredProfile(tx, id)
    if (!is_built_in) await clearChannelProfile(tx, revision, id)
    await audit(tx, actor, 'frequency_profile.delete', id, { name })
  })
  await service.reload()
}

async function requireProfile(reader: Reader, id: string): Promise<FrequencyProfileBody> {
  if (!(await hasProfile(reader, id))) throw new RequestError('not_found', { subject: `profile ${id}` })
  return bodyOf(reader, id)
}

async function bodyOf(reader: Reader, id: string): Promise<FrequencyProfileBody> {
  const found = toProfileBodies(await listStoredProfiles(reader)).find((profile) => profile.id === id)
  if (found === undefined) throw new RequestError('not_found', { subject: `profile ${id}` })
  return found
}

/** Derives an id from a name: `Shure GLX-D+` becomes `shure_glx-d`. */
function toId(name: string): string {
  const id = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
    .slice(0, 64)
  if (id === '') throw new RequestError('bad_request', { details: 'id: missing' })
  return id
}

function checkRanges({ bands = [] }: ProfileChange): void {
  for (const [index, { ranges }] of bands.entries()) {
    const reversed = findReversedRange(ranges)
    if (reversed === undefined) continue
    const details = `bands.${index}.ranges: expected from (${reversed.from}) to be at most to (${reversed.to})`
    throw new RequestError('bad_request', { details })
  }
}

function audit(tx: Tx, actor: Actor, action: AuditAction, id: string, details: Readonly<Record<string, unknown>>) {
  return writeAudit(tx, { actor, action, target: `profile ${id}`, result: 'ok', details })
}
