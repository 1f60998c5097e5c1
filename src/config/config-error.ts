import type Type from 'typebox'
import { Value } from 'typebox/value'

/** The message is one line: the file or flag, the key, and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface SchemaError {
  readonly key: string
  readonly problem: string
}

/** Finds the first violation of a schema whose descriptions state the expected values. */
export function findSchemaError(schema: Type.TSchema, values: unknown): SchemaError | null {
  const [error] = Value.Errors(schema, values)
  if (error === undefined) return null
  const path = error.instancePath.split('/').slice(1)
  const key = path.join('.')
  if (error.keyword === 'boolean') return { key, problem: 'unknown key' }
  const missing = (error.params as { requiredProperties?: string[] }).requiredProperties?.[0]
  const expected = expectedAt(schema, path)
  return {
    key,
    problem: missing === undefined ? `expected ${expected}` : `expected ${expected} (${missing} is missing)`,
  }
}

/** The properties of a schema that this file and `environment.ts` read. */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly anyOf?: readonly SchemaNode[]
  readonly enum?: readonly unknown[]
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly $ref?: string
}

/** Returns the description of the innermost schema node on the path that has one. */
function expectedAt(schema: Type.TSchema, path: readonly string[]): string {
  let node: SchemaNode | undefined = schema as unknown as SchemaNode
  let definitions: SchemaNode['$defs']
  let expected = node.description ?? 'a section of keys'
  for (const step of path) {
    node = node?.properties?.[step] ?? node?.items
    definitions = node?.$defs ?? definitions
    if (node?.$ref !== undefined) node = definitions?.[node.$ref]
    expected = node?.description ?? expected
  }
  return expected
}
