/** What operators have changed in the built-in frequency profiles, and the profiles that they have added. */

import type { StoredProfile } from '../domain/frequencies/profile-changes.ts'
import type { Reader, Tx } from './database.ts'

/** Returns the stored profiles, ordered by id. */
export async function listStoredProfiles(reader: Reader): Promise<StoredProfile[]> {
  const rows = await reader.selectFrom('frequency_profiles').selectAll().orderBy('id').execute()
  return rows.map(({ id, change }) => ({ id, change: JSON.parse(change) }))
}

export async function saveStoredProfile(tx: Tx, { id, change }: StoredProfile): Promise<void> {
  const text = JSON.stringify(change)
  await tx.query
    .insertInto('frequency_profiles')
    .values({ id, change: text })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ change: text }))
    .execute()
}

/** Deletes what is stored of a profile. */
export async function deleteStoredProfile(tx: Tx, id: string): Promise<void> {
  await tx.query.deleteFrom('frequency_profiles').where('id', '=', id).execute()
}

/** Sets the profile of a channel, and marks its receiver as changed. */
export async function setChannelProfile(
  tx: Tx,
  revision: number,
  { channelId, receiverId, profile }: { channelId: number; receiverId: number; profile: string | null },
): Promise<void> {
  await tx.query.updateTable('channels').set({ profile }).where('id', '=', channelId).execute()
  await tx.query.updateTable('receivers').set({ revision }).where('id', '=', receiverId).execute()
}

/** Removes a profile from the channels that have it, and marks their receivers as changed. */
export async function clearChannelProfile(tx: Tx, revision: number, profile: string): Promise<void> {
  await tx.query
    .updateTable('receivers')
    .set({ revision })
    .where('id', 'in', (eb) => eb.selectFrom('channels').select('receiver_id').where('profile', '=', profile))
    .execute()
  await tx.query.updateTable('channels').set({ profile: null }).where('profile', '=', profile).execute()
}
