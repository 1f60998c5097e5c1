import { pipeline } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { maxPictureBytes } from '../domain/equipment/picture.ts'
import { type JsonLimits, jsonLimits } from '../domain/json-limits.ts'

const mebibyte = 1024 * 1024

interface ResponseLimits extends JsonLimits {
  readonly bytes: number
}

export type ResponseKind = keyof typeof responseLimits

export const responseLimits = {
  /** A resource of a device or system. */
  resource: { bytes: mebibyte, ...jsonLimits(100_000) },
  /** The picture of a performer. */
  picture: { bytes: maxPictureBytes, ...jsonLimits(1) },
  /** A list, or a page of one. */
  list: { bytes: 16 * mebibyte, ...jsonLimits(600_000) },
  /** Data of another Micwatch installation with up to 10,000 receivers, or the levels of many channels. */
  site: { bytes: 16 * mebibyte, ...jsonLimits(6_000_000) },
} as const satisfies Readonly<Record<string, ResponseLimits>>

const maxExcerptChars = 200

/** Returns the beginning of an unusable body, escaped to fit on one log line. */
export function excerptOf(text: string): string {
  const escapeCharacter = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`
  return text.slice(0, maxExcerptChars).replace(/\p{C}/gu, escapeCharacter).slice(0, maxExcerptChars)
}

export async function readBytes(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of decoded(body, encoding)) {
    size += chunk.length
    if (size > maxBytes) throw Object.assign(new Error('body too large'), { code: 'BODY_TOO_LARGE' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/**
 * Requests ask for no content encoding, but a single encoding is decoded anyway, for systems that ignore
 * `accept-encoding`.
 */
function decoded(body: AsyncIterable<Buffer>, encoding = 'identity'): AsyncIterable<Buffer> {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return body
    case 'gzip':
      return pipeline(body, createGunzip(), ignoreEnd)
    case 'deflate':
      return pipeline(body, createInflate(), ignoreEnd)
    case 'br':
      return pipeline(body, createBrotliDecompress(), ignoreEnd)
    default:
      throw Object.assign(new Error(`content encoding ${encoding}`), { code: 'BAD_ENCODING' })
  }
}

/** `pipeline` requires a callback, but its error is also thrown to the reader of the stream. */
function ignoreEnd(): void {}
