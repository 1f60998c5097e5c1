/** Lists, stores and deletes the scenes of shows. */

import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { type Arranged, captureArrangement, type Scene, type StoredScene } from '../../domain/scenes/arrangement.ts'
import type { Show } from '../../domain/shows.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import { listAssignments, listPerformers } from '../../storage/hardware.ts'
import { nextRevision } from '../../storage/revision.ts'
import {
  deleteScene,
  findScene,
  findShow,
  insertScene,
  listScenes as readScenes,
  saveSceneTitle,
} from '../../storage/shows.ts'
import { listGroups } from '../../storage/slots.ts'
import { recordUndo, type Undoable, type UndoRecorder } from '../../storage/undo.ts'
import { listUnits } from '../../storage/units.ts'

export async function listScenes({ db }: Service, showId: number): Promise<readonly Scene[]> {
  await showOf(db.read, showId)
  return readScenes(db.read, showId)
}

export function getScene({ db }: Service, showId: number, id: number): Promise<StoredScene> {
  return sceneOf(db.read, showId, id)
}

/** Stores the present arrangement of a show as a scene. */
export function addScene(service: Service, actor: Actor, showId: number, title: string): Promise<Undoable<Scene>> {
  return editScene(service, actor, 'scene.create', async (tx, revision, undo) => {
    const show = await showOf(tx.query, showId)
    const arrangement = captureArrangement(show, await readArranged(service, tx.query))
    const fields = { show_id: showId, title, created_at: now(), by: actor.name, recalled_at: null, arrangement }
    const scene = await insertScene(tx, revision, fields)
    undo.added('scenes', scene.id)
    return scene
  })
}

export function renameScene(
  service: Service,
  actor: Actor,
  showId: number,
  id: number,
  title: string,
  requireVersion: RequireVersion<StoredScene>,
): Promise<Undoable<Scene>> {
  return editScene(service, actor, 'scene.change', async (tx, revision, undo) => {
    const before = await sceneOf(tx.query, showId, id)
    requireVersion(before, `scene ${id}`)
    const scene = { ...before, title }
    await undo.willChange('scenes', id)
    return { ...scene, version: await saveSceneTitle(tx, revision, scene) }
  })
}

export function removeScene(
  service: Service,
  actor: Actor,
  showId: number,
  id: number,
  requireVersion: RequireVersion<StoredScene>,
): Promise<Undoable<Scene>> {
  return editScene(service, actor, 'scene.delete', async (tx, revision, undo) => {
    const scene = await sceneOf(tx.query, showId, id)
    requireVersion(scene, `scene ${id}`)
    await undo.willChange('scenes', id)
    await deleteScene(tx, revision, scene)
    return scene
  })
}

async function editScene(
  service: Service,
  actor: Actor,
  action: AuditAction,
  edit: (tx: Tx, revision: number, undo: UndoRecorder) => Promise<Scene>,
): Promise<Undoable<Scene>> {
  const edited = await service.ingest.change(async (tx) => {
    const revision = await nextRevision(tx, 'shows')
    return recordUndo(tx, actor, action, async (undo) => {
      const scene = await edit(tx, revision, undo)
      const { id, show_id, title } = scene
      await writeAudit(tx, { actor, action, target: `scene ${id}`, result: 'ok', details: { show: show_id, title } })
      return scene
    })
  })
  await service.reload()
  return edited
}

/** Reads what arrangements are made of. */
export async function readArranged(service: Service, reader: Reader): Promise<Arranged> {
  return {
    receivers: service.receiverStore.listFacts(),
    placeholders: service.placeholderStore.list(),
    records: service.slotRecords.list(),
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
