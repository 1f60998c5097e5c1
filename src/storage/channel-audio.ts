/** The mapping of channels to channels of audio streams, and the channels that must not be played or kept now. */

import type { AudioMapping } from '../domain/audio/mapping.ts'
import type { NotNow } from '../domain/equipment/receiver.ts'
import type { Reader, Tx } from './database.ts'

export async function listAudioMappings(reader: Reader): Promise<AudioMapping[]> {
  return reader.selectFrom('channel_audio').selectAll().orderBy('channel_id').execute()
}

export async function saveAudioMapping(tx: Tx, mapping: AudioMapping): Promise<void> {
  const { channel_id: _, ...changed } = mapping
  await tx.query
    .insertInto('channel_audio')
    .values(mapping)
    .onConflict((conflict) => conflict.column('channel_id').doUpdateSet(changed))
    .execute()
}

export async function deleteAudioMapping(tx: Tx, channelId: number): Promise<void> {
  await tx.query.deleteFrom('channel_audio').where('channel_id', '=', channelId).execute()
}

export async function saveNotNow(
  tx: Tx,
  revision: number,
  { channelId, notNow }: { readonly channelId: number; readonly notNow: NotNow | null },
): Promise<void> {
  const not_now = notNow === null ? null : JSON.stringify(notNow)
  await tx.query.updateTable('channels').set({ not_now }).where('id', '=', channelId).execute()
  await tx.query
    .updateTable('receivers')
    .set({ revision })
    .where('id', 'in', (eb) => eb.selectFrom('channels').select('receiver_id').where('id', '=', channelId))
    .execute()
}
