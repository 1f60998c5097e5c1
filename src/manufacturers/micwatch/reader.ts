/**
 * Reads values from unknown JSON by a schema. Ignores fields that are not in the schema, and cleans text. A part that
 * does not match is dropped where the schema allows it. Such parts are items of a list, optional fields, and fields
 * that may be null or have a default. An absent field is null if it may be null, because older versions do not have it.
 */

import type { TSchema } from 'typebox'
import { cleanText } from '../../upstream/fields.ts'
import type { DroppedParts } from '../plugin.ts'

/** Stands for a value that does not match. */
export const unreadable = Symbol('unreadable')

/** The dropped parts. */
export class Dropped {
  readonly path: (string | number)[] = []
  count = 0
  /** The path of the first part, and the expected value. */
  first: string | null = null

  add(expected: string): typeof unreadable {
    this.count += 1
    this.first ??= `${this.path.length === 0 ? '' : `${this.path.join('.')}: `}expected ${expected}`
    return unreadable
  }

  report(onDropped: (dropped: DroppedParts) => void): void {
    if (this.first !== null) onDropped({ count: this.count, first: this.first })
  }
}

type Read = (value: unknown, dropped: Dropped) => unknown

/** The parts of a schema that are validated. */
interface Node {
  readonly type?: string
  readonly description?: string
  readonly anyOf?: readonly Node[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly items?: Node | readonly Node[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
}

const maxTextChars = 1024

export function createReader(schema: TSchema): Read {
  return readerOf(schema as Node)
}

function readerOf(node: Node): Read {
  const read = readerWithoutDefault(node)
  if (node.default === undefined) return read
  return (value, dropped) => {
    const found = read(value, dropped)
    return found === unreadable ? node.default : found
  }
}

function readerWithoutDefault(node: Node): Read {
  const { description = 'another value' } = node
  if (node.anyOf !== undefined) return readerOfUnion(node.anyOf, description)
  if (node.enum !== undefined) {
    const values = new Set(node.enum)
    const expected = `one of ${[...values].join(', ')}`
    return (value, dropped) => (values.has(value) ? value : dropped.add(expected))
  }
  switch (node.type) {
    case 'object':
      return readerOfObject(node, description)
    case 'array':
      return Array.isArray(node.items) ? readerOfTuple(node.items) : readerOfList(node, description)
    case 'string':
      return readerOfText(node, description)
    case 'integer':
    case 'number':
      return readerOfNumber(node, description)
    case 'boolean':
      return (value, dropped) => (typeof value === 'boolean' ? value : dropped.add('true or false'))
    default:
      throw new Error(`a schema of type ${node.type} cannot be read`)
  }
}

function readerOfText({ const: literal, format, pattern, maxLength = maxTextChars }: Node, expected: string): Read {
  if (literal !== undefined) return (value, dropped) => (value === literal ? value : dropped.add(`${literal}`))
  if (format === 'date-time') return (value, dropped) => (isTime(value) ? value : dropped.add('a time'))
  const regex = pattern === undefined ? null : new RegExp(pattern, 'u')
  return (value, dropped) => {
    if (typeof value !== 'string') return dropped.add(expected)
    const text = cleanText(value, maxLength)
    return regex === null || regex.test(text) ? text : dropped.add(expected)
  }
}

const timePattern = /^\d{4}-\d{2}-\d{2}T[\d:.]{5,16}(?:Z|[+-]\d{2}:\d{2})$/

/** Later years have more digits. */
const lastTime = Date.parse('9999-12-31T23:59:59.999Z')

function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || !timePattern.test(value)) return false
  const time = Date.parse(value)
  return time >= 0 && time <= lastTime
}

function readerOfNumber({ type, minimum = -Infinity, maximum = Infinity }: Node, expected: string): Read {
  const isValid = type === 'integer' ? Number.isSafeInteger : Number.isFinite
  return (value, dropped) =>
    isValid(value) && (value as number) >= minimum && (value as number) <= maximum ? value : dropped.add(expected)
}

function readerOfUnion(variants: readonly Node[], expected: string): Read {
  const mayBeNull = canBeNull(variants)
  const readers = variants.filter(({ type }) => type !== 'null').map(readerOf)
  const [only, ...others] = readers
  if (only !== undefined && others.length === 0) {
    return (value, dropped) => {
      if (value === null && mayBeNull) return null
      const found = only(value, dropped)
      return found === unreadable && mayBeNull ? null : found
    }
  }
  return (value, dropped) => {
    if (value === null && mayBeNull) return null
    for (const read of readers) {
      const found = read(value, new Dropped())
      if (found !== unreadable) return found
    }
    dropped.add(expected)
    return mayBeNull ? null : unreadable
  }
}

function canBeNull(variants: readonly Node[] = []): boolean {
  return variants.some(({ type }) => type === 'null')
}

function readerOfList({ items, maxItems = Infinity }: Node, expected: string): Read {
  const read = readerOf(items as Node)
  return (values, dropped) => {
    if (!Array.isArray(values)) return dropped.add(expected)
    const list: unknown[] = []
    for (let index = 0; index < values.length; index++) {
      dropped.path.push(index)
      const item = list.length < maxItems ? read(values[index], dropped) : dropped.add(`at most ${maxItems}`)
      dropped.path.pop()
      if (item !== unreadable) list.push(item)
    }
    return list
  }
}

/** Nullable values at the end can be omitted. Additional values are ignored. */
function readerOfTuple(items: readonly Node[]): Read {
  const readers = items.map(readerOf)
  const required = 1 + items.findLastIndex(({ anyOf }) => !canBeNull(anyOf))
  return (values, dropped) => {
    if (!Array.isArray(values) || values.length < required) return dropped.add(`a list of ${required} or more values`)
    const tuple = []
    for (let index = 0; index < readers.length && index < values.length; index++) {
      dropped.path.push(index)
      tuple.push(readers[index]?.(values[index], dropped))
      dropped.path.pop()
    }
    return tuple.includes(unreadable) ? unreadable : tuple
  }
}

function readerOfObject({ properties = {}, required = [] }: Node, expected: string): Read {
  const fields = Object.entries(properties).map(([name, node]) => ({
    name,
    read: readerOf(node),
    isRequired: required.includes(name),
    mayBeNull: canBeNull(node.anyOf),
  }))
  return (value, dropped) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return dropped.add(expected)
    const object: Record<string, unknown> = {}
    let isComplete = true
    for (const { name, read, isRequired, mayBeNull } of fields) {
      const given = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
      if (given === undefined && !isRequired) continue
      dropped.path.push(name)
      const found = given === undefined && mayBeNull ? null : read(given, dropped)
      dropped.path.pop()
      if (found !== unreadable) object[name] = found
      else if (isRequired) isComplete = false
    }
    return isComplete ? object : unreadable
  }
}
