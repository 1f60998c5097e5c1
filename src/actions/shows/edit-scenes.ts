/** Lists, stores and deletes the scenes of shows. */

import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { type Arranged, captureArrangement, type Scene, type StoredScene } from '../../domain/scenes/arrangement.ts'
import type { Show } from '../../domain/shows.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { PlaceholderStore } from '../../ingest/placeholder-store.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Database, Reader, Tx } from '../../storage/database.ts'
import { listGroups } from '../../storage/groups.ts'
import { listAssignments, listPerformers } from '../../storage/hardware.ts'
import { nextRevision } from '../../storage/revision.ts'
import { deleteScene, findScene, insertScene, listScenes as readScenes } from '../../storage/scenes.ts'
import { findShow } from '../../storage/shows.ts'
import { listUnits } from '../../storage/units.ts'

export interface SceneDeps {
  readonly db: Pick<Database, 'read'>
  readonly ingest: Pick<Ingest, 'change'>
  readonly receiverStore: Pick<ReceiverStore, 'listFacts'>
  readonly placeholderStore: Pick<PlaceholderStore, 'list'>
  /** Loads the stored changes immediately. */
  reload(): Promise<void>
  now(): number
}

export async function listScenes({ db }: SceneDeps, showId: number): Promise<readonly Scene[]> {
  await showOf(db.read, showId)
  return readScenes(db.read, showId)
}

export function getScene({ db }: SceneDeps, showId: number, id: number): Promise<StoredScene> {
  return sceneOf(db.read, showId, id)
}

/** Stores the present arrangement of a show as a scene. */
export async function addScene(deps: SceneDeps, actor: Actor, showId: number, title: string): Promise<Scene> {
  const { ingest, reload, now } = deps
  const scene = await ingest.change(async (tx) => {
    const revision = await nextRevision(tx, 'shows')
    const show = await showOf(tx.query, showId)
    const arrangement = captureArrangement(show, await readArranged(deps, tx.query))
    const fields = { show_id: showId, title, created_at: now(), by: actor.name, recalled_at: null, arrangement }
    const inserted = await insertScene(tx, revision, fields)
    await audit(tx, actor, 'scene.create', inserted)
    return inserted
  })
  await reload()
  return scene
}

export async function removeScene({ ingest, reload }: SceneDeps, actor: Actor, showId: number, id: number) {
  await ingest.change(async (tx) => {
    const revision = await nextRevision(tx, 'shows')
    const scene = await sceneOf(tx.query, showId, id)
    await deleteScene(tx, revision, scene)
    await audit(tx, actor, 'scene.delete', scene)
  })
  await reload()
}

/** Reads what arrangements are made of. */
export async function readArranged({ receiverStore, placeholderStore }: SceneDeps, reader: Reader): Promise<Arranged> {
  return {
    receivers: receiverStore.listFacts(),
    placeholders: placeholderStore.list(),
    groups: await listGroups(reader),
    performers: await listPerformers(reader),
    units: await listUnits(reader),
    assignments: await listAssignments(reader, { is_active: true }),
  }
}

export async function sceneOf(reader: Reader, showId: number, id: number): Promise<StoredScene> {
  const scene = await findScene(reader, showId, id)
  if (scene !== undefined) return scene
  await showOf(reader, showId)
  throw new RequestError('not_found', { subject: `scene ${id} of show ${showId}` })
}

async function showOf(reader: Reader, id: number): Promise<Show> {
  const show = await findShow(reader, id)
  if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
  return show
}

function audit(tx: Tx, actor: Actor, action: AuditAction, { id, show_id, title }: Scene): Promise<void> {
  return writeAudit(tx, { actor, action, target: `scene ${id}`, result: 'ok', details: { show: show_id, title } })
}
