/**
 * Schemas of editable fields, shared by the bodies of requests and the files of `import`. Their descriptions complete the
 * error message `field: expected …`.
 */

import Type, { type TSchema } from 'typebox'
import { alertKinds } from './alert-kinds.ts'
import { guardLevels, notificationChannelTypes, placeholderKinds, severities, weekdays } from './values.ts'

export const text = (min: number, max: number) =>
  Type.String({ minLength: min, maxLength: max, description: `text of ${min} to ${max} characters` })
export const flag = Type.Boolean({ description: 'true or false' })
export const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })
export const nullable = <T extends TSchema>(schema: T, expected: string) =>
  Type.Union([schema, Type.Null()], { description: `${expected}, or null` })

export const codePattern = '[a-z][a-z0-9_-]{0,63}'
export const code = Type.String({
  pattern: `^${codePattern}$`,
  description: 'a lower-case letter, then up to 63 letters, digits, _ and -',
})
/** A record's name. */
export const name = text(1, 255)
/** A slot on the monitor page. */
export const slot = whole(1, 65_535)

/** Carriers in different zones make no intermodulation. */
export const zone = nullable(text(1, 64), 'text of 1 to 64 characters')

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
  zone: Type.Optional(zone),
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

export const locationFields = { description: Type.Optional(text(0, 2000)), zone: Type.Optional(zone) }

export const notificationChannelType = Type.Enum([...notificationChannelTypes], {
  description: `one of ${notificationChannelTypes.join(', ')}`,
})

export const notificationChannelFields = {
  /** Each service validates its own configuration. */
  config: Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: 100,
    description: 'an object of at most 100 fields',
  }),
  enabled: Type.Optional(flag),
}

const clockTime = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'a time such as 19:30' })

const schedule = Type.Object(
  {
    days: Type.Array(Type.Enum([...weekdays], { description: `one of ${weekdays.join(', ')}` }), {
      minItems: 1,
      uniqueItems: true,
      description: `a list of distinct days: ${weekdays.join(', ')}`,
    }),
    from: clockTime,
    to: clockTime,
    time_zone: text(1, 64),
  },
  { additionalProperties: false },
)

/** How long an alert may stay unacknowledged. */
export const escalationSeconds = whole(1, 86_400)

/** The fields of a rule that do not refer to other records by id. */
export const notificationRuleFields = {
  kinds: Type.Optional(
    Type.Array(Type.Enum([...alertKinds], { description: `one of ${alertKinds.join(', ')}` }), {
      uniqueItems: true,
      description: 'a list of distinct kinds of alerts',
    }),
  ),
  min_severity: Type.Optional(Type.Enum([...severities], { description: `one of ${severities.join(', ')}` })),
  manufacturers: Type.Optional(
    Type.Array(text(1, 64), {
      maxItems: 100,
      uniqueItems: true,
      description: 'a list of at most 100 distinct codes of manufacturers',
    }),
  ),
  sites: Type.Optional(
    Type.Array(text(1, 640), {
      maxItems: 1000,
      uniqueItems: true,
      description: 'a list of at most 1000 distinct codes of sites, local or *',
    }),
  ),
  when: Type.Optional(
    Type.Union([Type.Enum(['always', 'during_shows']), schedule], {
      description: 'always, during_shows, or an object with days, from, to (HH:MM) and time_zone',
    }),
  ),
  delay_seconds: Type.Optional(whole(0, 86_400)),
  repeat_minutes: Type.Optional(whole(0, 10_080)),
  send_cleared: Type.Optional(flag),
}

// --- Frequencies -----------------------------------------------------------------------------------------------------

export const mhz = Type.String({
  pattern: '^\\d{1,5}\\.\\d{3}$',
  description: 'text with a frequency in MHz with three decimals, such as 470.300',
})

export const mhzRanges = (maxItems: number) =>
  Type.Array(Type.Object({ from: mhz, to: mhz }, { additionalProperties: false }), {
    maxItems,
    description: `a list of at most ${maxItems} ranges with from and to`,
  })

const guard = Type.Optional(whole(0, 100_000))

/** In kHz; absent guards are 0. */
export const guards = Type.Object(
  { spacing: guard, '2t3o': guard, '3t3o': guard, '2t5o': guard, '2t7o': guard, '2t9o': guard },
  { additionalProperties: false, description: 'an object with spacing, 2t3o, 3t3o, 2t5o, 2t7o and 2t9o in whole kHz' },
)

export const windowMhz = nullable(
  Type.Number({ minimum: 0.001, maximum: 10_000 }),
  'a number of MHz from 0.001 to 10000',
)

export const profileId = Type.String({
  pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
  description: 'a lower-case letter or digit, then up to 63 letters, digits, _ and -',
})

const perLevel = <Value extends TSchema>(value: Value) =>
  Type.Object(
    { robust: Type.Optional(value), standard: Type.Optional(value), more: Type.Optional(value) },
    { additionalProperties: false, description: `an object with ${guardLevels.join(', ')}` },
  )

/** A level that is absent has the values of `standard`. */
export const profileFields = {
  levels: Type.Optional(perLevel(guards)),
  window_mhz: Type.Optional(perLevel(windowMhz)),
  step_khz: Type.Optional(whole(1, 10_000)),
  occupied_khz: Type.Optional(whole(1, 100_000)),
  is_generator: Type.Optional(flag),
  filter_centres: Type.Optional(Type.Array(mhz, { maxItems: 100, description: 'a list of at most 100 MHz' })),
  shares_carrier: Type.Optional(flag),
  bands: Type.Optional(
    Type.Array(Type.Object({ name: text(1, 64), ranges: mhzRanges(20) }, { additionalProperties: false }), {
      maxItems: 200,
      description: 'a list of at most 200 bands with name and ranges',
    }),
  ),
  source: Type.Optional(text(0, 1000)),
}
