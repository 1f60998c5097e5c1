/** Parses and formats the file that `export` writes and `import` reads. */

import Type from 'typebox'
import { Document, visit } from 'yaml'
import { findSchemaError } from '../config/schema-error.ts'
import { parseYaml } from '../config/yaml.ts'
import { alertKinds } from '../contract/alert-kinds.ts'
import { profileId } from '../contract/channels.ts'
import { profileFields } from '../contract/frequencies.ts'
import { groupFields } from '../contract/groups.ts'
import { locationFields } from '../contract/locations.ts'
import { manufacturerFields } from '../contract/manufacturers.ts'
import {
  escalationSeconds,
  notificationChannelFields,
  notificationChannelType,
  notificationRuleFields,
} from '../contract/notifications.ts'
import { performedRole, performerFields } from '../contract/performers.ts'
import { placeholderFields, placeholderKind } from '../contract/placeholders.ts'
import { code, name, nullable, slot, boundedText as text, boundedWhole as whole } from '../contract/schema.ts'
import { type SettingKey, type SettingKind, settingKeys, settingKinds } from '../contract/settings.ts'
import { showFields } from '../contract/shows.ts'
import { checkResults } from '../contract/values.ts'
import type { InstallationFile } from '../domain/installation-file.ts'
import { describeValues } from '../domain/settings.ts'
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

/** A section with the settings of one scope. */
const settingsSection = (keys: readonly SettingKey[]) =>
  Type.Optional(
    record(
      partial(Object.fromEntries(keys.map((key) => [key, settingSchema(key)]))),
      `a section of ${keys.join(', ')}`,
    ),
  )

function settingSchema(key: SettingKey): Type.TSchema {
  const kind: SettingKind = settingKinds[key]
  const description = describeValues(kind)
  switch (kind.type) {
    case 'boolean':
      return Type.Boolean({ description })
    case 'integer':
      return Type.Integer({ minimum: kind.min, maximum: kind.max, description })
    case 'decimal':
      return Type.Number({ minimum: kind.min, maximum: kind.max, description })
    case 'choice':
      return Type.Enum([...kind.values], { description })
    case 'time_zone':
    case 'list':
      return Type.String({ description })
  }
}

const settings = settingsSection(settingKeys)
const manufacturerSettings = settingsSection(settingKeys.filter((key) => settingKinds[key].isPerManufacturer))
const groupSettings = settingsSection(settingKeys.filter((key) => settingKinds[key].isPerGroup))

const Manufacturer = record(
  { code, ...manufacturerFields, settings: manufacturerSettings },
  'a manufacturer with at least a code',
)

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

const Group = record({ title: name, ...groupFields, settings: groupSettings }, 'a group with at least a title')

const Performer = record({ name, ...performerFields }, 'a performer with at least a name')

const FrequencyProfile = record(
  { id: profileId, name: Type.Optional(name), ...profileFields },
  'a frequency profile with at least an id',
)

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
    profiles: Type.Optional(
      Type.Record(Type.String({ pattern: '^\\d{1,5}$' }), profileId, {
        additionalProperties: false,
        description: 'channel numbers with the ids of their frequency profiles',
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
    role: Type.Optional(performedRole),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })),
  },
  'an assignment with a performer and a manufacturer',
)

const Placeholder = record(
  { slot, kind: placeholderKind, ...placeholderFields },
  'a placeholder with at least a slot and a kind',
)

const time = Type.Optional(nullable(Type.String(), 'a time such as 2026-05-01T18:00:00Z'))

const Show = record(
  { title: name, groups: list(name, 'a list of group titles'), ...showFields, started_at: time, ended_at: time },
  'a show with at least a title',
)

const frequency = placeholderFields.frequency

const Scene = record(
  {
    show: record({ title: name, starts_at: time }, 'a show with its title and planned start'),
    ...{ title: name, by: Type.Optional(name), since: time, recalled_at: time },
    channels: list(
      record({ ...device, channel: whole(1, 65_535), slot, frequency }, 'a channel'),
      'a list of channels',
    ),
    placeholders: list(
      record({ placeholder: slot, slot, name: text(0, 255), kind: placeholderKind, frequency }, 'a placeholder'),
      'a list of placeholders',
    ),
    groups: list(
      record({ group: name, title: name, slots: Type.Array(slot, { description: 'a list of slots' }) }, 'a group'),
      'a list of groups',
    ),
    performers: list(record({ performer: name, name }, 'a performer'), 'a list of performers'),
    units: list(
      record(
        {
          ...device,
          ...partial({ channel: whole(1, 65_535), performer: name, role: performedRole }),
        },
        'a pack',
      ),
      'a list of packs',
    ),
  },
  'a scene with at least a title and its show',
)

const Silence = record(
  {
    channels: list(record({ ...device, channel: whole(1, 65_535) }, 'a channel of a device'), 'a list of channels'),
    groups: list(name, 'a list of group titles'),
    kinds: list(Type.Enum([...alertKinds], { description: 'a kind of alert' }), 'a list of kinds of alerts'),
    until: Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' }),
    reason: Type.Optional(text(0, 500)),
    by: Type.Optional(name),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })),
  },
  'a silence with the time until which it applies',
)

const requiredTime = Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })

const Marker = record(
  {
    time: requiredTime,
    until: Type.Optional(requiredTime),
    channel: Type.Optional(record({ ...device, channel: whole(1, 65_535) }, 'a channel of a device')),
    text: text(1, 500),
    by: Type.Optional(name),
  },
  'a marker with a time and a text',
)

const Check = record(
  {
    show: record({ title: name, starts_at: time }, 'a show with its title and planned start'),
    channel: record({ ...device, channel: whole(1, 65_535) }, 'a channel of a device'),
    began_at: Type.Optional(requiredTime),
    time: Type.Optional(requiredTime),
    result: Type.Optional(Type.Enum([...checkResults], { description: `one of ${checkResults.join(', ')}` })),
    note: Type.Optional(text(1, 500)),
    by: name,
  },
  'a line check with its show, channel and user',
)

const NotificationChannel = record(
  {
    name,
    type: notificationChannelType,
    ...partial(notificationChannelFields),
    secret: Type.Optional(text(1, 255)),
  },
  'a notification channel with at least a name and a type',
)

const NotificationRule = record(
  {
    name,
    notification_channels: Type.Array(name, { description: 'a list of names of notification channels' }),
    ...notificationRuleFields,
    groups: list(name, 'a list of group titles'),
    escalate: Type.Optional(
      nullable(
        record(
          {
            after_seconds: escalationSeconds,
            notification_channels: Type.Array(name, { description: 'a list of names of notification channels' }),
          },
          'a section of after_seconds and notification_channels',
        ),
        'a section of after_seconds and notification_channels',
      ),
    ),
  },
  'a notification rule with at least a name and its notification channels',
)

const PlanningCenter = record(
  {
    token: Type.Optional(text(3, 1000)),
    service_types: list(
      record(
        {
          id: text(1, 64),
          name,
          positions: Type.Record(Type.String(), nullable(slot, 'a whole number from 1 to 65535'), {
            description: 'positions with their slots',
          }),
        },
        'a service type with its id, name and positions',
      ),
      'a list of service types',
    ),
  },
  'a section of token and service_types',
)

const File = record(
  {
    version: Type.Literal(1, { description: '1, the version that this program supports' }),
    manufacturers: list(Manufacturer, 'a list of manufacturers'),
    settings,
    locations: list(Location, 'a list of locations'),
    groups: list(Group, 'a list of groups'),
    performers: list(Performer, 'a list of performers'),
    frequency_profiles: list(FrequencyProfile, 'a list of frequency profiles'),
    receivers: list(Receiver, 'a list of receivers'),
    assignments: list(Assignment, 'a list of assignments'),
    placeholders: list(Placeholder, 'a list of placeholders'),
    shows: list(Show, 'a list of shows'),
    scenes: list(Scene, 'a list of scenes'),
    silences: list(Silence, 'a list of silences'),
    markers: list(Marker, 'a list of markers'),
    checks: list(Check, 'a list of line checks'),
    notification_channels: list(NotificationChannel, 'a list of notification channels'),
    notification_rules: list(NotificationRule, 'a list of notification rules'),
    planning_center: Type.Optional(PlanningCenter),
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
 number (otherwise by MAC address, otherwise by the id that their system gives them), placeholders by slot, shows by
 title and planned start, markers by time, channel and text, line checks by show, channel and times, notification
 channels by name and type, notification rules by name, frequency profiles by id.

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
