/** Building blocks of schemas, and fields and parameters of several resources. */

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

/** An object schema with a name in the documents. */
export function named<Properties extends TProperties>(title: string, description: string, properties: Properties) {
  return Type.Object(properties, { title, description })
}

export const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const text = (description: string) => Type.String({ description })
export const textOrNull = (description: string) => orNull(Type.String(), description)
export const whole = (description: string) => Type.Integer({ description })
export const wholeOrNull = (description: string) => orNull(Type.Integer(), description)
export const flag = (description: string) => Type.Boolean({ description })
export const flagOrNull = (description: string) => orNull(flag(description), description)
export const time = (description: string) => Type.String({ format: 'date-time', description })
export const timeOrNull = (description: string) => orNull(Type.String({ format: 'date-time' }), description)

/** ISO 3166-1 alpha-2, in capital or small letters. */
export const countryCode = Type.String({
  pattern: '^[A-Za-z]{2}$',
  description: 'a country code of two letters, such as DE',
})
/** In degrees; north and east are positive. */
export const coordinates = {
  latitude: Type.Number({ minimum: -90, maximum: 90, description: 'degrees from -90 to 90' }),
  longitude: Type.Number({ minimum: -180, maximum: 180, description: 'degrees from -180 to 180' }),
}

export const listOf = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Array(schema, { description })

export const oneOf = <Values extends string[]>(values: readonly [...Values], description: string) =>
  Type.Enum(values, { description })

const pageFields = {
  count: whole('Total number of items.'),
  next: textOrNull('Path and query of the next page.'),
  previous: textOrNull('Path and query of the previous page.'),
}

const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object(
    { ...pageFields, results: listOf(item, 'Items of this page.') },
    { description: 'With `page` or `page_size`.' },
  )

export interface PageBody<Item> extends Body<Type.TObject<typeof pageFields>> {
  readonly results: readonly Item[]
}

/** The response schema of a list. */
export const pagedOf = <Item extends TSchema>(item: Item) =>
  Type.Union([listOf(item, 'All items, if the request does not ask for a page.'), pageOf(item)], {
    description: 'All items, or the requested page.',
  })

/** The response schema of a list that has `count` and `results` even without paging. */
export const countedOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    count: whole('Total number of items.'),
    next: Type.Optional(textOrNull('Path and query of the next page; only present when paged.')),
    previous: Type.Optional(textOrNull('Path and query of the previous page; only present when paged.')),
    results: listOf(item, 'All items, or the items of this page.'),
  })

/** A body that is not JSON. `mediaType` may be a range such as `image/*`. */
export const binary = (mediaType: string, description: string) =>
  Type.Unsafe<Uint8Array>({ contentMediaType: mediaType, description })

export interface UploadedFile {
  /** Without folders. */
  readonly name: string
  readonly bytes: Uint8Array
  /** The bytes are cut off then. */
  readonly isTooLarge: boolean
}

/** A file in a form. */
export const uploadedFile = (description: string) =>
  Type.Unsafe<UploadedFile>({ contentMediaType: 'application/octet-stream', description })

export const NoContent = Type.Null({ description: 'Success without a body.' })

// --- Fields of requests. Their descriptions complete the error message `field: expected …`. --------------------------

export const boundedText = (min: number, max: number) =>
  Type.String({ minLength: min, maxLength: max, description: `text of ${min} to ${max} characters` })

export const trueOrFalse = Type.Boolean({ description: 'true or false' })

export const boundedWhole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })

export const nullable = <Schema extends TSchema>(schema: Schema, expected: string) =>
  orNull(schema, `${expected}, or null`)

export const choiceOf = <Values extends string[]>(values: readonly [...Values]) =>
  Type.Enum(values, { description: `one of ${values.join(', ')}` })

export const codePattern = '[a-z][a-z0-9_-]{0,63}'

export const code = Type.String({
  pattern: `^${codePattern}$`,
  description: 'a lower-case letter, then up to 63 letters, digits, _ and -',
})

export const name = boundedText(1, 255)

export const slot = boundedWhole(1, 65_535)

/** Carriers in different zones make no intermodulation. */
export const zone = nullable(boundedText(1, 64), 'text of 1 to 64 characters')

export const mhz = Type.String({
  pattern: '^\\d{1,5}\\.\\d{3}$',
  description: 'text with a frequency in MHz with three decimals, such as 470.300',
})

export const idOf = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description })
export const recordId = idOf('a whole number of 1 or more')

export const distinctIds = Type.Array(recordId, {
  maxItems: 1000,
  uniqueItems: true,
  description: 'a list of at most 1000 distinct ids',
})

/** Rejects unknown keys, so that a misspelled key is not mistaken for a missing one. */
export const body = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false, description: 'an object' })

/** For actions without fields. The body may be absent. */
export const NoFields = Type.Optional(body({}))

/** Read-only fields, accepted so that a client can send back a response. */
export const ignoredOfRecord = {
  id: Type.Optional(recordId),
  version: Type.Optional(Type.Integer({ description: 'a whole number' })),
}

/** Makes fields optional, for a request that changes the given ones. */
export const optional = <T extends TProperties>(properties: T) => Type.Partial(Type.Object(properties)).properties

// --- Fields of several resources -------------------------------------------------------------------------------------

export const id = whole('Id of the record.')
export const version = whole('Changes with every edit by a user or a token, and is never reused. It is the `ETag`.')
export const manufacturer = text('Code of the manufacturer.')
export const ip = textOrNull('IPv4 address.')

export const SiteReference = named('SiteReference', 'Another installation of Micwatch that this one follows.', {
  code: text('Code of the site.'),
  name: text('Name of the site.'),
})
export type SiteReference = Body<typeof SiteReference>

export const site = orNull(SiteReference, 'The site that monitors it; null if this installation does.')
export const siteOfEvent = orNull(SiteReference, 'The site that has recorded it; null if this installation has.')
export const siteOfAlert = orNull(SiteReference, 'The site that has raised it; null if this installation has.')

// --- Parameters ------------------------------------------------------------------------------------------------------

export const ById = Type.Object({ id: idOf('Id of the record.') })

export const query = <Properties extends TProperties>(properties: Properties) => Type.Partial(Type.Object(properties))

export const dayOrTime = (description: string) =>
  Type.Union([Type.String({ format: 'date' }), Type.String({ format: 'date-time' })], {
    description: `${description}; a date or a time such as 2026-05-01T18:00:00Z.`,
  })

export const sameValue = 'Only records with this value.'
export const manufacturerFilter = text('Code of a manufacturer, to return only its records.')

export const siteFilter = text(
  'Code of a site, to return only what it monitors; `local`: only what this installation monitors.',
)

/** For responses that contain only local records by default. */
export const siteInsteadOfLocal = text(
  'Code of a site, to return what it monitors instead of what this installation monitors.',
)

export const paging = {
  page: Type.Integer({ minimum: 1, description: 'Page number; default 1.' }),
  page_size: Type.Integer({ minimum: 1, description: 'Items per page; default 100, at most 1000.' }),
}

export const Paging = query(paging)

const siteOfLocalList = text('Code of a site. These records belong to this installation, so only `local` returns any.')

export const localList = { site: siteOfLocalList, ...paging }

/** For lists of local records. */
export const LocalList = query(localList)

export const Scope = query({ manufacturer: manufacturerFilter })
export const ScopedList = query({ manufacturer: manufacturerFilter, ...localList })

export const EquipmentList = query({ manufacturer: manufacturerFilter, site: siteFilter, ...paging })

// --- Actions on several records --------------------------------------------------------------------------------------

export const Ids = body({
  ids: Type.Array(recordId, { minItems: 1, maxItems: 1000, description: 'a list of 1 to 1000 ids' }),
})

export const Review = named('Review', 'Result of an action on several records.', {
  message: text('Message for users.'),
  updated: whole('Number of changed records.'),
  failed: listOf(Type.Object({ id, error: text('Why it was not changed.') }), 'Records that were not changed.'),
})
export type ReviewBody = Body<typeof Review>
