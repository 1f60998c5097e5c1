import Type from 'typebox'
import { profileId } from '../../contract/channels.ts'
import { profileFields } from '../../contract/frequencies.ts'
import { type Body, name } from '../../contract/schema.ts'
import { isBuiltIn, type StoredProfile } from '../../domain/frequencies/profile-changes.ts'
import { saveStoredProfile } from '../../storage/frequencies.ts'
import { record } from './entries.ts'
import { type ImportContext, ImportError } from './import-context.ts'

/** A frequency profile that was added, or the changes of a built-in one. */
export const ProfileEntry = record(
  { id: profileId, name: Type.Optional(name), ...profileFields },
  'a frequency profile with at least an id',
)
export type ProfileEntry = Body<typeof ProfileEntry>

export function exportFrequencyProfiles(profiles: readonly StoredProfile[]): ProfileEntry[] {
  return profiles.map(({ id, change }) => ({ id, ...change }))
}

/** An entry of a profile that is not built in must have a name. */
export async function importFrequencyProfiles(work: ImportContext, entries: readonly ProfileEntry[]): Promise<void> {
  for (const [index, { id, ...change }] of entries.entries()) {
    const stored = work.before.frequency_profiles.find((profile) => profile.id === id)
    if (!isBuiltIn(id) && change.name === undefined) {
      throw new ImportError(`frequency_profiles.${index}.name`, 'expected a name')
    }
    const profile = { id, change }
    if (work.count('frequency_profiles', stored, profile)) await saveStoredProfile(work.tx, profile)
  }
}
