/** Encodes messages of Prometheus remote write 1.0: https://prometheus.io/docs/specs/prw/remote_write_spec/. */

/** Oldest first. */
export interface TimeSeries {
  /** See `encodeLabels`. */
  readonly labels: Uint8Array
  readonly samples: readonly Sample[]
}

export interface Sample {
  readonly value: number
  /** Epoch milliseconds. */
  readonly time: number
}

// Keys of the protobuf fields: their number and wire type (0: varint, 1: eight bytes, 2: bytes after their length).
const timeSeriesKey = 0x0a
const labelKey = 0x0a
const labelNameKey = 0x0a
const labelValueKey = 0x12
const sampleKey = 0x12
const valueKey = 0x09
const timeKey = 0x10

/** Encodes the labels of a series for reuse in all requests. */
export function encodeLabels(metric: string, labels: Readonly<Record<string, string>>): Uint8Array {
  const writer = new ByteWriter(128)
  // Labels must be sorted by name. `__name__` is first, because other names begin with a lower-case letter.
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [name, value] of [['__name__', metric] as const, ...sorted]) {
    const label = new ByteWriter(64)
    writeBytes(label, labelNameKey, encodeText(name))
    writeBytes(label, labelValueKey, encodeText(value))
    writeBytes(writer, labelKey, label.bytes())
  }
  return writer.bytes()
}

export function encodeWriteRequest(series: readonly TimeSeries[]): Uint8Array {
  const writer = new ByteWriter(64 * series.length)
  for (const { labels, samples } of series) {
    const lengths = samples.map(({ time }) => 10 + varintLength(time))
    writer.writeByte(timeSeriesKey)
    writer.writeVarint(lengths.reduce((sum, length) => sum + 2 + length, labels.length))
    writer.write(labels)
    for (const [index, { value, time }] of samples.entries()) {
      writer.writeByte(sampleKey)
      writer.writeVarint(lengths[index] ?? 0)
      writer.writeByte(valueKey)
      writer.writeDouble(value)
      writer.writeByte(timeKey)
      writer.writeVarint(time)
    }
  }
  return writer.bytes()
}

function writeBytes(writer: ByteWriter, key: number, bytes: Uint8Array): void {
  writer.writeByte(key)
  writer.writeVarint(bytes.length)
  writer.write(bytes)
}

/** Encodes a text as UTF-8. `encodeURIComponent` writes every byte outside of ASCII as `%` and two digits. */
function encodeText(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.toWellFormed())
  const bytes = escaped.replace(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0))
}

class ByteWriter {
  #buffer: Uint8Array
  #length = 0

  constructor(expectedLength = 1024) {
    this.#buffer = new Uint8Array(Math.max(16, expectedLength))
  }

  writeByte(byte: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = byte
  }

  write(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Writes a whole number from 0 to 2^53 - 1 in groups of seven bits, lowest first. */
  writeVarint(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.writeByte((rest % 0x80) | 0x80)
    this.writeByte(rest)
  }

  writeDouble(value: number): void {
    this.#reserve(8)
    new DataView(this.#buffer.buffer, this.#length).setFloat64(0, value, true)
    this.#length += 8
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return
    const larger = new Uint8Array(2 * (this.#length + count))
    larger.set(this.bytes())
    this.#buffer = larger
  }
}

/** Returns the number of bytes that `writeVarint` writes. */
function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1
  return length
}

// Compresses to the block format of Snappy, which Prometheus remote write requires:
// https://github.com/google/snappy/blob/main/format_description.txt.

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
