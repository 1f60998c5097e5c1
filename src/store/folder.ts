/** Making folders and files, and saying in words why that fails. */

import { randomBytes } from 'node:crypto'
import { constants, type FileHandle, lstat, mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Makes a folder that only its owner may enter, and those above it. Node's own recursive way never ends on /proc. */
export async function makeFolder(path: string): Promise<void> {
  // Where all above it is there and it still cannot be made, the system's own words say more than ours.
  await makeWithThoseAbove(path).catch((error) => {
    throw error.code === 'ENOENT' ? error : describeWriteError(path, error)
  })
}

async function makeWithThoseAbove(path: string): Promise<void> {
  try {
    await mkdirOwned(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeWithThoseAbove(dirname(path))
    await mkdirOwned(path).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again
    })
  }
}

async function mkdirOwned(path: string): Promise<void> {
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
 * Creates a file that only its owner can read; throws EEXIST where it exists. What root creates in the folder of another
 * user belongs to that user, so that a service under that user can read it. `process`: it belongs to whoever runs us.
 */
export async function createPrivateFile(path: string, owner: FileOwner = 'folder'): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600)
  if (owner === 'folder') await giveToFolderOwner(file, path)
  return file
}

export type FileOwner = 'folder' | 'process'

/** Through the handle, because whoever owns the folder can make the path lead to another file. */
async function giveToFolderOwner(file: FileHandle, path: string): Promise<void> {
  if (!(await hasOtherOwner(await file.stat(), path))) return
  const { uid, gid } = await stat(dirname(path))
  // Only root may, and not every file system has owners.
  await file.chown(uid, gid).catch(() => {})
}

async function hasOtherOwner({ uid }: { readonly uid: number }, path: string): Promise<boolean> {
  return uid !== (await stat(dirname(path))).uid
}

/** There is no file of this name, nor can there be: a folder it would be in is missing, or a file. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Why a file or folder cannot be made: under the name somebody asked for, which is not always the one that was tried, and
 * with what to mend. What is no matter of files is given back as it is.
 */
export function describeWriteError(path: string, error: unknown): unknown {
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? '']
  if (reason === undefined) return error
  return new Error(`${path} cannot be written: ${reason(dirname(path))}`, { cause: error })
}

const notAllowed = (folder: string) => `permission denied to this user; look who owns it, and the folder ${folder}`

const reasons: Readonly<Record<string, (folder: string) => string>> = {
  ENOENT: (folder) => `there is no folder ${folder}`,
  ENOTDIR: (folder) => `${folder} is no folder, or lies in a file`,
  EISDIR: () => 'it is a folder; name a file in it',
  EEXIST: () => 'it is there already',
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: () => 'its disk can only be read',
  ENOSPC: () => 'the disk is full',
}

/** Whether others than the owner can read a file; `unknown` on a file system without permissions. */
export type Exposure = 'private' | 'exposed' | 'unknown'

/** `probeMode`: the mode that a file created for its owner alone has in the same folder. */
export function judgeExposure(mode: number, probeMode: number): Exposure {
  if (!isOpenToOthers(mode)) return 'private'
  return isOpenToOthers(probeMode) ? 'unknown' : 'exposed'
}

/** Windows, FAT, exFAT and many network shares show the same mode for every file, whatever it was created with. */
export async function findExposure(path: string): Promise<Exposure> {
  const { mode } = await stat(path)
  return isOpenToOthers(mode) ? judgeExposure(mode, await probeMode(dirname(await realpath(path)))) : 'private'
}

function isOpenToOthers(mode: number): boolean {
  return (mode & 0o077) !== 0
}

/** Where nothing can be created the file system is taken for one with permissions. */
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
