/** Encodes messages of Prometheus remote write 1.0: https://prometheus.io/docs/specs/prw/remote_write_spec/. */

import { ByteWriter, varintLength } from './byte-writer.ts'

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
