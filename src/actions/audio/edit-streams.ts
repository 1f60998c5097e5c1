/** Adds, changes and removes audio streams. */

import { fromDescription } from '../../audio/found-streams.ts'
import type { NewStreamBody, StreamChangeBody } from '../../contract/audio-streams.ts'
import type { Actor } from '../../domain/access/access.ts'
import { newStream, type StoredStream } from '../../domain/audio/audio-stream.ts'
import { parseSdp } from '../../domain/audio/sdp.ts'
import { RequestError } from '../../domain/errors.ts'
import { parseIpv4 } from '../../domain/identity/network.ts'
import type { RequireVersion, Unstored } from '../../domain/versions.ts'
import type { Service } from '../../service.ts'
import { deleteAudioStreams, insertAudioStream, saveAudioStream } from '../../storage/audio-streams.ts'
import { writeAudit } from '../../storage/audit.ts'

const maxEntered = 500

/** Returns the id of the new stream. */
export async function addAudioStream(service: Service, actor: Actor, body: NewStreamBody): Promise<number> {
  const { audioStreams, db } = service
  const entered = readStream(body)
  await audioStreams.whenReceiving()
  return audioStreams.edits.run(async () => {
    if (audioStreams.list().filter(({ source }) => source === 'manual').length >= maxEntered) {
      throw new RequestError('wrong_state', {
        subject: `There are already ${maxEntered} streams that were entered. Delete some first.`,
      })
    }
    const stream = await db.transaction(async (tx) => {
      const added = await insertAudioStream(tx, entered)
      const { name, legs } = added
      const details = { name, address: legs[0]?.address, port: legs[0]?.port }
      await writeAudit(tx, {
        actor,
        action: 'audio_stream.create',
        target: `audio stream ${added.id}`,
        result: 'ok',
        details,
      })
      return added
    })
    audioStreams.put(stream)
    return stream.id
  })
}

export async function changeAudioStream(
  service: Service,
  actor: Actor,
  id: number,
  change: StreamChangeBody,
  requireVersion: RequireVersion<StoredStream>,
): Promise<void> {
  const { audioStreams, db } = service
  await audioStreams.whenReceiving()
  await audioStreams.edits.run(async () => {
    const before = requireStream(service, id)
    requireVersion(before, `audio stream ${id}`)
    const isRenamed = change.name !== undefined && change.name !== before.name
    const stream = await db.transaction(async (tx) => {
      const saved = await saveAudioStream(tx, { ...before, ...change, is_edited: before.is_edited || isRenamed })
      const entry = { actor, action: 'audio_stream.change', target: `audio stream ${id}`, result: 'ok' } as const
      await writeAudit(tx, { ...entry, details: { ...change } })
      return saved
    })
    audioStreams.put(stream)
  })
}

export async function deleteAudioStream(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<StoredStream>,
): Promise<void> {
  const { audioStreams, db } = service
  await audioStreams.whenReceiving()
  await audioStreams.edits.run(async () => {
    const stream = requireStream(service, id)
    requireVersion(stream, `audio stream ${id}`)
    if (stream.source === 'command') {
      const subject = `${stream.name} is a program of the configuration file. Remove it there, or disable the stream.`
      throw new RequestError('wrong_state', { subject })
    }
    await db.transaction(async (tx) => {
      await deleteAudioStreams(tx, [id])
      const entry = { actor, action: 'audio_stream.delete', target: `audio stream ${id}`, result: 'ok' } as const
      await writeAudit(tx, { ...entry, details: { name: stream.name } })
    })
    audioStreams.remove(id)
  })
}

function requireStream({ audioStreams }: Service, id: number): StoredStream {
  const stream = audioStreams.findStored(id)
  if (stream === undefined) throw new RequestError('not_found', { subject: `audio stream ${id}` })
  return stream
}

/** Returns the stream of a request. Throws a RequestError that names the field. */
function readStream({ sdp, ...fields }: NewStreamBody): Unstored<StoredStream> {
  if (sdp !== undefined) return readDescription(sdp, fields)
  const name = requireField('name', fields.name)
  const address = requireField('address', fields.address)
  const port = requireField('port', fields.port)
  const encoding = requireField('encoding', fields.encoding)
  const sample_rate = requireField('sample_rate', fields.sample_rate)
  const channels = requireField('channels', fields.channels)
  if (parseIpv4(address) === null) {
    throw new RequestError('bad_request', { details: 'address: expected an IPv4 address' })
  }
  return {
    ...newStream,
    ...{ name, source: 'manual', encoding, sample_rate, channels, interface: fields.interface ?? null },
    legs: [{ address, port, senders: [] }],
  }
}

function requireField<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new RequestError('bad_request', { details: `${field}: missing` })
  return value
}

function readDescription(sdp: string, { name, ...fields }: Omit<NewStreamBody, 'sdp'>): Unstored<StoredStream> {
  const parsed = parseSdp(sdp)
  if ('error' in parsed) throw new RequestError('bad_request', { details: `sdp: ${parsed.error}` })
  const [description, second] = parsed.streams
  if (description === undefined || second !== undefined) {
    throw new RequestError('bad_request', { details: 'sdp: expected a description of one stream' })
  }
  const described = fromDescription(description, fields.interface ?? null)
  return { ...newStream, ...described, name: name ?? described.name, source: 'manual' }
}
