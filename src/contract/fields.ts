/**
 * Schemas of editable fields, shared by the bodies of requests and the files of `import`. Their descriptions complete the
 * error message `field: expected …`.
 */

import Type, { type TSchema } from 'typebox'
import { placeholderKinds } from './values.ts'

export const text = (min: number, max: number) =>
  Type.String({ minLength: min, maxLength: max, description: `text of ${min} to ${max} characters` })
export const flag = Type.Boolean({ description: 'true or false' })
export const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })
export const nullable = <T extends TSchema>(schema: T, expected: string) =>
  Type.Union([schema, Type.Null()], { description: `${expected}, or null` })

export const code = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,63}$',
  description: 'a lower-case letter, then up to 63 letters, digits, _ and -',
})
/** A record's name. */
export const name = text(1, 255)
/** A slot on the monitor page. */
export const slot = whole(1, 65_535)

export const manufacturerFields = {
  name: Type.Optional(name),
  plugin: Type.Optional(text(1, 64)),
  api_enabled: Type.Optional(flag),
  config: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'an object' })),
}

export const groupFields = {
  slots: Type.Optional(
    Type.Array(slot, {
      maxItems: 10_000,
      uniqueItems: true,
      description: 'at most 10000 distinct whole numbers from 1 to 65535',
    }),
  ),
  hide_charts: Type.Optional(flag),
  manufacturer: Type.Optional(nullable(text(1, 64), "a manufacturer's code")),
}

export const pictureText =
  'text of at most 262144 characters, a data URL of a PNG, JPEG or WebP picture of at most 2 MB'
/** Long enough for the data URL of a picture of 2 MB. */
const picture = nullable(text(1, 2_700_000), pictureText)
export const placeholderKind = Type.Enum([...placeholderKinds], {
  description: `one of ${placeholderKinds.join(', ')}`,
})

export const placeholderFields = {
  /** Only a blank place may have an empty name. */
  name: Type.Optional(text(0, 255)),
  frequency: Type.Optional(
    nullable(
      Type.String({ pattern: '^[1-9]\\d{0,4}\\.\\d{3}$' }),
      'text with a frequency in MHz with three decimals, such as 470.300',
    ),
  ),
  note: Type.Optional(text(0, 4096)),
}

/** The plan of a show, without its groups. */
export const showFields = {
  starts_at: Type.Optional(nullable(text(1, 64), 'a time such as 2026-05-01T18:00:00Z')),
  ends_at: Type.Optional(nullable(text(1, 64), 'a time such as 2026-05-01T20:30:00Z')),
  notes: Type.Optional(text(0, 4096)),
}

export const performerFields = {
  notes: Type.Optional(text(0, 4096)),
  picture: Type.Optional(picture),
}

/** The role that a performer plays. */
export const performedRole = nullable(text(1, 255), 'text of 1 to 255 characters')

export const locationFields = { description: Type.Optional(text(0, 2000)) }
