/** Effective settings and their sources. */

import Type, { type TSchema } from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  body,
  boundedText,
  flag,
  idOf,
  NoContent,
  named,
  nullable,
  oneOf,
  pagedOf,
  paging,
  query,
  text,
  textOrNull,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'
import { type SettingKey, type SettingKind, settingKinds } from './settings.ts'

type SchemaOf<Kind extends SettingKind> = Kind extends { readonly type: 'integer' }
  ? Type.TInteger
  : Kind extends { readonly type: 'decimal' }
    ? Type.TNumber
    : Kind extends { readonly type: 'boolean' }
      ? Type.TBoolean
      : Kind extends { readonly type: 'time_zone' | 'list' }
        ? Type.TString
        : Kind extends { readonly values: readonly [...infer Values extends string[]] }
          ? Type.TEnum<Values>
          : never

function schemaOf({ description, ...kind }: SettingKind): TSchema {
  switch (kind.type) {
    case 'boolean':
      return flag(description)
    case 'integer':
      return whole(description)
    case 'decimal':
      return Type.Number({ description })
    case 'time_zone':
    case 'list':
      return text(description)
    case 'choice':
      return oneOf([...kind.values], description)
  }
}

const schemas = Object.fromEntries(Object.entries(settingKinds).map(([key, kind]) => [key, schemaOf(kind)])) as {
  [Key in SettingKey]: SchemaOf<(typeof settingKinds)[Key]>
}

export const Configuration = named('Config', 'The effective settings of a scope, and their version.', {
  ...schemas,
  version,
})
export type ConfigBody = Body<typeof Configuration>

type Sourced<Schema extends TSchema> = Type.TObject<{
  value: Schema
  source: Type.TEnum<['stored', 'manufacturer', 'global', 'configured', 'default']>
}>

const sourced = <Value extends TSchema>(value: Value): Sourced<Value> =>
  Type.Object(
    {
      value,
      source: oneOf(
        ['stored', 'manufacturer', 'global', 'configured', 'default'],
        'Where the value comes from: `stored` in this scope, or elsewhere.',
      ),
    },
    { description: 'An effective value.' },
  )

export const ScopedSettings = named('ScopedSettings', 'The settings of one scope.', {
  manufacturer: textOrNull('Code of the manufacturer; null for the global settings and those of a group.'),
  group: wholeOrNull('Id of the group; null for the global settings and those of a manufacturer.'),
  settings: Type.Object(
    Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, sourced(schema)])) as {
      [Key in SettingKey]: Sourced<SchemaOf<(typeof settingKinds)[Key]>>
    },
    { description: 'By key.' },
  ),
  version,
})
export type SettingsBody = Body<typeof ScopedSettings>

const SettingChange = body({
  key: boundedText(1, 255),
  value: boundedText(0, 4096),
  manufacturer: Type.Optional(nullable(boundedText(1, 64), "a manufacturer's code")),
})

const ByKey = Type.Object({ key: text('Key of the setting.') })

/** Without a scope: the global settings. */
const settingScope = {
  manufacturer: text('Code of a manufacturer: its settings. Not together with `group`.'),
  group: idOf('Id of a group: its settings. Not together with `manufacturer`.'),
}

const SettingScope = query(settingScope)
const ScopedSettingsList = query({ ...settingScope, ...paging })
const RemovedSetting = Type.Object({ ...ByKey.properties, ...SettingScope.properties })

export const configurationOperations = operationsOf({
  getConfig: endpoint('GET', '/api/config/', {
    ...about('Monitoring', 'The effective settings: the global ones, or those of one manufacturer or group.'),
    querystring: SettingScope,
    response: { 200: Configuration, 404: ErrorResponse },
  }),

  changeConfig: endpoint('POST', '/api/config/', {
    ...about('Monitoring', 'Changes one setting and returns the effective settings.'),
    querystring: SettingScope,
    body: SettingChange,
    response: { 200: Configuration, 404: ErrorResponse, 412: ErrorResponse },
  }),

  removeConfig: endpoint('DELETE', '/api/config/', {
    ...about('Monitoring', 'Deletes a stored setting of a scope, so that the value that it overrode applies again.'),
    querystring: RemovedSetting,
    response: { 204: NoContent, 404: ErrorResponse, 412: ErrorResponse },
  }),

  listSettings: endpoint('GET', '/api/admin/settings/', {
    ...about(
      'Administration',
      'The effective settings, global, per manufacturer and per group, and where each value comes from.',
    ),
    querystring: ScopedSettingsList,
    response: { 200: pagedOf(ScopedSettings) },
  }),

  removeSetting: endpoint('DELETE', '/api/admin/settings/:key/', {
    ...about(
      'Administration',
      'Deletes a stored setting of a scope, so that the value that it overrode applies again.',
    ),
    params: ByKey,
    querystring: SettingScope,
    response: { 204: NoContent, 412: ErrorResponse },
  }),
})
