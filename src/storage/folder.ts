/** Creates private folders and files. */

import { randomBytes } from 'node:crypto'
import { constants, type FileHandle, lstat, mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeWriteError, FileError } from '../platform/file-error.ts'

/** Creates missing parents one by one, because Node's `recursive` option hangs on /proc. */
export async function createFolder(path: string): Promise<void> {
  await createWithParents(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw describeWriteError(path, error)
    // Missing parents are created, so ENOENT has another cause here.
    const parent = dirname(error.path ?? path)
    throw new FileError(
      path,
      `${path} cannot be created: no folder can be created in ${parent}; specify another path`,
      {
        cause: error,
      },
    )
  })
  if (!(await stat(path)).isDirectory()) throw new FileError(path, `${path} is not a folder; specify another path`)
}

async function createWithParents(path: string): Promise<void> {
  try {
    await createOwnedFolder(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await createWithParents(dirname(path))
    await createOwnedFolder(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function createOwnedFolder(path: string): Promise<void> {
  await mkdir(path, 0o700)
  if (!(await hasOtherOwner(await lstat(path), path))) return
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    await giveToFolderOwner(folder, path)
  } finally {
    await folder.close()
  }
}

/**
 * Throws EEXIST if the file exists. With the owner `folder`, a file that root creates in another user's folder belongs
 * to that user, so that a service running as that user can read it.
 */
export async function createPrivateFile(path: string, owner: FileOwner = 'folder'): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600)
  if (owner === 'folder') await giveToFolderOwner(file, path)
  return file
}

export type FileOwner = 'folder' | 'process'

/** Uses the handle, because the folder's owner could replace the path with a link to another file. */
async function giveToFolderOwner(file: FileHandle, path: string): Promise<void> {
  if (!(await hasOtherOwner(await file.stat(), path))) return
  const { uid, gid } = await stat(dirname(path))
  // Only root may change owners, and some file systems do not support them.
  await file.chown(uid, gid).catch(() => {})
}

async function hasOtherOwner({ uid }: { readonly uid: number }, path: string): Promise<boolean> {
  return uid !== (await stat(dirname(path))).uid
}

/** Also true if a parent folder is missing or is a file. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** `exposed`: users other than the owner can read the file. `unknown`: the file system has no permissions. */
export type Exposure = 'private' | 'exposed' | 'unknown'

/** Derives the exposure from the file's mode. `probeMode` is the mode of a new private file in the same folder. */
export function toExposure(mode: number, probeMode: number): Exposure {
  if (!isReadableByOthers(mode)) return 'private'
  return isReadableByOthers(probeMode) ? 'unknown' : 'exposed'
}

/**
 * Compares the mode with that of a new private file, because Windows, FAT, exFAT and many network shares report the
 * same mode for every file.
 */
export async function findExposure(path: string): Promise<Exposure> {
  const { mode } = await stat(path)
  return isReadableByOthers(mode) ? toExposure(mode, await probeMode(dirname(await realpath(path)))) : 'private'
}

function isReadableByOthers(mode: number): boolean {
  return (mode & 0o077) !== 0
}

/** Without one, the file system is assumed to support permissions. */
async function probeMode(folder: string): Promise<number> {
  const probe = join(folder, `.micwatch-${randomBytes(6).toString('hex')}`)
  try {
    await (await createPrivateFile(probe)).close()
    return (await stat(probe)).mode
  } catch {
    return 0o600
  } finally {
    await rm(probe, { force: true })
  }
}
