/** Parses and formats the file that `export` writes and `import` reads. */

import Type from 'typebox'
import { Document, visit } from 'yaml'
import { findSchemaError, parseYaml } from '../config.ts'
import {
  code,
  flag,
  groupFields,
  locationFields,
  manufacturerFields,
  name,
  nullable,
  performerFields,
  slot,
  text,
  whole,
} from '../contract/fields.ts'
import type { InstallationFile } from '../domain/installation-file.ts'
import { settingKinds } from '../domain/settings.ts'
import { escapeControls } from './output.ts'
import { UsageError } from './terminal.ts'

/** Rejects unknown keys, so that a misspelled key is not mistaken for a missing one. */
const record = <T extends Type.TProperties>(properties: T, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })
const list = <T extends Type.TSchema>(item: T, description: string) => Type.Optional(Type.Array(item, { description }))
const partial = <T extends Type.TProperties>(properties: T) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])) as {
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

const Manufacturer = record({ code, ...manufacturerFields, settings }, 'a manufacturer with at least a code')

const Location = Type.Cyclic(
  {
    Location: Type.Object(
      {
        name,
        ...locationFields,
        locations: Type.Optional(Type.Array(Type.Ref('Location'), { description: 'a list of locations' })),
      },
      { additionalProperties: false, description: 'a location with at least a name' },
    ),
  },
  'Location',
)

const Group = record({ title: name, ...groupFields }, 'a group with at least a title')

const Performer = record({ name, ...performerFields }, 'a performer with at least a name')

const device = {
  manufacturer: code,
  ...partial({ serial_number: text(1, 1024), mac_address: text(1, 1024), api_device_id: text(1, 1024) }),
}

const Receiver = record(
  {
    ...device,
    name: Type.Optional(name),
    location: Type.Optional(nullable(Type.Array(name, { minItems: 1 }), 'a list of location names, outermost first')),
    slots: Type.Optional(
      Type.Record(Type.String({ pattern: '^\\d{1,5}$' }), slot, {
        additionalProperties: false,
        description: 'channel numbers with their slots, whole numbers from 1 to 65535',
      }),
    ),
  },
  'a receiver with its manufacturer',
)

const Assignment = record(
  {
    performer: name,
    ...device,
    channel: Type.Optional(whole(1, 65_535)),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })),
  },
  'an assignment with a performer and a manufacturer',
)

const File = record(
  {
    version: Type.Literal(1, { description: '1, the version that this program supports' }),
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

/** Throws a UsageError with the file, the path of the invalid value and the expected value in one line. */
export function parseInstallationFile(content: string, filename: string): InstallationFile {
  let values: unknown
  try {
    values = parseYaml(content)
  } catch (error) {
    throw new UsageError(`${filename}: ${(error as Error).message}`)
  }
  const error = findSchemaError(File, values)
  if (error !== null) throw new UsageError(`${filename}: ${error.key === '' ? '' : `${error.key}: `}${error.problem}`)
  return values as InstallationFile
}

const explanation = ` The configuration of an installation, written by micwatch export.

 Import it with micwatch import, which adds and changes the records of the file and removes none. Manufacturers are
 matched by code, locations by their names, groups by title, performers by name, receivers by manufacturer and serial
 number (otherwise by MAC address, otherwise by the id that their system gives them).

 "********" stands for a secret that was not exported; the import leaves the stored secret unchanged.
 Accounts, tokens, the review queue and the logs are not included: micwatch backup copies everything.`

export function toYamlText(file: InstallationFile): string {
  const document = new Document(file)
  document.commentBefore = explanation
  visit(document, {
    Scalar(_, scalar) {
      // YAML has escapes only in double-quoted strings.
      if (typeof scalar.value === 'string' && escapeControls(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  // A line width of 0 means no limit, so that long values, such as pictures, stay on one line.
  return escapeControls(document.toString({ lineWidth: 0 }))
}

export function toJsonText(file: InstallationFile): string {
  return escapeControls(`${JSON.stringify(file, null, 2)}\n`)
}
