/** Making folders and files, and saying in words why that fails. */

import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder that only its owner may enter, and those above it. Node's own recursive way never ends on /proc. */
export async function makeFolder(path: string): Promise<void> {
  // Where all above it is there and it still cannot be made, the system's own words say more than ours.
  await makeWithThoseAbove(path).catch((error) => {
    throw error.code === 'ENOENT' ? error : notWritable(path, error)
  })
}

async function makeWithThoseAbove(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeWithThoseAbove(dirname(path))
    await mkdir(path, 0o700).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again
    })
  }
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
export function notWritable(path: string, error: unknown): unknown {
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
