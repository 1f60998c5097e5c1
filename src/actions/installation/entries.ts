/** Parts of the schemas in an installation file, and of the functions that write and read it. */

import Type from 'typebox'
import type { Body } from '../../contract/schema.ts'
import type { Installation } from './export-installation.ts'
import type { ImportContext } from './import-context.ts'

export interface ExportOptions {
  readonly withSecrets: boolean
}

/** A section of the installation file. `import` receives undefined for a file without this section. */
export interface Section<Schema extends Type.TSchema = Type.TSchema> {
  readonly schema: Schema
  export(installation: Installation, options: ExportOptions): Body<Schema> & object
  import(work: ImportContext, entries: Body<Schema> | undefined): Promise<void>
}

export function defineSection<Schema extends Type.TSchema>(
  schema: Schema,
  toEntries: Section<Schema>['export'],
  importEntries: Section<Schema>['import'],
): Section<Schema> {
  return { schema, export: toEntries, import: importEntries }
}

/** Rejects unknown keys, so that a misspelled key is not mistaken for a missing one. */
export const record = <T extends Type.TProperties>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })

export const list = <T extends Type.TSchema>(item: T, description: string) =>
  Type.Optional(Type.Array(item, { description }))

export const partial = <T extends Type.TProperties>(properties: T) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [Name in keyof T]: Type.TOptional<T[Name]>
  }

/** A time in ISO 8601. */
export const time = Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })

export function toIsoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Returns an object with the value, or an empty one if the value is empty. */
export function whenNotEmpty<Name extends string, Value extends object>(
  name: Name,
  value: Value,
): { [key in Name]?: Value } {
  return (Object.keys(value).length === 0 ? {} : { [name]: value }) as { [key in Name]?: Value }
}

/** Sorts by code unit order, which does not depend on the locale. */
export function sortBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item)
}

export function sortByContent<Item>(items: readonly Item[]): Item[] {
  return sortBy(items, (item) => JSON.stringify(item))
}
