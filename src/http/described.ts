/** Schemas that say what a TypeScript type says: the compiler refuses one that has drifted from its type. */

import Type, { type Static, type TProperties, type TSchema } from 'typebox'

/** All the way down without `readonly` and intersections, which say nothing about values. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<T[Key]> }
    : T

type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Nothing to add where both are the same; otherwise something that no schema has. */
type Fitting<Body, Schema extends TSchema> =
  IsSame<Plain<Body>, Plain<Static<Schema>>> extends true
    ? unknown
    : { drifted: { type: Body; schema: Static<Schema> } }

/** `schemaOf<Body>()(schema)`: the schema, if it describes exactly that type. */
export function schemaOf<Body>() {
  return <Schema extends TSchema>(schema: Schema & Fitting<Body, Schema>): Schema => schema
}

/** Fields of an object that has a name of its own in the documents. */
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

/** What a list answers to `page` or `page_size`. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      count: whole('How many there are in all.'),
      next: textOrNull('Path and query of the next page.'),
      previous: textOrNull('Path and query of the page before.'),
      results: listOf(item, 'This page.'),
    },
    { description: 'With `page` or `page_size`.' },
  )

/** A list that is an object even where it is not paged. */
export const countedOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    count: whole('How many there are in all.'),
    next: Type.Optional(textOrNull('Path and query of the next page; only when paged.')),
    previous: Type.Optional(textOrNull('Path and query of the page before; only when paged.')),
    results: listOf(item, 'All of them, or this page.'),
  })
