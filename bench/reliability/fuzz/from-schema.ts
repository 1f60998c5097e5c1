/** Generates values that are valid, or almost valid, for a JSON Schema of the OpenAPI document. */

import type { Random } from './random.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
}

export type Schemas = Readonly<Record<string, Schema>>

export function validValue(random: Random, schema: Schema, schemas: Schemas): unknown {
  const { $ref, anyOf } = schema
  if ($ref !== undefined) return validValue(random, schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  if (anyOf !== undefined) return validValue(random, random.pick(anyOf), schemas)
  if (schema.enum !== undefined) return random.pick(schema.enum)
  if (schema.const !== undefined) return schema.const
  switch (schema.type) {
    case 'string':
      return validText(random, schema)
    case 'integer':
    case 'number':
      return random.integer(schema.minimum ?? -1000, Math.min(schema.maximum ?? 1000, (schema.minimum ?? 0) + 1000))
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'array':
      return validList(random, schema, schemas)
    case 'object':
      return validObject(random, schema, schemas)
    default:
      return random.json(2)
  }
}

function validText(random: Random, { minLength = 0, maxLength = 40 }: Schema): string {
  const text = random.text(Math.min(maxLength, 40))
  return text.length >= minLength ? text.slice(0, maxLength) : text.padEnd(minLength, 'x')
}

function validList(random: Random, schema: Schema, schemas: Schemas): unknown[] {
  const { minItems = 0, maxItems = 8, items = {}, uniqueItems } = schema
  const length = random.integer(minItems, Math.min(maxItems, minItems + 8))
  const list = Array.from({ length }, () => validValue(random, items, schemas))
  return uniqueItems ? [...new Set(list)] : list
}

function validObject(random: Random, { properties = {}, required = [] }: Schema, schemas: Schemas) {
  const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.6))
  return Object.fromEntries(chosen.map(([name, field]) => [name, validValue(random, field, schemas)]))
}

/** Returns a value that is similar to a valid one, but usually invalid. */
export function invalidValue(random: Random, schema: Schema, schemas: Schemas): unknown {
  const value = validValue(random, schema, schemas)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return random.json(3)
  const entries = Object.entries(value)
  const kind = random.integer(0, 3)
  if (kind === 0) return Object.fromEntries([...entries, [random.text(8), random.json(2)]])
  if (kind === 1) return Object.fromEntries(entries.slice(1))
  if (kind === 2) return random.json(3)
  return Object.fromEntries(entries.map(([name, inner]) => [name, random.chance(0.5) ? random.json(3) : inner]))
}
