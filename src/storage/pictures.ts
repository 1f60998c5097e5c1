/** Pictures, each stored once under a digest of its content. */

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Performer } from '../contract/performers.ts'
import {
  maxPictureBytes,
  maxPictureTextChars,
  type Picture,
  picturePath,
  pictureTypeOf,
} from '../domain/equipment/picture.ts'
import type { Reader, Tx } from './database.ts'

export async function findPicture(reader: Reader, id: string): Promise<Picture | undefined> {
  return reader.selectFrom('pictures').select(['type', 'bytes']).where('id', '=', id).executeTakeFirst()
}

/**
 * Prevents other transactions from storing or removing pictures. Must be called before the transaction writes
 * performers, so that it never waits for a transaction that waits for it.
 */
export async function lockPictures(tx: Tx): Promise<void> {
  // On SQLite, only one transaction writes at a time.
  if (tx.dialect === 'postgres') await sql`lock table pictures in share row exclusive mode`.execute(tx.query)
}

export async function savePicture(tx: Tx, { type, bytes }: Picture): Promise<string> {
  const id = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
  await tx.query
    .insertInto('pictures')
    .values({ id, type, bytes })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return picturePath(id)
}

/** Returns the address of the stored picture, other text unchanged, and undefined for text that is too long. */
export async function savePictureText(tx: Tx, text: string): Promise<string | undefined> {
  const [, base64] = /^data:[^,]*;base64,([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (base64 !== undefined) {
    const bytes = Buffer.from(base64, 'base64')
    const type = pictureTypeOf(bytes)
    if (type !== null && bytes.length <= maxPictureBytes) return savePicture(tx, { type, bytes })
  }
  return text.length <= maxPictureTextChars ? text : undefined
}

/** Removes pictures that no performer and no plan has, unless an undo can restore them. */
export async function removeUnusedPictures(tx: Tx): Promise<void> {
  await sql`delete from pictures where ${picturePath('')} || id not in (
    select picture from performers where picture is not null)
    and not exists (select 1 from undo_records where changes like '%' || pictures.id || '%')
    and not exists (select 1 from planning_center_services where plan like '%' || pictures.id || '%')`.execute(tx.query)
}

export async function embedPictures(reader: Reader, performers: readonly Performer[]): Promise<Performer[]> {
  const embedded: Performer[] = []
  for (const performer of performers) {
    const id = performer.picture?.startsWith(picturePath('')) ? performer.picture.slice(picturePath('').length) : null
    const picture = id === null ? undefined : await findPicture(reader, id)
    embedded.push(picture === undefined ? performer : { ...performer, picture: toDataUrl(picture) })
  }
  return embedded
}

function toDataUrl({ type, bytes }: Picture): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`
}
