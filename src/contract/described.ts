/** Building blocks of schemas, and the types that follow from schemas. */

import Type, { type Static, type TProperties, type TSchema } from 'typebox'

type Immutable<T> = T extends Uint8Array
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Immutable<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Immutable<T[Key]> }
      : T

/** The type that a schema describes, with read-only properties and lists. */
export type Body<Schema extends TSchema> = Immutable<Static<Schema>>

/** Creates an object schema that has its own name in the documents. */
export function named<Properties extends TProperties>(title: string, description: string, properties: Properties) {
  return Type.Object(properties, { title, description })
}

export const text = (description: string) => Type.String({ description })
export const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
export const whole = (description: string) => Type.Integer({ description })
export const wholeOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })
export const flag = (description: string) => Type.Boolean({ description })
export const time = (description: string) => Type.String({ format: 'date-time', description })
export const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
export const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description })
export const listOf = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Array(schema, { description })
export const oneOf = <Values extends string[]>(values: readonly [...Values], description: string) =>
  Type.Enum(values, { description })

const pageFields = {
  count: whole('Total number of items.'),
  next: textOrNull('Path and query of the next page.'),
  previous: textOrNull('Path and query of the previous page.'),
}

/** Creates the response schema of a list that was requested with `page` or `page_size`: one page. */
const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { ...pageFields, results: listOf(item, 'Items of this page.') },
    { description: 'With `page` or `page_size`.' },
  )

export interface PageBody<Item> extends Body<Type.TObject<typeof pageFields>> {
  readonly results: readonly Item[]
}

/** Creates the response schema of a list: a bare array or, with `page` or `page_size`, one page of it. */
export const pagedOf = <Item extends TSchema>(item: Item) =>
  Type.Union([listOf(item, 'All items, if the request does not ask for a page.'), pageOf(item)], {
    description: 'All items, or the requested page.',
  })

/** Creates the response schema of a list endpoint that returns an object with `count` and `results` even without paging. */
export const countedOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    count: whole('Total number of items.'),
    next: Type.Optional(textOrNull('Path and query of the next page; only present when paged.')),
    previous: Type.Optional(textOrNull('Path and query of the previous page; only present when paged.')),
    results: listOf(item, 'All items, or the items of this page.'),
  })

/** Creates the schema of a body that is not JSON. `mediaType` may be a range such as `image/*`. */
export const binary = (mediaType: string, description: string) =>
  Type.Unsafe<Uint8Array>({ contentMediaType: mediaType, description })

/** A file in a form. */
export interface UploadedFile {
  /** The name on the computer of the sender, without folders. */
  readonly name: string
  readonly bytes: Uint8Array
}

/** Creates the schema of a file in a form. */
export const uploadedFile = (description: string) =>
  Type.Unsafe<UploadedFile>({ contentMediaType: 'application/octet-stream', description })

/** The response of an action that returns nothing. */
export const NoContent = Type.Null({ description: 'Success without a body.' })
