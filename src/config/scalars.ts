/** Converts text to the values that the schema of the configuration file expects. */

import type Type from 'typebox'
import { Value } from 'typebox/value'
import { settingKind } from '../domain/equipment/manufacturer-config.ts'
import { type SchemaNode, stepInto } from './config-error.ts'
import { File } from './file-schema.ts'

export type ReadText = (text: string) => unknown

/** Returns text that cannot be converted unchanged. */
export function readScalar(path: readonly string[], text: string): unknown {
  const [section, , , setting] = path
  if (section === 'manufacturers' && setting !== undefined && path.length === 4) return readSetting(setting, text)
  const node = path.reduce<SchemaNode | undefined>(stepInto, File as unknown as SchemaNode)
  const read = node === undefined ? null : findReader(node)
  return read === null ? text : read(text)
}

/** The plugin validates its connection settings. */
function readSetting(key: string, text: string): unknown {
  return settingReaders[settingKind(key)](text)
}

/** Returns the function that parses text as this type; null for values that are neither scalars nor lists of texts. */
export function findReader(node: SchemaNode): ReadText | null {
  const { type, items, anyOf, enum: values } = node
  if (anyOf !== undefined) return findReaderOfUnion(node, anyOf)
  if (type === 'array') return items?.type === 'string' ? readList : null
  if (type === 'integer' || type === 'number') return readNumber
  if (type === 'boolean') return readFlag
  if (type === 'null') return (text) => (text === '' ? null : text)
  return type === 'string' || values !== undefined ? String : null
}

/** Parses text as the first type of the union that accepts it. */
function findReaderOfUnion(node: SchemaNode, options: readonly SchemaNode[]): ReadText | null {
  const readers = options.flatMap((option) => findReader(option) ?? [])
  const isScalar = options.some((option) => option.type !== 'null' && findReader(option) !== null)
  if (!isScalar) return null
  return (text) => {
    const values = readers.map((read) => read(text))
    const index = values.findIndex((value) => Value.Check(node as Type.TSchema, value))
    return index === -1 ? text : values[index]
  }
}

const settingReaders: Readonly<Record<ReturnType<typeof settingKind>, ReadText>> = {
  text: String,
  number: (text) => readNumber(text),
  on_by_default: (text) => readFlag(text),
  off_by_default: (text) => readFlag(text),
  lines: (text) => readList(text),
}

export function readNumber(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** Parses a comma-separated list. */
function readList(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  return items.filter((item) => item !== '')
}

function readFlag(text: string): unknown {
  const flags: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }
  return flags[text.toLowerCase()] ?? text
}
