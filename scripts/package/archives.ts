/** Writes the archives of packages: `ar` (the container of a deb), tar and zip. The output is reproducible. */

import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'

export const tarGz = (folder: string, entries: readonly string[], date: Date) => tar(folder, entries, date, 'gzip -n')

/** The result depends on the size of the blocks, but not on the number of processors. */
export const tarXz = (folder: string, entries: readonly string[], date: Date) =>
  tar(folder, entries, date, 'xz --threads=4 --block-size=16MiB')

/**
 * Packs the entries of a folder with GNU tar, owned by root and readable by all users, whatever the umask. All files
 * have the time `date`.
 */
function tar(folder: string, entries: readonly string[], date: Date, compressor: string): Buffer {
  const owner = ['--owner=root:0', '--group=root:0', '--numeric-owner', '--mode=u=rwX,go=rX']
  const args = [
    '--create',
    `--use-compress-program=${compressor}`,
    '--sort=name',
    `--mtime=@${date.getTime() / 1000}`,
    ...owner,
    '--directory',
    folder,
    ...entries,
  ]
  return execFileSync('tar', args, { maxBuffer: 1024 ** 3 })
}

/** The common `ar` format: a header of 60 characters for each file, and even offsets. */
export function ar(files: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  const parts = files.flatMap(([name, content]) => {
    const fields = [name.padEnd(16), '0'.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)]
    const header = Buffer.from(`${fields.join('')}${String(content.length).padEnd(10)}\`\n`)
    return [header, content, Buffer.alloc(content.length % 2, '\n')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}

/**
 * Packs a folder; its name is the first part of all paths. Files are readable by all users, whatever the umask, and
 * programs stay executable. Links are not supported. All files have the time `date`, in UTC.
 */
export function zip(parent: string, name: string, date: Date): Buffer {
  const locals: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const path of listFiles(parent, name)) {
    const content = readFileSync(join(parent, path))
    const packed = deflateRawSync(content, { level: 9 })
    const fileName = Buffer.from(path)
    const fields = Buffer.alloc(26)
    // Version 2.0, UTF-8 names, deflate, the time in steps of two seconds, the day.
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(0x0800, 2)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt16LE((date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1), 6)
    fields.writeUInt16LE(((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(), 8)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(content.length, 18)
    fields.writeUInt16LE(fileName.length, 22)
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), fields, fileName, packed)
    const attributes = Buffer.alloc(14)
    const isProgram = (lstatSync(join(parent, path)).mode & 0o111) !== 0
    attributes.writeUInt32LE(((isProgram ? 0o100755 : 0o100644) << 16) >>> 0, 6)
    attributes.writeUInt32LE(offset, 10)
    // Marked as made by Unix, so that the modes are kept.
    entries.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), fields, attributes, fileName)
    offset += 4 + fields.length + fileName.length + packed.length
  }
  const directory = Buffer.concat(entries)
  const count = entries.length / 4
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

/** Returns the paths of all files, with slashes, in a fixed order. */
function listFiles(parent: string, path: string): string[] {
  const stats = lstatSync(join(parent, path))
  if (stats.isSymbolicLink()) throw new Error(`${path} is a link to ${readlinkSync(join(parent, path))}`)
  if (!stats.isDirectory()) return [path]
  const names = readdirSync(join(parent, path)).sort()
  return names.flatMap((name) => listFiles(parent, `${path}/${name}`))
}
