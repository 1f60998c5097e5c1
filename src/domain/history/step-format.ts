/**
 * The stored form of steps: a version byte, the number of steps, the ids of the channels, and then the columns one
 * after another in a range coder. Each value is coded as the difference from the previous step, or from the similar
 * column of the same step.
 */

import { type ColumnName, columnNames, type Steps } from './columns.ts'
import { type BitCoder, BitDecoder, BitEncoder } from './range-coder.ts'

const version = 1

/** The columns in storage order. The columns of a group are stored step by step. */
const groups: readonly (readonly ColumnName[])[] = [
  ['state'],
  ['rows'],
  ['rf_min', 'rf_max'],
  ['audio_max', 'audio_last'],
  ['quality_min'],
  ['battery'],
  ['minutes'],
  ['weak_ms'],
]

/** Columns that are coded as the difference from the previous column in their group. */
const differenceColumns: ReadonlySet<ColumnName> = new Set(['rf_max', 'audio_last'])

// The probabilities of a column. For the column: whether it is constant. For each context: whether a value is zero or
// negative, and its number of bits. For all contexts: the three bits after the leading one.
const contexts = 8
const maxBits = 24
const perContext = 2 + maxBits
const mantissas = 1 + contexts * perContext
const perColumn = mantissas + maxBits * 8
const probabilities = columnNames.length * perColumn
/** The context of the first step of a channel, which is coded as the difference from the previous channel. */
const firstContext = contexts - 1

/** The ids of the channels must be ascending. */
export function encodeSteps(steps: Steps): Uint8Array {
  const encoder = new BitEncoder(probabilities)
  codeColumns(encoder, steps, groups, true)
  const body = encoder.finish()
  let previous = 0
  const header = [version, ...toVarint(steps.count), ...toVarint(steps.channelIds.length)]
  for (const id of steps.channelIds) {
    header.push(...toVarint(id - previous))
    previous = id
  }
  const bytes = new Uint8Array(header.length + body.length)
  bytes.set(header)
  bytes.set(body, header.length)
  return bytes
}

/** Decodes steps that begin at `from`. Throws a RangeError for a format of a newer version. */
export function decodeSteps(bytes: Uint8Array, from: number): Steps<Int32Array> {
  return decode(bytes, from, groups)
}

/** Decodes only the column `state`; the others are zero. */
export function decodeStates(bytes: Uint8Array, from: number): Steps<Int32Array> {
  return decode(bytes, from, groups.slice(0, 1))
}

function decode(bytes: Uint8Array, from: number, wanted: typeof groups): Steps<Int32Array> {
  if (bytes[0] !== version) throw new RangeError(`Recorded levels have the unknown format ${bytes[0]}.`)
  let at = 1
  const next = () => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  const count = next()
  const channelIds = Array.from({ length: next() }, () => 0)
  let previous = 0
  for (const index of channelIds.keys()) {
    previous += next()
    channelIds[index] = previous
  }
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int32Array(count * channelIds.length)]),
  ) as Record<ColumnName, Int32Array>
  const steps = { from, count, channelIds, columns }
  codeColumns(new BitDecoder(probabilities, bytes, at), steps, wanted, false)
  return steps
}

function toVarint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  return [...bytes, rest]
}

type Column = Int16Array | Int32Array

/** Codes columns in both directions: an encoder reads the values, a decoder writes them. */
function codeColumns(coder: BitCoder, steps: Steps, wanted: typeof groups, isEncoding: boolean): void {
  const { count, channelIds, columns } = steps
  for (const group of wanted) {
    const coded = group.map((name, index) => ({
      values: columns[name] as Column,
      base: differenceColumns.has(name) ? (columns[group[index - 1] as ColumnName] as Column) : null,
      at: columnNames.indexOf(name) * perColumn,
      toContext: contextOf(name, columns),
      isConstant: false,
      /** The coded value of the first step of the previous channel, or of this channel. */
      first: 0,
    }))
    for (let start = 0; start < channelIds.length * count; start += count) {
      for (const column of coded) {
        const { values, base, at } = column
        column.isConstant = coder.code(at, isEncoding && isColumnConstant(values, base, start, count) ? 1 : 0) === 1
        const near = base === null ? 0 : (base[start] as number)
        column.first += codeValue(coder, at, firstContext, (values[start] as number) - near - column.first)
        values[start] = near + column.first
      }
      for (let step = start + 1; step < start + count; step++) {
        for (const { values, base, at, toContext, isConstant, first } of coded) {
          const near = base === null ? (values[step - 1] as number) : (base[step] as number)
          const difference = isConstant
            ? base === null
              ? 0
              : first
            : codeValue(coder, at, toContext(step), (values[step] as number) - near)
          values[step] = near + difference
        }
      }
    }
  }
}

function isColumnConstant(values: Column, base: Column | null, start: number, count: number): boolean {
  const difference = (step: number) => (values[step] as number) - (base === null ? 0 : (base[step] as number))
  const first = difference(start)
  for (let step = start + 1; step < start + count; step++) if (difference(step) !== first) return false
  return true
}

/** Returns the context of a step, which indicates how large its difference is. It is below `firstContext`. */
function contextOf(name: ColumnName, columns: Steps['columns']): (step: number) => number {
  const { rf_min, rf_max, audio_max, audio_last, [name]: values } = columns as Readonly<Record<ColumnName, Column>>
  switch (name) {
    case 'rf_min':
      return (step) => sizeOf((rf_max[step - 1] as number) - (rf_min[step - 1] as number))
    case 'rf_max':
      return (step) => sizeOf((rf_min[step - 1] as number) - (rf_min[step] as number))
    case 'audio_max':
      return (step) => sizeOf((audio_max[step - 1] as number) - (audio_last[step - 1] as number))
    case 'audio_last':
      return (step) => sizeOf((audio_max[step] as number) - (audio_last[step - 1] as number))
    default:
      return (step) => (values[step - 1] === values[step - 2] ? 0 : 1)
  }
}

function sizeOf(difference: number): number {
  return difference <= 0 ? 0 : Math.min(firstContext - 1, 32 - Math.clz32(difference))
}

function codeValue(coder: BitCoder, at: number, context: number, value: number): number {
  const own = at + 1 + context * perContext
  if (coder.code(own, value === 0 ? 1 : 0) === 1) return 0
  const isNegative = coder.code(own + 1, value < 0 ? 1 : 0) === 1
  const size = Math.abs(value)
  const knownBits = 31 - Math.clz32(size)
  let bits = 0
  while (bits < maxBits - 1 && coder.code(own + 2 + bits, bits < knownBits ? 1 : 0) === 1) bits++
  let coded = 1
  for (let bit = bits - 1; bit >= 0; bit--) {
    const node = bits - bit <= 3 ? coded : 0
    coded = coded * 2 + coder.code(at + mantissas + bits * 8 + node, (size >>> bit) & 1)
  }
  return isNegative ? -coded : coded
}
