/** The English texts of the pages: the catalogue, and the texts of the tables in the contract. */

import { alertKindTable } from '../../src/contract/alert-kinds.ts'
import {
  type NotificationChannelType,
  notificationServiceTable as services,
} from '../../src/contract/notification-services.ts'
import { labelledSettings } from '../../src/contract/settings.ts'
import catalogue from '../languages/en.json' with { type: 'json' }

/** Returns a text of each row. */
function textsOf<Key extends string, Row, Text>(
  table: Readonly<Record<Key, Row>>,
  toText: (row: Row) => Text,
): Record<Key, Text> {
  const entries = Object.entries<Row>(table).map(([key, row]) => [key, toText(row)])
  return Object.fromEntries(entries) as Record<Key, Text>
}

export const english = {
  ...catalogue,
  alerts: {
    ...catalogue.alerts,
    kinds: textsOf(alertKindTable, ({ title }) => title),
    reasons: { ...catalogue.alerts.reasons, ...textsOf(alertKindTable, ({ reason }) => reason) },
    detailedReasons: detailedReasons(),
  },
  notifications: {
    ...catalogue.notifications,
    services: textsOf(services, ({ name, description, intro }) => ({ name, description, intro })),
    fields: fieldTexts(),
  },
  settings: {
    ...catalogue.settings,
    keys: textsOf(labelledSettings, ({ label, hint }) => ({ title: label, description: hint })),
  },
}

/** The keys of plural forms end with `_one` and `_other`. */
function detailedReasons(): Readonly<Record<keyof typeof alertKindTable, string>> {
  const entries = Object.entries(alertKindTable).flatMap(([kind, { detailedReason: text }]) => {
    if (typeof text !== 'object') return text === undefined ? [] : [[kind, text]]
    return Object.entries(text).map(([form, each]) => [`${kind}_${form}`, each])
  })
  return Object.fromEntries(entries)
}

/** Not an interface, because the types of `t` would treat it as a text. */
type FieldText = { readonly label: string; readonly hint: string }

type FieldTexts = {
  readonly [Type in NotificationChannelType]: {
    readonly [Name in keyof (typeof services)[Type]['fields']]: FieldText
  }
}

function fieldTexts(): FieldTexts {
  const toTexts = (fields: Readonly<Record<string, FieldText>>) =>
    textsOf(fields, ({ label, hint }): FieldText => ({ label, hint }))
  return textsOf(services, ({ fields }) => toTexts(fields)) as FieldTexts
}
