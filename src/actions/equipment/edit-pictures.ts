/** Stores and removes the pictures of performers. */

import { type Performer, pictureText, type StoredPictures } from '../../contract/performers.ts'
import type { UploadedFile } from '../../contract/schema.ts'
import type { Actor } from '../../domain/access/access.ts'
import { findByFileName, maxPictureBytes, type PictureType, pictureTypeOf } from '../../domain/equipment/picture.ts'
import { RequestError } from '../../domain/errors.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { findPerformer, listPerformers, savePerformer } from '../../storage/hardware.ts'
import { lockPictures, removeUnusedPictures, savePicture, savePictureText } from '../../storage/pictures.ts'
import { UndoRecorder } from '../../storage/undo.ts'

/** The expected value of the field `picture`, for an error message. */
export const expectedPicture = `expected ${pictureText}, or null`

/** Stores a data URL in `picture` as a picture. Returns the change with the address of the picture. */
export async function storePicture<Change extends Partial<Pick<Performer, 'picture'>>>(
  tx: Tx,
  change: Change,
): Promise<Change> {
  if (typeof change.picture !== 'string') return change
  const picture = await savePictureText(tx, change.picture)
  if (picture === undefined) throw new RequestError('bad_request', { details: `picture: ${expectedPicture}` })
  return { ...change, picture }
}

/** Stores a picture of a performer. Throws if the format is not supported. */
export async function setPicture(
  service: Service,
  actor: Actor,
  id: number,
  bytes: Uint8Array | undefined,
): Promise<Performer> {
  const type = bytes === undefined ? null : pictureTypeOf(bytes)
  if (bytes === undefined || type === null) throw new RequestError('not_a_picture')
  return changePicture(service, actor, id, (tx) => savePicture(tx, { type, bytes }))
}

/** Stores each picture for the performer that its file is named after. Lists the other files. */
export async function setPictures(
  service: Service,
  actor: Actor,
  files: readonly UploadedFile[],
): Promise<StoredPictures> {
  return service.ingest.change(async (tx) => {
    await lockPictures(tx)
    const performers = await listPerformers(tx.query)
    const undo = new UndoRecorder(tx, actor)
    const matched = new Map<number, StoredPictures['matched'][number]>()
    const unmatched: string[] = []
    const failures: StoredPictures['failures'][number][] = []
    for (const file of files) {
      const named = findByFileName(file.name, performers)
      const type = pictureTypeOf(file.bytes)
      const [performer] = named
      const problem = findProblem(file, type, named) ?? findEarlier(performer, matched)
      if (problem !== null) failures.push({ file: file.name, reason: problem })
      if (problem !== null || performer === undefined || type === null) {
        unmatched.push(file.name)
        continue
      }
      const { id, name } = performer
      await undo.willChange('performers', id)
      await savePerformer(tx, { ...performer, picture: await savePicture(tx, { type, bytes: file.bytes }) })
      matched.set(id, { file: file.name, performer_id: id, name })
    }
    const undo_id = await undo.save('performer.change', now())
    await removeUnusedPictures(tx)
    if (matched.size > 0) {
      const target = `performers ${[...matched.keys()].join(', ')}`
      await writeAudit(tx, {
        actor,
        action: 'performer.change',
        target,
        result: 'ok',
        details: { fields: ['picture'] },
      })
    }
    return { matched: [...matched.values()], unmatched, failures, undo_id }
  })
}

/** `named`: the performers whose name matches the file name. */
function findProblem(
  { isTooLarge }: UploadedFile,
  type: PictureType | null,
  named: readonly Performer[],
): string | null {
  if (isTooLarge) return `The file is larger than ${maxPictureBytes / 1_000_000} MB.`
  if (type === null) return 'The file is not a PNG, JPEG or WebP picture.'
  return named.length > 1 ? 'Several performers have this name.' : null
}

function findEarlier(
  performer: Performer | undefined,
  matched: ReadonlyMap<number, StoredPictures['matched'][number]>,
): string | null {
  const earlier = matched.get(performer?.id ?? 0)
  return earlier === undefined ? null : `${earlier.file} is already the picture of ${earlier.name}.`
}

export async function removePicture(service: Service, actor: Actor, id: number): Promise<void> {
  await changePicture(service, actor, id, async (_tx, { name, picture }) => {
    if (picture === null) throw new RequestError('not_found', { subject: `picture of ${name}` })
    return null
  })
}

async function changePicture(
  service: Service,
  actor: Actor,
  id: number,
  pictureAfter: (tx: Tx, performer: Performer) => Promise<string | null>,
): Promise<Performer> {
  return service.ingest.change(async (tx) => {
    await lockPictures(tx)
    const before = await findPerformer(tx.query, id)
    if (before === undefined) throw new RequestError('not_found', { subject: `performer ${id}` })
    const after = await savePerformer(tx, { ...before, picture: await pictureAfter(tx, before) })
    await removeUnusedPictures(tx)
    const details = { fields: ['picture'] }
    await writeAudit(tx, { actor, action: 'performer.change', target: `performer ${id}`, result: 'ok', details })
    return after
  })
}
