/** Tracks the queries that a device refuses, and its values with an undocumented form. */

import type { DeviceProblem } from '../../../domain/equipment/health.ts'
import { createMisfits, type FieldTable, field } from '../../../upstream/field-table.ts'
import type { Family } from './families.ts'
import { fields } from './fields.ts'
import { Fields } from './message-fields.ts'

export interface DeviceCheck {
  /** Checks a value that the device has reported under a key such as `1 FREQUENCY` or `1 SLOT_STATUS 2`. */
  received(key: string, value: string): void
  /** Meter values of a channel have arrived in the documented form. */
  metered(channel: number): void
  /** Returns the same list as before if unchanged. `hasRefused` is true if the device has refused any query. */
  listProblems(hasRefused: boolean): readonly DeviceProblem[]
}

const byKey = Object.fromEntries(
  Object.values(fields).flatMap((entry) => entry.address.split(', ').map((key) => [key, { ...entry, address: key }])),
)

export function createDeviceCheck(subject: string, family: Family): DeviceCheck {
  const misfits = createMisfits(subject, { ...byKey, ...sampleField(family) })
  const reported = new Set<string>()
  let problems: readonly DeviceProblem[] = []
  let hasChanged = false
  return {
    received(key, value) {
      const name = key.replace(/^\d+ | \d+$/g, '')
      const address = name.replace(/^(?:SEC|BAY) /, '')
      if (!reported.has(name)) hasChanged = true
      reported.add(name)
      if (misfits.check([[address, value, key]])) hasChanged = true
    },
    metered(channel) {
      if (problems.length > 0 && misfits.check([['SAMPLE', null, `${channel} SAMPLE`]])) hasChanged = true
    },
    listProblems(hasRefused) {
      // `REP ERR` does not name the command, so all unanswered queries count as refused.
      const refused = hasRefused ? queriedNames(family).filter((name) => !reported.has(name)) : []
      if (misfits.setRefused(new Map(refused.map((name) => [name, 'REP ERR'])))) hasChanged = true
      if (hasChanged) problems = misfits.list()
      hasChanged = false
      return problems
    },
  }
}

/** Returns the queried keys as they are reported. `ALL` stands for several keys, and is not a key itself. */
function queriedNames({ deviceKeys, channelKeys, meterMs, meterKey }: Family): readonly string[] {
  const queries = [...deviceKeys, ...channelKeys, ...(meterMs > 0 ? [meterKey] : [])]
  return queries.filter((key) => key !== 'ALL').map((key) => key.replace(/^CH | \d+$/g, ''))
}

function sampleField({ readSample }: Family): FieldTable['fields'] {
  if (readSample === null) return {}
  const hasForm = (raw: unknown) => readSample(Fields.of(String(raw)), 0) !== null
  return { SAMPLE: field({ address: 'SAMPLE', unit: 'text', range: '', hasForm, convert: () => null }) }
}
