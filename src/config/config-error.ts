import type Type from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { findNearest } from './nearest.ts'

/** The message is one line: the file or flag, the key, and the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** One problem of the configuration. */
export interface ConfigProblem {
  /** The file with the problem; null for flags and environment variables. */
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
  /** Such as `server.port`, `--port` or `MICWATCH_PORT`; null if the problem concerns no single key. */
  readonly key: string | null
  readonly what: string
  readonly suggestion: string | null
  /** The error of the system. */
  readonly cause?: unknown
}

export function toConfigError({ file, line, column, key, what, suggestion, cause }: ConfigProblem): ConfigError {
  // A key is found without its line.
  const place = key === null && line !== null ? ` at line ${line}, column ${column}` : ''
  const text = [file, key, what + place].filter((part) => part !== null).join(': ')
  return new ConfigError(suggestion === null ? text : `${text}; ${suggestion}`, { cause })
}

export interface SchemaError {
  readonly path: readonly string[]
  /** The path as text, such as `server.port`. */
  readonly key: string
  readonly problem: string
  readonly suggestion: string | null
}

/** Finds the first violation of a schema whose descriptions state the expected values. */
export function findSchemaError(schema: Type.TSchema, values: unknown): SchemaError | null {
  return findSchemaErrors(schema, values)[0] ?? null
}

/** Finds every violation of a schema. Of several about one value, the most precise one is kept. */
export function findSchemaErrors(schema: Type.TSchema, values: unknown): SchemaError[] {
  // The keyword is repeated by the errors of the unknown keys.
  const violations = listViolations(schema, values).filter(({ keyword }) => keyword !== 'additionalProperties')
  const errors = new Map<string, SchemaError>()
  for (const { keyword, instancePath, params } of violations) {
    const missing = (params as { requiredProperties?: string[] }).requiredProperties?.[0]
    const isWithin = violations.some((other) => other.instancePath.startsWith(`${instancePath}/`))
    // A union fails as a whole, and within each of its types.
    if (errors.has(instancePath) || (isWithin && missing === undefined)) continue
    const path = instancePath.split('/').slice(1).map(unescapePointer)
    errors.set(instancePath, toSchemaError(schema, values, path, keyword === 'boolean', missing))
  }
  return [...errors.values()]
}

/** TypeBox stops after eight errors, because others may send the values. These are from files of the operator. */
function listViolations(schema: Type.TSchema, values: unknown) {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: Number.POSITIVE_INFINITY })
  try {
    return Value.Errors(schema, values)
  } finally {
    Settings.Set({ maxErrors })
  }
}

/** See RFC 6901. */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function toSchemaError(
  schema: Type.TSchema,
  values: unknown,
  path: readonly string[],
  isUnknownKey: boolean,
  missing: string | undefined,
): SchemaError {
  const at = { path, key: path.join('.') }
  const { node, expected } = findNode(schema, isUnknownKey ? path.slice(0, -1) : path)
  if (isUnknownKey) {
    const known = alternatives(node).flatMap(({ properties = {} }) => Object.keys(properties))
    return { ...at, problem: 'unknown key', suggestion: suggest(path.at(-1), known) }
  }
  const problem = missing === undefined ? `expected ${expected}` : `expected ${expected} (${missing} is missing)`
  const value = path.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[step], values)
  const choices = alternatives(node).flatMap((each) => [...(each.enum ?? []), each.const ?? []].flat())
  return { ...at, problem, suggestion: suggest(value, choices.map(String)) }
}

/** Names the candidate that is most like a wrong value; null if none is. */
export function suggest(value: unknown, candidates: readonly string[]): string | null {
  const nearest = typeof value === 'string' ? findNearest(value, candidates) : null
  return nearest === null ? null : `did you mean ${nearest}?`
}

/** The properties of a schema that this file, `environment.ts` and `scalars.ts` read. */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly anyOf?: readonly SchemaNode[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly $ref?: string
}

function alternatives(node: SchemaNode | undefined): readonly SchemaNode[] {
  return node === undefined ? [] : [node, ...(node.anyOf ?? [])]
}

/** Returns the schema of a property, an item or a record's value; undefined if there is none. */
export function stepInto(node: SchemaNode | undefined, step: string): SchemaNode | undefined {
  for (const { properties, items, patternProperties } of alternatives(node)) {
    const inner = properties?.[step] ?? items ?? Object.values(patternProperties ?? {})[0]
    if (inner !== undefined) return inner
  }
  return undefined
}

/** Returns the schema node at a path, and the description of the innermost node on the path that has one. */
function findNode(schema: Type.TSchema, path: readonly string[]) {
  let node: SchemaNode | undefined = schema as unknown as SchemaNode
  let definitions: SchemaNode['$defs']
  let expected = node.description ?? 'a section of keys'
  for (const step of path) {
    node = stepInto(node, step)
    definitions = node?.$defs ?? definitions
    if (node?.$ref !== undefined) node = definitions?.[node.$ref]
    expected = node?.description ?? expected
  }
  return { node, expected }
}
