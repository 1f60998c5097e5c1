/**
 * Parses a JSON list item by item in time slices. An item whose bytes are unchanged since the last read is not parsed
 * again, because comparing bytes is much cheaper.
 */

import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'

/** The result of reading a list. */
export interface ItemList<Item> {
  readonly items: readonly Item[]
  /** The bytes and the position of each item, for comparison with the next read. */
  readonly trace: { readonly bytes: Buffer; readonly starts: readonly number[]; readonly ends: readonly number[] }
}

export interface ReadItemsOptions<Item> {
  /** The property that contains the list. The list may also be the top-level value. */
  readonly key: string
  /** `previous` is the result for the item that had the same position in the last read. */
  readonly parse: (item: unknown, previous: Item | undefined) => Item
  readonly maxDepth: number
  readonly previous?: ItemList<Item> | undefined
}

/** Parses the list. Resolves with undefined if the bytes have another structure; the caller then uses `JSON.parse`. */
export async function readItems<Item>(
  bytes: Buffer,
  options: ReadItemsOptions<Item>,
): Promise<ItemList<Item> | undefined> {
  try {
    const reading = parseItems(bytes, options)
    for (;;) {
      const { done, value } = reading.next()
      if (done) return value
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * How many unchanged items are handled before the time slice is checked, because reading the clock takes as long as
 * comparing several items.
 */
const unchangedPerCheck = 64

function* parseItems<Item>(
  bytes: Buffer,
  { key, parse, maxDepth, previous }: ReadItemsOptions<Item>,
): Generator<void, ItemList<Item> | undefined> {
  const first = findList(bytes, key, maxDepth)
  if (first === undefined) return undefined
  const items: Item[] = []
  const starts: number[] = []
  const ends: number[] = []
  let offset = skipSpace(bytes, first)
  for (let isLast = bytes[offset] === closeBracket; !isLast; ) {
    const unchangedEnd = previous === undefined ? -1 : findUnchangedEnd(bytes, offset, previous, items.length)
    const end = unchangedEnd < 0 ? findValueEnd(bytes, offset, maxDepth) : unchangedEnd
    const before = previous?.items[items.length]
    items.push(unchangedEnd < 0 ? parse(JSON.parse(bytes.toString('utf8', offset, end)), before) : (before as Item))
    starts.push(offset)
    ends.push(end)
    offset = skipSpace(bytes, end)
    isLast = bytes[offset] === closeBracket
    if (!isLast) offset = skipSpace(bytes, expect(bytes, offset, comma))
    if (unchangedEnd < 0 || items.length % unchangedPerCheck === 0) yield
  }
  // The text around the list must be valid JSON as well, and must not contain the key a second time.
  const surrounding = `${bytes.toString('utf8', 0, first)}${bytes.toString('utf8', offset)}`
  if (surrounding.indexOf(`"${key}"`) !== surrounding.lastIndexOf(`"${key}"`)) return undefined
  JSON.parse(surrounding)
  return { items, trace: { bytes, starts, ends } }
}

/** Returns the end of the item at `offset` if it is identical to the previous item with this index; otherwise -1. */
function findUnchangedEnd(bytes: Buffer, offset: number, { trace }: ItemList<unknown>, index: number): number {
  const start = trace.starts[index]
  const end = trace.ends[index]
  // Only objects are compared, because they have a closing character; a number such as 12 could continue as 123.
  if (start === undefined || end === undefined || trace.bytes[start] !== openBrace) return -1
  const newEnd = offset + end - start
  return newEnd <= bytes.length && bytes.compare(trace.bytes, start, end, offset, newEnd) === 0 ? newEnd : -1
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Returns the offset after the bracket that opens the list. */
function findList(bytes: Buffer, key: string, maxDepth: number): number | undefined {
  let offset = skipSpace(bytes, 0)
  if (bytes[offset] === openBracket) return offset + 1
  if (bytes[offset] !== openBrace) return undefined
  const name = `"${key}"`
  for (offset = skipSpace(bytes, offset + 1); bytes[offset] === quote; offset = skipSpace(bytes, offset + 1)) {
    const end = findStringEnd(bytes, offset)
    const isMatch = bytes.toString('latin1', offset, end) === name
    offset = skipSpace(bytes, expect(bytes, skipSpace(bytes, end), colon))
    if (isMatch) return bytes[offset] === openBracket ? offset + 1 : undefined
    offset = skipSpace(bytes, findValueEnd(bytes, offset, maxDepth))
    if (bytes[offset] !== comma) return undefined
  }
  return undefined
}

/** Finds the end of a value without validating it; JSON.parse does that. */
function findValueEnd(bytes: Buffer, start: number, maxDepth: number): number {
  let depth = 0
  for (let offset = start; offset < bytes.length; ) {
    const byte = bytes[offset]
    if (byte === quote) {
      offset = findStringEnd(bytes, offset)
      if (depth === 0) return offset
      continue
    }
    if (byte === openBrace || byte === openBracket) {
      depth += 1
      // `depth` does not include the list and the object around it, which are two more levels.
      if (depth > maxDepth - 2) break
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return offset
      depth -= 1
      if (depth === 0) return offset + 1
    } else if (depth === 0 && (byte === comma || isSpace(byte))) return offset
    offset += 1
  }
  throw new SyntaxError('unterminated value')
}

function findStringEnd(bytes: Buffer, start: number): number {
  for (let offset = start + 1; offset < bytes.length; offset += 1) {
    const byte = bytes[offset]
    if (byte === quote) return offset + 1
    if (byte === backslash) offset += 1
  }
  throw new SyntaxError('unterminated string')
}

function skipSpace(bytes: Buffer, start: number): number {
  let offset = start
  while (isSpace(bytes[offset])) offset += 1
  return offset
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function expect(bytes: Buffer, offset: number, byte: number): number {
  if (bytes[offset] !== byte) throw new SyntaxError(`unexpected byte at offset ${offset}`)
  return offset + 1
}
