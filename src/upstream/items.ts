/**
 * Parses a JSON list item by item in time slices. Items whose bytes are unchanged since the last read are not parsed
 * again, because comparing bytes is much cheaper.
 */

import {
  checkJson,
  findStringEnd,
  findValueEnd,
  JsonLimitError,
  type JsonLimits,
  skipSpace,
} from '../domain/json-limits.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'

export interface ItemList<Item> {
  readonly items: readonly Item[]
  /** The bytes and the position of each item, for comparison with the next read. */
  readonly trace: { readonly bytes: Buffer; readonly starts: readonly number[]; readonly ends: readonly number[] }
}

export interface ReadItemsOptions<Item> {
  /** The property that contains the list. The list may also be the top-level value. */
  readonly key: string
  /** `previous` is the result for the item at the same position in the last read. */
  readonly parse: (item: unknown, previous: Item | undefined) => Item
  /** The limits of each item, and of everything around the list. */
  readonly limits: JsonLimits
  readonly maxItems: number
  readonly previous?: ItemList<Item> | undefined
}

/**
 * Resolves with undefined if the bytes have another structure; the caller then uses `JSON.parse`. Throws a
 * JsonLimitError if they exceed a limit.
 */
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
 * The number of unchanged items between checks of the time slice, because reading the clock takes as long as comparing
 * several items.
 */
const unchangedPerCheck = 64

function* parseItems<Item>(
  bytes: Buffer,
  { key, parse, limits, maxItems, previous }: ReadItemsOptions<Item>,
): Generator<void, ItemList<Item> | undefined> {
  const first = findList(bytes, key, limits)
  if (first === undefined) return undefined
  const items: Item[] = []
  const starts: number[] = []
  const ends: number[] = []
  let offset = skipSpace(bytes, first)
  for (let isLast = bytes[offset] === closeBracket; !isLast; ) {
    const unchangedEnd = previous === undefined ? -1 : findUnchangedEnd(bytes, offset, previous, items.length)
    const end = unchangedEnd < 0 ? endOf(bytes, offset, limits) : unchangedEnd
    if (items.length === maxItems) throw new JsonLimitError(`more than ${maxItems} items`)
    const before = previous?.items[items.length]
    items.push(unchangedEnd < 0 ? parse(JSON.parse(bytes.toString('utf8', offset, end)), before) : (before as Item))
    starts.push(offset)
    ends.push(end)
    offset = skipSpace(bytes, end)
    isLast = bytes[offset] === closeBracket
    if (!isLast) offset = skipSpace(bytes, expect(bytes, offset, comma))
    if (unchangedEnd < 0 || items.length % unchangedPerCheck === 0) yield
  }
  // The text around the list must also be valid JSON, and must not contain the key a second time.
  const surroundingBytes = Buffer.concat([bytes.subarray(0, first), bytes.subarray(offset)])
  checkJson(surroundingBytes, limits)
  const surrounding = surroundingBytes.toString()
  if (surrounding.indexOf(`"${key}"`) !== surrounding.lastIndexOf(`"${key}"`)) return undefined
  JSON.parse(surrounding)
  return { items, trace: { bytes, starts, ends } }
}

/** Returns the end of the item at `offset` if it equals the previous item with this index; otherwise -1. */
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
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b

/** The list is among the first properties of its object. */
const maxKeysBefore = 100

/** Returns the offset after the bracket that opens the list. */
function findList(bytes: Buffer, key: string, limits: JsonLimits): number | undefined {
  let offset = skipSpace(bytes, 0)
  if (bytes[offset] === openBracket) return offset + 1
  if (bytes[offset] !== openBrace) return undefined
  const name = `"${key}"`
  for (let keys = 1; keys <= maxKeysBefore; keys += 1) {
    offset = skipSpace(bytes, offset + 1)
    if (bytes[offset] !== quote) return undefined
    const end = complete(findStringEnd(bytes, offset))
    const isMatch = bytes.toString('latin1', offset, end) === name
    offset = skipSpace(bytes, expect(bytes, skipSpace(bytes, end), colon))
    if (isMatch) return bytes[offset] === openBracket ? offset + 1 : undefined
    offset = skipSpace(bytes, endOf(bytes, offset, limits))
    if (bytes[offset] !== comma) return undefined
  }
  return undefined
}

/** JSON.parse validates the value. */
function endOf(bytes: Buffer, start: number, limits: JsonLimits): number {
  // The list and the object around it are two levels.
  return complete(findValueEnd(bytes, start, limits, { values: 0, depth: 2 }))
}

function complete(end: number): number {
  if (end < 0) throw new SyntaxError('unterminated value')
  return end
}

function expect(bytes: Buffer, offset: number, byte: number): number {
  if (bytes[offset] !== byte) throw new SyntaxError(`unexpected byte at offset ${offset}`)
  return offset + 1
}
