import Type from 'typebox'
import { profileId } from '../../contract/channels.ts'
import { profileFields } from '../../contract/frequency-profiles.ts'
import { type Body, name } from '../../contract/schema.ts'
import { isBuiltIn } from '../../domain/frequencies/profile-changes.ts'
import { saveStoredProfile } from '../../storage/frequencies.ts'
import { defineSection, list, record } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { type ImportContext, ImportError } from './import-context.ts'

/** An added frequency profile, or the changes to a built-in one. */
const ProfileEntry = record(
  { id: profileId, name: Type.Optional(name), ...profileFields },
  'a frequency profile with at least an id',
)
type ProfileEntry = Body<typeof ProfileEntry>

export const frequencyProfileSection = defineSection(
  list(ProfileEntry, 'a list of frequency profiles'),
  exportFrequencyProfiles,
  importFrequencyProfiles,
)

function exportFrequencyProfiles({ frequency_profiles }: Installation): ProfileEntry[] {
  return frequency_profiles
    .filter(({ id, change }) => !isBuiltIn(id) || Object.keys(change).length > 0)
    .map(({ id, change }) => ({ id, ...change }))
}

/** An entry of a profile that is not built in must have a name. */
async function importFrequencyProfiles(work: ImportContext, entries: readonly ProfileEntry[] = []): Promise<void> {
  for (const [index, { id, ...change }] of entries.entries()) {
    const stored = work.before.frequency_profiles.find((profile) => profile.id === id)
    if (!isBuiltIn(id) && change.name === undefined) {
      throw new ImportError(`frequency_profiles.${index}.name`, 'expected a name')
    }
    const profile = { id, change }
    if (work.count('frequency_profiles', stored && { id, change: stored.change }, profile))
      await saveStoredProfile(work.tx, profile)
  }
}
