/**
 * Finds damage in SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat). SQLite itself reads the
 * log up to the first frame with a wrong checksum and drops the rest without an error. That is correct for a frame that
 * was being written when the process ended, but not for frames that were complete.
 */

import { type FileHandle, open } from 'node:fs/promises'
import { isMissing } from './folder.ts'

export interface SyncedLog {
  /** From the log's header; they change every time the log is restarted. */
  readonly salts: Buffer
  readonly frames: number
}

interface LogHeader {
  readonly pageSize: number
  readonly isBigEndian: boolean
  readonly salts: Buffer
  readonly checksum: Checksum
}

type Checksum = readonly [number, number]

export const logHeaderBytes = 32
const frameHeaderBytes = 24
const saltBytes = 8
const formatVersion = 3_007_000
const magic = 0x377f0682
const chunkBytes = 4 * 1024 * 1024

/** Returns null if the log is complete or missing, or ends with an unfinished write. No process may be writing. */
export async function findLogDamage(path: string): Promise<string | null> {
  const file = await openIfExists(logFile(path))
  if (file === null) return null
  try {
    const { size } = await file.stat()
    if (size <= logHeaderBytes) return null
    const header = parseHeader(await readBytes(file, 0, logHeaderBytes))
    if (header === null) return 'the header of its log is damaged'
    const found = await readFrames(file, size, header)
    const synced = await readSynced(path)
    const isCountValid = synced?.salts.equals(header.salts) === true
    const expected = isCountValid ? synced.frames : found.lastCommit
    // Without a synced count, the last frame may be an unfinished write.
    const isComplete = found.committed >= expected || (!isCountValid && found.lastCommit <= found.valid + 1)
    return isComplete ? null : `its log can be read up to frame ${found.committed} of ${expected}`
  } finally {
    await file.close()
  }
}

export function logFile(path: string): string {
  return `${path}-wal`
}

/** The file that records how much of the log is synced. It is small enough to be written atomically. */
export function syncedFile(path: string): string {
  return `${path}-synced`
}

export function formatSynced({ salts, frames }: SyncedLog): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(frames)
  return Buffer.concat([salts, count])
}

async function readSynced(path: string): Promise<SyncedLog | null> {
  const file = await openIfExists(syncedFile(path))
  if (file === null) return null
  try {
    const bytes = await readBytes(file, 0, saltBytes + 4)
    if (bytes.length < saltBytes + 4) return null
    return { salts: bytes.subarray(0, saltBytes), frames: bytes.readUInt32BE(saltBytes) }
  } finally {
    await file.close()
  }
}

async function openIfExists(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

export function saltsOf(header: Buffer): Buffer {
  return header.subarray(16, 16 + saltBytes)
}

function parseHeader(bytes: Buffer): LogHeader | null {
  const kind = bytes.readUInt32BE(0)
  const pageSize = bytes.readUInt32BE(8)
  const isBigEndian = kind === magic + 1
  if (kind !== magic && !isBigEndian) return null
  if (bytes.readUInt32BE(4) !== formatVersion || pageSize < 512 || pageSize > 65_536) return null
  const checksum = addToChecksum([0, 0], bytes.subarray(0, 24), isBigEndian)
  if (!isChecksum(bytes, 24, checksum)) return null
  return { pageSize, isBigEndian, salts: saltsOf(bytes), checksum }
}

interface Frames {
  /** Number of frames before the first invalid one. */
  readonly valid: number
  /** The number of valid frames up to and including the last commit. */
  readonly committed: number
  /** The last commit frame since the log was restarted, valid or not. A rolled-back transaction has no commit frame. */
  readonly lastCommit: number
}

async function readFrames(file: FileHandle, size: number, header: LogHeader): Promise<Frames> {
  const frameBytes = frameHeaderBytes + header.pageSize
  const framesAtOnce = Math.max(1, Math.floor(chunkBytes / frameBytes))
  const total = Math.floor((size - logHeaderBytes) / frameBytes)
  let { checksum } = header
  let found: Frames = { valid: 0, committed: 0, lastCommit: 0 }
  for (let first = 0; first < total; first += framesAtOnce) {
    const count = Math.min(framesAtOnce, total - first)
    const bytes = await readBytes(file, logHeaderBytes + first * frameBytes, count * frameBytes)
    for (let offset = 0; offset < count; offset += 1) {
      const number = first + offset + 1
      const frame = bytes.subarray(offset * frameBytes, (offset + 1) * frameBytes)
      if (!frame.subarray(8, 8 + saltBytes).equals(header.salts)) continue
      const isCommit = frame.readUInt32BE(4) !== 0
      if (isCommit) found = { ...found, lastCommit: number }
      if (found.valid !== number - 1) continue
      const next = addToChecksum(
        addToChecksum(checksum, frame.subarray(0, 8), header.isBigEndian),
        frame.subarray(frameHeaderBytes),
        header.isBigEndian,
      )
      if (!isChecksum(frame, 16, next)) continue
      checksum = next
      found = { ...found, valid: number, committed: isCommit ? number : found.committed }
    }
  }
  return found
}

function isChecksum(bytes: Buffer, offset: number, [first, second]: Checksum): boolean {
  return bytes.readUInt32BE(offset) === first && bytes.readUInt32BE(offset + 4) === second
}

function addToChecksum(before: Checksum, bytes: Buffer, isBigEndian: boolean): Checksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let [first, second] = before
  for (let offset = 0; offset < bytes.byteLength; offset += 8) {
    first = (first + view.getUint32(offset, !isBigEndian) + second) >>> 0
    second = (second + view.getUint32(offset + 4, !isBigEndian) + first) >>> 0
  }
  return [first, second]
}
