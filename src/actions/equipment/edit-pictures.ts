/** Stores and removes the pictures of performers. */

import { type Performer, pictureText } from '../../contract/performers.ts'
import type { Actor } from '../../domain/access/access.ts'
import { pictureTypeOf } from '../../domain/equipment/picture.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { findPerformer, savePerformer } from '../../storage/hardware.ts'
import { lockPictures, removeUnusedPictures, savePicture, savePictureText } from '../../storage/pictures.ts'

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
    const after = { ...before, picture: await pictureAfter(tx, before) }
    await savePerformer(tx, after)
    await removeUnusedPictures(tx)
    const details = { fields: ['picture'] }
    await writeAudit(tx, { actor, action: 'performer.change', target: `performer ${id}`, result: 'ok', details })
    return after
  })
}
