/** The English texts of the pages: the catalogue, and the texts of the tables in the contract. */

import { alertKindTable } from '../../src/contract/alert-kinds.ts'
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
