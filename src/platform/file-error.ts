/** Describes why a file or folder cannot be used, and what to do. */

import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The message names the file, the reason and the remedy. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly path: string

  constructor(path: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.path = path
  }
}

/**
 * Describes why a file or folder cannot be created or written. `path` is the requested path, which may differ from the
 * path in the error. Errors of neither the file system nor SQLite's files are returned unchanged.
 */
export function describeWriteError(path: string, error: unknown): unknown {
  return describe(path, error, 'written', { ENOENT: `the folder ${dirname(path)} does not exist; create it first` })
}

export function describeReadError(path: string, error: unknown): unknown {
  if (codeOf(error) === 'ENOENT') return new FileError(path, `${path} does not exist; check the path`, { cause: error })
  return describe(path, error, 'read', {})
}

function describe(path: string, error: unknown, use: string, reasons: Readonly<Record<string, string>>): unknown {
  if (error instanceof FileError) return error
  const code = codeOf(error)
  const reason = reasons[code] ?? commonReasons[code]?.(path)
  return reason === undefined ? error : new FileError(path, `${path} cannot be ${use}: ${reason}`, { cause: error })
}

/** Returns the code of a file system error, or the one that corresponds to an error of SQLite. */
function codeOf(error: unknown): string {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: number }
  if (errcode !== undefined) return sqliteCodes.get(errcode & 0xff) ?? ''
  return typeof code === 'string' ? code : ''
}

/** https://www.sqlite.org/rescode.html */
const sqliteCodes = new Map([
  [8, 'EROFS'],
  [10, 'EIO'],
  [13, 'ENOSPC'],
])

const commonReasons: Readonly<Record<string, (path: string) => string>> = {
  ENOTDIR: (path) => `${dirname(path)} is not a folder; specify another path`,
  EISDIR: () => 'it is a folder; specify a file in it',
  EEXIST: () => 'it already exists',
  EACCES: denyAccess,
  EPERM: denyAccess,
  EROFS: () => 'the file system is read-only; make it writable, or specify another path',
  ENOSPC: () => 'the disk is full; free some space, or specify another path',
  EDQUOT: () => 'the disk quota of this user is used up; free some space, or specify another path',
  EIO: () => 'the disk reports an error; see the system log',
}

function denyAccess(path: string): string {
  const owned = findOwned(path)
  return `permission denied; ${owned.path} belongs to user ${owned.uid}: run this as that user, or change its owner or permissions`
}

/** Returns the file, or the nearest of its folders that can be inspected, with its owner. */
function findOwned(path: string): { readonly path: string; readonly uid: number } {
  try {
    return { path, uid: statSync(path).uid }
  } catch (error) {
    if (dirname(path) === path) throw error
    return findOwned(dirname(path))
  }
}
