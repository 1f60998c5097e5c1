/** Derives values from a JSON Schema: such that it allows, and such that it forbids. */

import { Check } from 'typebox/schema'

export interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

export interface SchemaValues {
  readonly allowed: readonly unknown[]
  readonly forbidden: readonly unknown[]
}

/**
 * Returns a value for each branch, field and bound of a schema. The first allowed value is the simplest: only required
 * fields, the first branches, and the lowest numbers.
 */
export function valuesOf(schema: Schema): SchemaValues {
  const values = candidatesOf(schema)
  const isAllowed = (value: unknown) => Check(schema as object, value)
  const wrongType = wrongTypes.find((value) => !isAllowed(value))
  return {
    allowed: values.filter(isAllowed),
    forbidden: [...values.filter((value) => !isAllowed(value)), ...(wrongType === undefined ? [] : [wrongType])],
  }
}

const wrongTypes = [[], {}, 'no such value']
/** Recent, because the service makes responses for all the time since then. */
const anHourAgo = new Date(Math.floor(Date.now() / 1000 - 3600) * 1000).toISOString()
/** Texts for formats and patterns. */
const samples = ['a', '470.300', '19:30', anHourAgo.slice(0, 10), anHourAgo]
/** Longer texts and lists are not made, because they take much time. */
const maxSize = 1100

function candidatesOf(schema: Schema): unknown[] {
  // The union of an object restricts which of its fields are required.
  if (schema.anyOf !== undefined && schema.properties === undefined) return schema.anyOf.flatMap(candidatesOf)
  if (schema.enum !== undefined) return [...someOf(schema.enum), 'no such value']
  if (schema.const !== undefined) return [schema.const, 'no such value']
  switch (schema.type) {
    case 'string':
      return textsFor(schema)
    case 'integer':
    case 'number':
      return numbersFor(schema)
    case 'boolean':
      return [true, false]
    case 'null':
      return [null]
    case 'array':
      return listsFor(schema)
    case 'object':
      return objectsFor(schema)
    default:
      return [{}, [], 'text', 1]
  }
}

/** All values of a short enumeration; the first and the last of a long one. */
const someOf = (values: readonly unknown[]) => (values.length <= 5 ? values : [values[0], values.at(-1)])

function textsFor({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, format, pattern }: Schema): string[] {
  const lengths = [minLength, maxLength, minLength - 1, maxLength + 1].filter((length) => length >= 0)
  const texts = lengths.filter((length) => length <= maxSize).map(textOf)
  return format === undefined && pattern === undefined ? texts : [...samples, ...texts]
}

const textOf = (length: number) => 'Correct horse, bättery & staple '.repeat(length / 30 + 1).slice(0, length)

function numbersFor({ minimum = 0, maximum = minimum + 1 }: Schema): number[] {
  return [minimum, maximum, minimum - 1, maximum + 1]
}

function listsFor({ items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema): unknown[][] {
  const { allowed, forbidden } = valuesOf(items)
  const [simplest] = allowed
  const lengths = [minItems, minItems - 1, maxItems + 1, 2].filter((length) => length >= 0 && length <= maxSize)
  const repeated = lengths.map((length) => Array.from({ length }, () => simplest))
  return [...repeated, ...[...allowed, ...forbidden].map((item) => [item])]
}

function objectsFor({ properties = {}, required = [] }: Schema): object[] {
  const fields = Object.entries(properties).map(([name, field]) => ({ name, ...valuesOf(field) }))
  const simplest = Object.fromEntries(
    fields.filter(({ name }) => required.includes(name)).map(({ name, allowed }) => [name, allowed[0]]),
  )
  const withoutOne = required.map((name) =>
    Object.fromEntries(Object.entries(simplest).filter(([key]) => key !== name)),
  )
  const changed = fields.flatMap(({ name, allowed, forbidden }) =>
    [...allowed, ...forbidden].map((value) => ({ ...simplest, [name]: value })),
  )
  return [simplest, ...changed, ...withoutOne, { ...simplest, no_such_field: 1 }]
}
