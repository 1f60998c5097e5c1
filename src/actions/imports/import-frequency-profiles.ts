/** Imports the frequency profiles in a file. */

import { isBuiltIn } from '../../domain/frequencies/profile-changes.ts'
import { saveStoredProfile } from '../../storage/frequency-profiles.ts'
import { type ImportContext, ImportError } from './import-context.ts'

/** An entry of a profile that is not built in must have a name. */
export async function putFrequencyProfiles({ tx, file, before, count }: ImportContext): Promise<void> {
  for (const [index, { id, ...change }] of (file.frequency_profiles ?? []).entries()) {
    const stored = before.frequency_profiles.find((profile) => profile.id === id)
    if (!isBuiltIn(id) && change.name === undefined) {
      throw new ImportError(`frequency_profiles.${index}.name`, 'expected a name')
    }
    const profile = { id, change }
    if (count('frequency_profiles', stored, profile)) await saveStoredProfile(tx, profile)
  }
}
