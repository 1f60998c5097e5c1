/** Checks of the machine: the data folder and the disk. */

import { constants, type Stats } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { platform, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { requiredFreeBytes } from '../../history/recorder.ts'
import { isMissing } from '../../storage/folder.ts'
import { type Finding, failed, passed, undetermined } from './check.ts'

/** Checks that the data folder exists, belongs to one user, is writable, and is not readable by other users. */
export async function checkDataFolder({ data_dir }: Config): Promise<Finding> {
  const path = resolve(data_dir)
  const folder = await statOrNull(path)
  if (folder === null) return checkMissingFolder(path)
  if (!folder.isDirectory()) return failed(`${path} is not a folder. Specify another one with --data-dir.`)
  if (platform() === 'win32') return passed(`${path} exists. Permissions are not checked on Windows.`)
  const isOwner = folder.uid === userInfo().uid
  const files = await listFiles(path).catch(() => null)
  if (files === null) return undetermined(`${path} cannot be read by this user. ${runAsOwner(folder)}`)
  const foreign = files.find(({ stats }) => stats.uid !== folder.uid)
  if (foreign !== undefined) {
    return failed(
      `${foreign.path} does not belong to the owner of its folder, so the service may not be able to use it. ` +
        `Run: chown -R ${folder.uid}:${folder.gid} ${path}`,
    )
  }
  const exposed = files.filter(({ stats }) => isExposed(stats))
  // A file system without permissions reports the same mode for all files.
  if (exposed.length > 0 && exposed.length === files.length && isExposed(folder))
    return undetermined(
      `Other users can read every file in ${path}. If the file system has no permissions, move the folder to one that does; otherwise run: chmod -R go= ${path}`,
    )
  const [first] = exposed
  if (first !== undefined) return failed(`Other users can read ${first.path}. Run: chmod go= ${first.path}`)
  if (await isWritable(path)) return passed(`${path} belongs to user ${folder.uid} and can be written.`)
  if (!isOwner) return undetermined(`${path} cannot be written by this user. ${runAsOwner(folder)}`)
  return failed(`${path} cannot be written. Check its permissions, and that the file system is not read-only.`)
}

/** The first start creates a missing folder, if possible. */
async function checkMissingFolder(path: string): Promise<Finding> {
  const parent = await nearestFolder(path)
  const hint = 'If the service has run before, specify its folder with --config or --data-dir.'
  if (await isWritable(parent)) return undetermined(`${path} does not exist yet; the first start creates it. ${hint}`)
  return failed(`${path} does not exist, and this user cannot create it in ${parent}. ${hint}`)
}

function runAsOwner({ uid }: Stats): string {
  return `Run this command as its owner, for example: sudo -u '#${uid}' micwatch doctor`
}

function isExposed({ mode }: Stats): boolean {
  return (mode & 0o077) !== 0
}

/** Includes subfolders such as `snapshots`. */
async function listFiles(folder: string): Promise<{ readonly path: string; readonly stats: Stats }[]> {
  const names = await readdir(folder, { recursive: true })
  const found = await Promise.all(
    names.map(async (name) => {
      const stats = await statOrNull(join(folder, name))
      return stats?.isFile() ? [{ path: join(folder, name), stats }] : []
    }),
  )
  return found.flat()
}

/** Recording levels requires more free space than anything else. */
export async function checkDisk({ data_dir }: Config): Promise<Finding> {
  const folder = await nearestFolder(resolve(data_dir))
  const { bavail, blocks, bsize } = await statfs(folder)
  const [free, required] = [bavail * bsize, requiredFreeBytes(blocks * bsize)]
  const space = `${toGigabytes(free)} GB are free on the disk of ${folder}`
  if (free >= required) return passed(`${space}.`)
  return failed(
    `${space}; levels are only recorded with ${toGigabytes(required)} GB. Delete other files, move the data folder, or lower HISTORY_MAX_GB in the settings.`,
  )
}

function toGigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1)
}

/** Returns the path, or its nearest parent that exists. */
async function nearestFolder(path: string): Promise<string> {
  if ((await statOrNull(path)) !== null || dirname(path) === path) return path
  return nearestFolder(dirname(path))
}

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
}
