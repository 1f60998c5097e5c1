/** Settings: the effective values, and where each comes from. */

import Type, { type TSchema } from 'typebox'
import { type Body, flag, named, oneOf, text, textOrNull, whole, wholeOrNull } from '../described.ts'
import { type SettingKey, type SettingKind, settingKinds } from '../settings.ts'

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

/** The schema of each setting. */
const schemas = Object.fromEntries(Object.entries(settingKinds).map(([key, kind]) => [key, schemaOf(kind)])) as {
  [Key in SettingKey]: SchemaOf<(typeof settingKinds)[Key]>
}

export const Configuration = named('Config', 'Effective settings.', schemas)

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
})
export type SettingsBody = Body<typeof ScopedSettings>
