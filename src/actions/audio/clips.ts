/** Plays and deletes clips. Every playback and deletion is audited. */

import { type FileHandle, open } from 'node:fs/promises'
import type { ClipWaveform } from '../../contract/clips.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Clip } from '../../domain/audio/clip.ts'
import { wavHeaderBytes, wavRate } from '../../domain/audio/wav.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { isMissing } from '../../storage/folder.ts'

/** Throws a RequestError if there is no such clip, or if it has expired. */
export async function findClip({ clips }: Service, id: number): Promise<Clip> {
  const clip = await clips.find(id)
  if (clip === undefined) throw new RequestError('not_found', { subject: `clip ${id}` })
  return clip
}

/** Returns the file of a clip. */
export async function playClip(service: Service, actor: Actor, id: number): Promise<Buffer> {
  const clip = await findClip(service, id)
  const file = await openFile(service, clip)
  try {
    await service.db.transaction((tx) =>
      writeAudit(tx, { actor, action: 'clip.play', target: `clip ${id}`, result: 'ok', details: detailsOf(clip) }),
    )
    return await file.readFile()
  } finally {
    await file.close()
  }
}

const waveformStepMs = 20
const stepBytes = (2 * wavRate * waveformStepMs) / 1000
/** Read at once, so that a long clip does not block other requests. */
const stepsAtOnce = 50

/** The waveform is drawn without playing the clip, so it is not audited. */
export async function readWaveform(service: Service, id: number): Promise<ClipWaveform> {
  const file = await openFile(service, await findClip(service, id))
  try {
    const peaks: number[] = []
    const buffer = Buffer.alloc(stepBytes * stepsAtOnce)
    for (let position = wavHeaderBytes; ; position += buffer.length) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
      for (let from = 0; from < bytesRead; from += stepBytes)
        peaks.push(peakOf(buffer.subarray(from, Math.min(bytesRead, from + stepBytes))))
      if (bytesRead < buffer.length) return { step_ms: waveformStepMs, peaks }
    }
  } finally {
    await file.close()
  }
}

/** From 0 to 1, with three decimals. */
function peakOf(bytes: Buffer): number {
  let peak = 0
  for (let offset = 0; offset + 1 < bytes.length; offset += 2)
    peak = Math.max(peak, Math.abs(bytes.readInt16LE(offset)))
  return Math.round((peak * 1000) / 32_768) / 1000
}

async function openFile({ clips }: Service, clip: Clip): Promise<FileHandle> {
  return open(clips.pathOf(clip)).catch((error) => {
    if (isMissing(error)) throw new RequestError('not_found', { subject: `file of clip ${clip.id} on this machine` })
    throw error
  })
}

export async function removeClip(service: Service, actor: Actor, id: number): Promise<void> {
  const clip = await findClip(service, id)
  await service.clips.remove([clip], (tx) =>
    writeAudit(tx, { actor, action: 'clip.delete', target: `clip ${id}`, result: 'ok', details: detailsOf(clip) }),
  )
}

export async function removeClips(service: Service, actor: Actor): Promise<void> {
  const clips = await service.clips.list()
  await service.clips.remove(clips, (tx) =>
    writeAudit(tx, {
      actor,
      action: 'clip.delete',
      target: 'all clips',
      result: 'ok',
      details: { clips: clips.length },
    }),
  )
}

function detailsOf({ channel_id, from, to }: Clip) {
  return { channel_id, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}
