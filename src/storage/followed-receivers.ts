/** Stores the receivers of followed installations with their channels. */

import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { Tx } from './database.ts'
import { addChannels, insertReceivers, saveReceivers } from './receivers.ts'

/**
 * Inserts receivers with the id 0, and saves the others. Adds and deletes channels as they are listed, assigns their
 * ids and slots, and returns the receivers as stored.
 */
export async function saveFollowedReceivers(
  tx: Tx,
  revision: number,
  receivers: readonly Receiver[],
): Promise<readonly Receiver[]> {
  const added = receivers.filter(({ id }) => id === 0)
  const inserted = added.length === 0 ? [] : await insertReceivers(tx, revision, added)
  const saved: Receiver[] = []
  for (const receiver of receivers) {
    if (receiver.id !== 0) saved.push(await saveChannels(tx, revision, receiver))
  }
  await saveReceivers(tx, revision, saved)
  return [...inserted, ...saved]
}

/** Adds the channels whose id is 0, and deletes those that are not listed. */
async function saveChannels(tx: Tx, revision: number, receiver: Receiver): Promise<Receiver> {
  const { id, channels } = receiver
  const added = channels.filter((channel) => channel.id === 0)
  const known = channels.filter((channel) => channel.id !== 0)
  let query = tx.query.deleteFrom('channels').where('receiver_id', '=', id)
  if (known.length > 0)
    query = query.where(
      'id',
      'not in',
      known.map((channel) => channel.id),
    )
  await query.execute()
  if (added.length === 0) return receiver
  const numbers = added.map(({ channel }) => channel)
  return withChannelsOf(await addChannels(tx, revision, { ...receiver, channels: known }, numbers), channels)
}

/** Returns the stored receiver with the values of these channels, which are matched by number. */
function withChannelsOf(stored: Receiver, channels: readonly Channel[]): Receiver {
  const values = stored.channels.map(({ id, channel, slot }) => {
    const value = channels.find((candidate) => candidate.channel === channel) ?? emptyChannel(id, channel, slot)
    return { ...value, id, slot }
  })
  return { ...stored, channels: values }
}
