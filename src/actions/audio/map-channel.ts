import type { ChannelAudioBody } from '../../contract/listening.ts'
import type { Actor } from '../../domain/access/access.ts'
import { labelOf, toChannelAudioBody } from '../../domain/audio/mapping.ts'
import { findReceiverOf } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { deleteAudioMapping, saveAudioMapping } from '../../storage/channel-audio.ts'
import { requireLocal } from '../require-local.ts'

type MappedChannel = Pick<ChannelAudioBody, 'stream_id' | 'channel'>

/** Returns null if the channel is not mapped. */
export async function findChannelAudio(
  { receiverStore, lists, audioStreams }: Service,
  id: number,
): Promise<ChannelAudioBody | null> {
  if (findReceiverOf(receiverStore.listAllFacts(), id) === undefined) throw notFound(id)
  await audioStreams.whenReceiving()
  const mapping = lists.current.audioMappings.find(({ channel_id }) => channel_id === id)
  return mapping === undefined ? null : toChannelAudioBody(mapping, audioStreams.find(mapping.stream_id))
}

/** Maps a channel to a channel of a stream with its present label, or to none. */
export async function mapChannel(
  service: Service,
  actor: Actor,
  id: number,
  mapped: MappedChannel | null,
): Promise<void> {
  const receiver = findReceiverOf(service.receiverStore.listAllFacts(), id)
  if (receiver === undefined) throw notFound(id)
  requireLocal(receiver)
  const before = await findChannelAudio(service, id)
  const after = mapped && { ...mapped, label: requireLabel(service, mapped) }
  await service.db.transaction(async (tx) => {
    if (after === null) await deleteAudioMapping(tx, id)
    else await saveAudioMapping(tx, { channel_id: id, ...after })
    const details = { before: before && toDetails(before), after }
    await writeAudit(tx, { actor, action: 'channel.audio', target: `channel ${id}`, result: 'ok', details })
  })
  await service.reload()
}

function requireLabel({ audioStreams }: Service, { stream_id, channel }: MappedChannel): string | null {
  const stream = audioStreams.find(stream_id)
  if (stream === undefined) {
    throw new RequestError('bad_request', { details: `stream_id: there is no audio stream ${stream_id}` })
  }
  if (channel > stream.channels) {
    throw new RequestError('bad_request', { details: `channel: expected a whole number from 1 to ${stream.channels}` })
  }
  return labelOf(stream, channel)
}

function toDetails({ stream_id, channel, label }: ChannelAudioBody) {
  return { stream_id, channel, label }
}

function notFound(id: number): RequestError {
  return new RequestError('not_found', { subject: `channel ${id}` })
}
