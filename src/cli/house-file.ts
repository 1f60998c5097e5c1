/** The file that export writes and import reads: text <-> HouseFile. */

import Type from 'typebox'
import { Document, parse, visit } from 'yaml'
import { findMisfit } from '../config.ts'
import type { HouseFile } from '../model/house-file.ts'
import { settingKinds } from '../model/settings.ts'
import { escapeControls } from './output.ts'
import { UsageError } from './terminal.ts'

const text = (min: number, max: number) =>
  Type.String({ minLength: min, maxLength: max, description: `text of ${min} to ${max} characters` })
const flag = Type.Boolean({ description: 'true or false' })
const whole = Type.Integer({ minimum: 1, maximum: 65_535, description: 'a whole number from 1 to 65535' })
const nullable = <T extends Type.TSchema>(schema: T, expected: string) =>
  Type.Union([schema, Type.Null()], { description: `${expected}, or null` })
/** A misspelled key must not pass for one that was left out. */
const record = <T extends Type.TProperties>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })
const list = <T extends Type.TSchema>(item: T, description: string) => Type.Optional(Type.Array(item, { description }))
const partial = <T extends Type.TProperties>(properties: T) =>
  Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, Type.Optional(one)])) as {
    [Name in keyof T]: Type.TOptional<T[Name]>
  }

const settings = Type.Optional(
  record(
    partial({
      polling_interval: Type.Integer({ ...bounds('polling_interval') }),
      alert_battery_threshold: Type.Integer({ ...bounds('alert_battery_threshold') }),
      enable_websocket: flag,
    }),
    `a section of ${Object.keys(settingKinds).join(', ')}`,
  ),
)

function bounds(key: 'polling_interval' | 'alert_battery_threshold') {
  const { min, max } = settingKinds[key]
  return { minimum: min, maximum: max, description: `a whole number from ${min} to ${max}` }
}

const code = Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'lower-case letters, digits, _ and -' })

const Manufacturer = record(
  {
    code,
    ...partial({ name: text(1, 255), plugin: text(1, 64), api_enabled: flag }),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'a section of keys' })),
    settings,
  },
  'a manufacturer with at least a code',
)

const Location = Type.Cyclic(
  {
    Location: Type.Object(
      {
        name: text(1, 255),
        description: Type.Optional(text(0, 2000)),
        locations: Type.Optional(Type.Array(Type.Ref('Location'), { description: 'a list of locations' })),
      },
      { additionalProperties: false, description: 'a location with at least a name' },
    ),
  },
  'Location',
)

const Group = record(
  {
    title: text(1, 255),
    slots: Type.Optional(
      Type.Array(whole, {
        uniqueItems: true,
        maxItems: 10_000,
        description: 'a list of distinct whole numbers from 1',
      }),
    ),
    hide_charts: Type.Optional(flag),
    manufacturer: Type.Optional(nullable(code, "a manufacturer's code")),
  },
  'a group with at least a title',
)

const Performer = record(
  {
    name: text(1, 255),
    notes: Type.Optional(text(0, 4096)),
    picture: Type.Optional(nullable(text(1, 262_144), 'text of at most 262144 characters')),
  },
  'a performer with at least a name',
)

const device = {
  manufacturer: code,
  ...partial({ serial_number: text(1, 1024), mac_address: text(1, 1024), api_device_id: text(1, 1024) }),
}

const Receiver = record(
  {
    ...device,
    name: Type.Optional(text(1, 255)),
    location: Type.Optional(
      nullable(Type.Array(text(1, 255), { minItems: 1 }), 'a list of names from the outermost place on'),
    ),
    slots: Type.Optional(
      Type.Record(Type.String({ pattern: '^\\d{1,5}$' }), whole, {
        additionalProperties: false,
        description: 'channel numbers with their positions, whole numbers from 1 to 65535',
      }),
    ),
  },
  'a receiver with its manufacturer',
)

const Assignment = record(
  {
    performer: text(1, 255),
    ...device,
    channel: Type.Optional(whole),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })),
  },
  'an assignment with a performer and a manufacturer',
)

const File = record(
  {
    version: Type.Literal(1, { description: '1, the version this program knows' }),
    manufacturers: list(Manufacturer, 'a list of manufacturers'),
    settings,
    locations: list(Location, 'a list of locations'),
    groups: list(Group, 'a list of groups'),
    performers: list(Performer, 'a list of performers'),
    receivers: list(Receiver, 'a list of receivers'),
    assignments: list(Assignment, 'a list of assignments'),
  },
  'what micwatch export writes',
)

/** Throws UsageError: one line with the file, the path in it and what was expected there. */
export function parseHouseFile(content: string, name: string): HouseFile {
  let values: unknown
  try {
    values = parse(content)
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    throw new UsageError(`${name}: not valid YAML: ${line.replace(/:$/, '')}`)
  }
  const misfit = findMisfit(File, values)
  if (misfit !== null) throw new UsageError(`${name}: ${misfit.key === '' ? '' : `${misfit.key}: `}${misfit.trouble}`)
  return values as HouseFile
}

const explanation = ` The configuration of a house, written by micwatch export.

 Read it in with micwatch import: that adds and changes what the file says and takes nothing away. Manufacturers are
 found by code, locations by their names, groups by title, performers by name, receivers by manufacturer and serial
 number (else by MAC address, else by the id their system gives them).

 "********" stands for a secret that was left out; read in, it leaves the stored one as it is.
 Accounts, tokens, the review queue and the logs are not in here: micwatch backup keeps everything.`

export function toYamlText(file: HouseFile): string {
  const document = new Document(file)
  document.commentBefore = explanation
  visit(document, {
    Scalar(_, scalar) {
      // Escapes exist in double-quoted strings only.
      if (typeof scalar.value === 'string' && escapeControls(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  // Pictures are long, and stay one line.
  return escapeControls(document.toString({ lineWidth: 0 }))
}

export function toJsonText(file: HouseFile): string {
  return escapeControls(`${JSON.stringify(file, null, 2)}\n`)
}
