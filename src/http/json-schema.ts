/** JSON Schema as the documents show it: with names for what has one, and in words. */

/** As much of it as ours use. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly examples?: readonly unknown[]
}

const home = '#/components/schemas/'

/** The schema as plain JSON; what has a title goes to `schemas` and is referred to by it. */
export function hoist(schema: unknown, schemas: Record<string, Schema>): Schema {
  return hoisted(JSON.parse(JSON.stringify(schema)), schemas) as Schema
}

function hoisted(value: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((one) => hoisted(one, schemas))
  if (typeof value !== 'object' || value === null) return value
  // An `$id` would be the base of every reference below it.
  const { $defs, $id: _, examples, ...fields } = value as Record<string, unknown>
  if ($defs !== undefined) hoisted($defs, schemas)
  if (typeof fields.$ref === 'string') return { $ref: home + fields.$ref }
  const named = Object.fromEntries(Object.entries(fields).map(([key, inner]) => [key, hoisted(inner, schemas)]))
  if (examples !== undefined) named.examples = examples
  // A field may be called `title` as well.
  if (typeof fields.title !== 'string') return named
  const { title, ...rest } = named
  schemas[fields.title] = rest
  return { $ref: home + fields.title }
}

export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.slice(home.length)
}

/** A schema's type in words; `say` puts down the name of another schema. */
export function typeOf(schema: Schema, say: (name: string) => string): string {
  const name = nameOf(schema)
  if (name !== undefined) return say(name)
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(one, say)).join(' or ')
  if (schema.enum !== undefined) return schema.enum.join(', ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {}, say)}`
  if (schema.format === 'date-time') return 'time (ISO 8601)'
  return schema.type ?? 'anything'
}

export interface Field {
  /** With dots for what is inside another. */
  readonly name: string
  readonly isOptional: boolean
  readonly schema: Schema
}

/** The fields of an object, and of objects in it that have no name of their own. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([key, field]) => {
    const name = prefix + key
    const inner = field.type === 'array' ? fieldsOf(field.items ?? {}, `${name}[].`) : fieldsOf(field, `${name}.`)
    return [{ name, isOptional: !required.includes(key), schema: field }, ...inner]
  })
}
