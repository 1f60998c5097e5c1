import { expect, test } from 'vitest'
import { describeReadError, describeWriteError, FileError } from './file-error.ts'

test.each([
  [{ code: 'ENOENT' }, '/nowhere/a cannot be written: the folder /nowhere does not exist; create it first'],
  [{ code: 'EROFS' }, '/nowhere/a cannot be written: the file system is read-only; make it writable'],
  [{ code: 'ENOSPC' }, '/nowhere/a cannot be written: the disk is full; free some space'],
  [{ code: 'EDQUOT' }, '/nowhere/a cannot be written: the disk quota of this user is used up; free some space'],
  [{ code: 'EACCES' }, '/nowhere/a cannot be written: permission denied; / belongs to user 0: run this as that user'],
  // SQLite's code for a full disk, with an extended code.
  [{ code: 'ERR_SQLITE_ERROR', errcode: 13 | (1 << 8) }, '/nowhere/a cannot be written: the disk is full'],
])('describeWriteError names the path, the reason and the remedy of %j', (error, message) => {
  const described = describeWriteError('/nowhere/a', Object.assign(new Error('x'), error)) as Error
  expect(described).toBeInstanceOf(FileError)
  expect(described.message.slice(0, message.length)).toBe(message)
})

test('errors that are described already, or are not about files, stay as they are', () => {
  const described = describeReadError('/a', Object.assign(new Error('x'), { code: 'ENOENT' })) as Error
  expect(described.message).toBe('/a does not exist; check the path')
  expect(describeWriteError('/b', described)).toBe(described)
  const other = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
  expect(describeReadError('/a', other)).toBe(other)
})
