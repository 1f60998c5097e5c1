/**
 * Compresses to the block format of Snappy, which Prometheus remote write requires:
 * https://github.com/google/snappy/blob/main/format_description.txt.
 */

import { ByteWriter } from './byte-writer.ts'

/** The offsets of copies have two bytes. */
const maxOffset = 65_535
const minMatch = 4
const maxCopy = 64
const hashBits = 14

export function compressSnappy(input: Uint8Array): Uint8Array {
  const output = new ByteWriter(input.length)
  output.writeVarint(input.length)
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  /** The last position, plus one, of four bytes with this hash; 0: none. */
  const positions = new Int32Array(1 << hashBits)
  let literalStart = 0
  let position = 0
  while (position + minMatch <= input.length) {
    const bytes = view.getUint32(position, true)
    const hash = Math.imul(bytes, 0x1e35a7bd) >>> (32 - hashBits)
    const candidate = (positions[hash] ?? 0) - 1
    positions[hash] = position + 1
    const isMatch = candidate >= 0 && position - candidate <= maxOffset && view.getUint32(candidate, true) === bytes
    if (!isMatch) {
      position += 1
      continue
    }
    let end = position + minMatch
    while (end < input.length && input[end] === input[end - position + candidate]) end += 1
    writeLiteral(output, input.subarray(literalStart, position))
    writeCopies(output, position - candidate, end - position)
    position = end
    literalStart = end
  }
  writeLiteral(output, input.subarray(literalStart))
  return output.bytes()
}

function writeLiteral(output: ByteWriter, bytes: Uint8Array): void {
  if (bytes.length === 0) return
  const length = bytes.length - 1
  if (length < 60) output.writeByte(length << 2)
  else {
    const lengthBytes = length < 0x100 ? 1 : length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 4
    output.writeByte((59 + lengthBytes) << 2)
    for (let index = 0; index < lengthBytes; index++) output.writeByte((length >>> (8 * index)) & 0xff)
  }
  output.write(bytes)
}

/** Writes a copy of `length` bytes from `offset` bytes before. A copy element contains at most 64 bytes. */
function writeCopies(output: ByteWriter, offset: number, length: number): void {
  for (let rest = length; rest > 0; rest -= maxCopy) {
    output.writeByte(((Math.min(rest, maxCopy) - 1) << 2) | 2)
    output.writeByte(offset & 0xff)
    output.writeByte(offset >>> 8)
  }
}
