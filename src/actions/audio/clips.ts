/** Plays and deletes clips. Every playback and deletion is audited. */

import { open } from 'node:fs/promises'
import type { Actor } from '../../domain/access/access.ts'
import type { Clip } from '../../domain/audio/clip.ts'
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
  const file = await open(service.clips.pathOf(clip)).catch((error) => {
    if (isMissing(error)) throw new RequestError('not_found', { subject: `file of clip ${id} on this machine` })
    throw error
  })
  try {
    await service.db.transaction((tx) =>
      writeAudit(tx, { actor, action: 'clip.play', target: `clip ${id}`, result: 'ok', details: detailsOf(clip) }),
    )
    return await file.readFile()
  } finally {
    await file.close()
  }
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
