/**
 * Limits for JSON from outside, checked on its bytes before it is parsed. Many small values take far more time and
 * memory to parse than a single text of the same size.
 */

import { maxJsonDepth } from './json.ts'

export interface JsonLimits {
  /** The maximum number of values and keys together. An empty list or object counts twice. */
  readonly values: number
  readonly depth: number
}

export function jsonLimits(values: number): JsonLimits {
  return { values, depth: maxJsonDepth }
}

/** The message names the exceeded limit. */
export class JsonLimitError extends Error {}
export class JsonDepthError extends JsonLimitError {}

/** The count of a part of the JSON. Passed on to count the next part. */
export interface JsonCount {
  values: number
  /** The number of lists and objects around the part. */
  readonly depth: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Returns the limit that the JSON exceeds; null if it may be parsed. */
export function findJsonExcess(bytes: Uint8Array, maxValues: number): JsonLimitError | null {
  try {
    checkJson(bytes, jsonLimits(maxValues))
    return null
  } catch (error) {
    if (error instanceof JsonLimitError) return error
    throw error
  }
}

/** Throws a JsonLimitError if the JSON exceeds a limit. Ignores other invalid JSON. */
export function checkJson(bytes: Uint8Array, limits: JsonLimits): void {
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const start = skipSpace(bytes, hasByteOrderMark ? 3 : 0)
  // JSON.parse reads or rejects anything else in time that depends only on its length.
  if (bytes[start] !== openBracket && bytes[start] !== openBrace) return
  findValueEnd(bytes, start, limits, { values: 0, depth: 0 })
}

/**
 * Finds the end of a value without validating it; -1 if it is incomplete. Adds to `count`, and throws a JsonLimitError
 * at the first exceeded limit.
 */
export function findValueEnd(bytes: Uint8Array, start: number, limits: JsonLimits, count: JsonCount): number {
  let { depth } = count
  for (let offset = start; offset < bytes.length; ) {
    const byte = bytes[offset] as number
    if (byte === quote) {
      offset = findStringEnd(bytes, offset)
      if (depth === count.depth || offset < 0) return offset
      continue
    }
    if (byte === openBrace || byte === openBracket) {
      depth += 1
      if (depth > limits.depth) throw new JsonDepthError(`nested deeper than ${limits.depth} levels`)
      countValue(limits, count)
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === count.depth) return offset
      depth -= 1
      if (depth === count.depth) return offset + 1
    } else if (byte === comma || byte === colon) {
      if (depth === count.depth) return offset
      countValue(limits, count)
    } else if (depth === count.depth && isSpace(byte)) return offset
    offset += 1
  }
  return -1
}

function countValue(limits: JsonLimits, count: JsonCount): void {
  count.values += 1
  if (count.values > limits.values) throw new JsonLimitError(`more than ${limits.values} values and keys`)
}

/** Returns the offset after the closing quote; -1 if there is none. */
export function findStringEnd(bytes: Uint8Array, start: number): number {
  for (let offset = start + 1; offset < bytes.length; offset += 1) {
    const byte = bytes[offset]
    if (byte === quote) return offset + 1
    if (byte === backslash) offset += 1
  }
  return -1
}

export function skipSpace(bytes: Uint8Array, start: number): number {
  let offset = start
  while (isSpace(bytes[offset])) offset += 1
  return offset
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
