/**
 * The clips and their files. A file gets its name when it is complete, and its row afterwards, so that an interruption
 * leaves files without rows, which are deleted later. Expired clips do not exist for readers, even before they are deleted.
 */

import { randomBytes } from 'node:crypto'
import { type FileHandle, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clip, expiryOf } from '../../domain/audio/clip.ts'
import { requiredFreeBytes } from '../../history/recorder.ts'
import type { EffectiveSettings } from '../../lists/effective-settings.ts'
import { now } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type ClipFilter, deleteClip, findClip, insertClip, listClips, saveClipEvents } from '../../storage/clips.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { createFolder, createPrivateFile, isMissing } from '../../storage/folder.ts'

interface Subsystems {
  readonly db: Database
  readonly settings: EffectiveSettings
  readonly log: Log
}

const cleanEveryMs = 3_600_000
/** Another process may be writing a file for this long. */
const orphanAfterMs = 120_000

export class ClipStore {
  readonly #folder: string
  readonly #subsystems: Subsystems
  #timer: NodeJS.Timeout | undefined

  constructor(dataFolder: string, subsystems: Subsystems) {
    this.#folder = join(dataFolder, 'clips')
    this.#subsystems = subsystems
  }

  /** Deletes expired clips now and every hour. */
  start(): void {
    void this.clean()
    this.#timer = setInterval(() => void this.clean(), cleanEveryMs)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async list(filter?: ClipFilter): Promise<readonly Clip[]> {
    return (await listClips(this.#subsystems.db.read, filter)).filter((clip) => !this.#isExpired(clip))
  }

  async find(id: number): Promise<Clip | undefined> {
    const clip = await findClip(this.#subsystems.db.read, id)
    return clip !== undefined && this.#isExpired(clip) ? undefined : clip
  }

  pathOf({ file }: Pick<Clip, 'file'>): string {
    return join(this.#folder, file)
  }

  /** True while twice the space is free at which the recording of levels pauses. */
  async hasSpace(): Promise<boolean> {
    await createFolder(this.#folder)
    const { bavail, blocks, bsize } = await statfs(this.#folder)
    return bavail * bsize >= 2 * requiredFreeBytes(blocks * bsize)
  }

  /** Opens a file that is not a clip yet. */
  async createFile(): Promise<{ readonly name: string; readonly handle: FileHandle }> {
    await createFolder(this.#folder)
    const name = `${randomBytes(8).toString('hex')}.part`
    return { name, handle: await createPrivateFile(join(this.#folder, name)) }
  }

  discardFile(name: string): Promise<void> {
    return rm(join(this.#folder, name), { force: true })
  }

  /** Stores a file that `createFile` has opened, and deletes the oldest clips beyond the limit. Null: it is too large. */
  async add(part: string, clip: Omit<Clip, 'id' | 'file'>): Promise<Clip | null> {
    const { db, settings, log } = this.#subsystems
    const maxBytes = settings.get(null).AUDIO_EVIDENCE_MAX_GB * 1e9
    if (clip.size > maxBytes) {
      log.warn(
        { bytes: clip.size, limit: maxBytes },
        'a clip was not kept, because it is larger than AUDIO_EVIDENCE_MAX_GB',
      )
      await this.discardFile(part)
      return null
    }
    await this.#makeRoom(maxBytes - clip.size)
    const file = part.replace(/\.part$/, '.wav')
    await rename(join(this.#folder, part), join(this.#folder, file))
    return db.transaction((tx) => insertClip(tx, { ...clip, file }))
  }

  async addEvent(id: number, eventId: number): Promise<void> {
    const { db } = this.#subsystems
    await db.transaction(async (tx) => {
      const clip = await findClip(tx.query, id)
      if (clip === undefined || clip.event_ids.includes(eventId)) return
      await saveClipEvents(tx, { id, event_ids: [...clip.event_ids, eventId] })
    })
  }

  /** Deletes rows first: a file without a row is never served. `audit` runs in the same transaction. */
  async remove(clips: readonly Clip[], audit: (tx: Tx) => Promise<void> = async () => {}): Promise<void> {
    await this.#subsystems.db.transaction(async (tx) => {
      for (const { id } of clips) await deleteClip(tx, id)
      await audit(tx)
    })
    for (const { file } of clips) await rm(join(this.#folder, file), { force: true })
  }

  /** Deletes what is expired, and files that belong to no clip. */
  async clean(): Promise<void> {
    const { db, log, settings } = this.#subsystems
    try {
      const clips = await listClips(db.read)
      const expired = clips.filter((clip) => this.#isExpired(clip))
      if (expired.length > 0) await this.remove(expired)
      await this.#makeRoom(settings.get(null).AUDIO_EVIDENCE_MAX_GB * 1e9)
      await this.#removeOrphans(new Set(clips.map(({ file }) => file)))
    } catch (error) {
      log.warn({ error: String(error) }, 'expired clips could not be deleted; they are not served')
    }
  }

  #isExpired(clip: Clip): boolean {
    return expiryOf(clip, this.#subsystems.settings.get(null).AUDIO_EVIDENCE_DAYS) <= now()
  }

  /** Deletes the oldest clips until the others need at most `maxBytes`. */
  async #makeRoom(maxBytes: number): Promise<void> {
    const clips = await listClips(this.#subsystems.db.read)
    let bytes = 0
    const kept = clips.findIndex(({ size }) => {
      bytes += size
      return bytes > maxBytes
    })
    if (kept >= 0) await this.remove(clips.slice(kept))
  }

  async #removeOrphans(known: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch((error) => {
      if (isMissing(error)) return []
      throw error
    })
    for (const name of names.filter((each) => !known.has(each))) {
      const path = join(this.#folder, name)
      const { mtimeMs } = await stat(path)
      if (Date.now() - mtimeMs > orphanAfterMs) await rm(path, { force: true })
    }
  }
}
