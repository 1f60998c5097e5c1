/** Prepares JSON Schema for the documents: extracts named schemas and describes types in words. */

/** The subset of JSON Schema that the schemas of this project use. */
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
  readonly contentMediaType?: string
  readonly examples?: readonly unknown[]
}

const schemaPrefix = '#/components/schemas/'

/** Returns the schema as plain JSON. Schemas with a title are moved to `schemas` and replaced by references. */
export function hoist(schema: unknown, schemas: Record<string, Schema>): Schema {
  return hoisted(JSON.parse(JSON.stringify(schema)), schemas) as Schema
}

function hoisted(value: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoisted(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  // An `$id` would become the base URI of every reference below it.
  const { $defs, $id: _, examples, ...fields } = value as Record<string, unknown>
  if ($defs !== undefined) hoisted($defs, schemas)
  if (typeof fields.$ref === 'string') return { $ref: schemaPrefix + fields.$ref }
  const converted = Object.fromEntries(Object.entries(fields).map(([key, inner]) => [key, hoisted(inner, schemas)]))
  if (examples !== undefined) converted.examples = examples
  // A field of an object may also be called `title`.
  if (typeof fields.title !== 'string') return converted
  const { title, ...rest } = converted
  schemas[fields.title] = rest
  return { $ref: schemaPrefix + fields.title }
}

export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.slice(schemaPrefix.length)
}

/** Describes a schema's type in words; `formatName` formats the name of another schema. */
export function typeOf(schema: Schema, formatName: (name: string) => string): string {
  const name = nameOf(schema)
  if (name !== undefined) return formatName(name)
  if (schema.anyOf !== undefined) return schema.anyOf.map((part) => typeOf(part, formatName)).join(' or ')
  if (schema.enum !== undefined) return schema.enum.join(', ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {}, formatName)}`
  if (schema.format === 'date-time') return 'time (ISO 8601)'
  if (schema.format === 'date') return 'date'
  return schema.type ?? 'anything'
}

export interface Field {
  /** The path of the field, with dots between the names of nested fields. */
  readonly name: string
  readonly isOptional: boolean
  readonly schema: Schema
}

/** Lists the fields of an object, including the fields of nested objects whose schemas have no name of their own. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([key, field]) => {
    const name = prefix + key
    const inner = field.type === 'array' ? fieldsOf(field.items ?? {}, `${name}[].`) : fieldsOf(field, `${name}.`)
    return [{ name, isOptional: !required.includes(key), schema: field }, ...inner]
  })
}
