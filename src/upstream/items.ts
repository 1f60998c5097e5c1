/**
 * A JSON list read item by item, a few at a time. What stands in it as it stood the last time, byte for byte, is not
 * parsed again: comparing is far cheaper.
 */

import { isTimeSliceUsed, yieldToEventLoop } from '../time-slice.ts'

/** A list as it was read. */
export interface ItemList<Item> {
  readonly items: readonly Item[]
  /** Where they stood, for the next reading to compare with. */
  readonly trace: { readonly bytes: Buffer; readonly starts: readonly number[]; readonly ends: readonly number[] }
}

export interface ReadItemsOptions<Item> {
  /** The member that holds the list; the list may also stand alone. */
  readonly key: string
  readonly parse: (item: unknown) => Item
  readonly maxDepth: number
  readonly before?: ItemList<Item> | undefined
}

/** Undefined where the bytes hold no such list, or none that is worth reading this way: then JSON.parse has the word. */
export async function readItems<Item>(
  bytes: Buffer,
  options: ReadItemsOptions<Item>,
): Promise<ItemList<Item> | undefined> {
  try {
    const reading = walk(bytes, options)
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

/** How many items that are as before weigh as much as one look at the clock. */
const sameAtOnce = 64

function* walk<Item>(
  bytes: Buffer,
  { key, parse, maxDepth, before }: ReadItemsOptions<Item>,
): Generator<void, ItemList<Item> | undefined> {
  const first = findList(bytes, key, maxDepth)
  if (first === undefined) return undefined
  const items: Item[] = []
  const starts: number[] = []
  const ends: number[] = []
  let at = skipSpace(bytes, first)
  for (let isLast = bytes[at] === closeBracket; !isLast; ) {
    const same = before === undefined ? -1 : endOfSame(bytes, at, before, items.length)
    const end = same < 0 ? endOfValue(bytes, at, maxDepth) : same
    items.push(same < 0 ? parse(JSON.parse(bytes.toString('utf8', at, end))) : (before?.items[items.length] as Item))
    starts.push(at)
    ends.push(end)
    at = skipSpace(bytes, end)
    isLast = bytes[at] === closeBracket
    if (!isLast) at = skipSpace(bytes, expect(bytes, at, comma))
    if (same < 0 || items.length % sameAtOnce === 0) yield
  }
  // What stands around the list has to be JSON as well, and must not hold another one.
  const rest = `${bytes.toString('utf8', 0, first)}${bytes.toString('utf8', at)}`
  if (rest.indexOf(`"${key}"`) !== rest.lastIndexOf(`"${key}"`)) return undefined
  JSON.parse(rest)
  return { items, trace: { bytes, starts, ends } }
}

/** Where the item at `at` ends if it is the one that stood at this place the last time; -1 if it is not. */
function endOfSame(bytes: Buffer, at: number, { trace }: ItemList<unknown>, index: number): number {
  const start = trace.starts[index]
  const end = trace.ends[index]
  // Of anything but an object nothing says that it does not go on.
  if (start === undefined || end === undefined || trace.bytes[start] !== openBrace) return -1
  const ourEnd = at + end - start
  return ourEnd <= bytes.length && bytes.compare(trace.bytes, start, end, at, ourEnd) === 0 ? ourEnd : -1
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Just behind the bracket that begins the list. */
function findList(bytes: Buffer, key: string, maxDepth: number): number | undefined {
  let at = skipSpace(bytes, 0)
  if (bytes[at] === openBracket) return at + 1
  if (bytes[at] !== openBrace) return undefined
  const name = `"${key}"`
  for (at = skipSpace(bytes, at + 1); bytes[at] === quote; at = skipSpace(bytes, at + 1)) {
    const end = endOfText(bytes, at)
    const isIt = bytes.toString('latin1', at, end) === name
    at = skipSpace(bytes, expect(bytes, skipSpace(bytes, end), colon))
    if (isIt) return bytes[at] === openBracket ? at + 1 : undefined
    at = skipSpace(bytes, endOfValue(bytes, at, maxDepth))
    if (bytes[at] !== comma) return undefined
  }
  return undefined
}

/** Finds the end, and nothing else: whether it is JSON is for JSON.parse to say. */
function endOfValue(bytes: Buffer, start: number, maxDepth: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfText(bytes, at)
      if (depth === 0) return at
      continue
    }
    if (byte === openBrace || byte === openBracket) {
      depth += 1
      // The list itself, and the object it stands in, count too.
      if (depth > maxDepth - 2) break
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (byte === comma || isSpace(byte))) return at
    at += 1
  }
  throw new SyntaxError('a value that does not end')
}

function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    if (byte === backslash) at += 1
  }
  throw new SyntaxError('a text that does not end')
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (isSpace(bytes[at])) at += 1
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function expect(bytes: Buffer, at: number, byte: number): number {
  if (bytes[at] !== byte) throw new SyntaxError('something else was expected')
  return at + 1
}
