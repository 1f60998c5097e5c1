/** Decodes Prometheus remote-write requests, independently of the encoder. */

export interface ReceivedSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly samples: readonly (readonly [value: number, time: number])[]
}

/** Decodes Snappy's block format. */
export function uncompressSnappy(input: Uint8Array): Uint8Array {
  const bytes = Buffer.from(input)
  const [length, start] = readVarint(bytes, 0)
  const output = Buffer.alloc(length)
  let at = start
  let written = 0
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at++)
    if ((tag & 3) === 0) {
      const code = tag >> 2
      const extra = code < 60 ? 0 : code - 59
      const count = (extra === 0 ? code : bytes.readUIntLE(at, extra)) + 1
      at += extra
      written += bytes.copy(output, written, at, at + count)
      at += count
      continue
    }
    if ((tag & 3) !== 2) throw new Error('Only copies with two-byte offsets are expected.')
    const offset = bytes.readUInt16LE(at)
    at += 2
    if (offset === 0 || offset > written) throw new Error('A copy refers to bytes before the start.')
    for (let rest = (tag >> 2) + 1; rest > 0; rest--) output[written] = output[written++ - offset] as number
  }
  if (written !== length) throw new Error(`Expected ${length} bytes, not ${written}.`)
  return output
}

export function decodeWriteRequest(bytes: Uint8Array): ReceivedSeries[] {
  return readFields(Buffer.from(bytes)).map(({ value }) => {
    const fields = readFields(value as Buffer)
    const labels = fields
      .filter(({ field }) => field === 1)
      .map((label) => readFields(label.value as Buffer).map((part) => (part.value as Buffer).toString('utf8')))
    const samples = fields
      .filter(({ field }) => field === 2)
      .map((sample) => readFields(sample.value as Buffer).map((part) => part.value as number))
    return {
      labels: Object.fromEntries(labels),
      samples: samples.map(([value = 0, time = 0]) => [value, time] as const),
    }
  })
}

interface Field {
  readonly field: number
  readonly value: Buffer | number
}

function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  while (at < bytes.length) {
    const [key, afterKey] = readVarint(bytes, at)
    const field = key >> 3
    if ((key & 7) === 1) {
      fields.push({ field, value: bytes.readDoubleLE(afterKey) })
      at = afterKey + 8
      continue
    }
    const [number, end] = readVarint(bytes, afterKey)
    const isBytes = (key & 7) === 2
    fields.push({ field, value: isBytes ? bytes.subarray(end, end + number) : number })
    at = isBytes ? end + number : end
  }
  return fields
}

function readVarint(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    const byte = bytes.readUInt8(at)
    value += (byte & 127) * factor
    if (byte < 128) return [value, at + 1]
  }
}
