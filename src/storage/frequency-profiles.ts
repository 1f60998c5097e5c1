/** Frequency profiles that operators have added, and their changes of built-in ones. */

import type { StoredProfile } from '../domain/frequencies/profile-changes.ts'
import type { Reader, Tx } from './database.ts'

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

export async function deleteStoredProfile(tx: Tx, id: string): Promise<void> {
  await tx.query.deleteFrom('frequency_profiles').where('id', '=', id).execute()
}

export async function setChannelProfile(
  tx: Tx,
  revision: number,
  { channelId, receiverId, profile }: { channelId: number; receiverId: number; profile: string | null },
): Promise<void> {
  await tx.query.updateTable('channels').set({ profile }).where('id', '=', channelId).execute()
  await tx.query.updateTable('receivers').set({ revision }).where('id', '=', receiverId).execute()
}

export async function clearChannelProfile(tx: Tx, revision: number, profile: string): Promise<void> {
  await tx.query
    .updateTable('receivers')
    .set({ revision })
    .where('id', 'in', (eb) => eb.selectFrom('channels').select('receiver_id').where('profile', '=', profile))
    .execute()
  await tx.query.updateTable('channels').set({ profile: null }).where('profile', '=', profile).execute()
}
