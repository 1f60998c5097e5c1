/**
 * The battery packs in a charger's bays, each a unit of its own. A pack has no number that the charger tells, so it is
 * known by where it stands: the charger's MAC address and the bay. Pure.
 */

import type { Observation } from '../../../model/receiver.ts'
import { maxNameChars, readText, told } from '../../../upstream/fields.ts'
import { channelsOf } from './families.ts'
import type { StringsDevice } from './translate.ts'
import { readNumber } from './words.ts'

/** A bay of a charger, seen as a device. */
export interface Bay extends StringsDevice {
  readonly bay: number
}

export function baysOf(charger: StringsDevice): readonly Bay[] {
  return channelsOf(charger.family, charger.words).map((bay) => ({ ...charger, id: `${charger.id}:${bay}`, bay }))
}

export function isOccupied({ words, bay }: Bay): boolean {
  return words[`${bay} BATT_DETECTED`] === 'YES'
}

/** Health, cycles and the time to full are told too; a unit has no place for them. */
export function toPack(at: Bay): Observation {
  const { id, words, family, called, bay } = at
  const charger = readText(words.DEVICE_ID, maxNameChars) ?? called ?? words.MODEL ?? family.model
  return told({
    id,
    kind: 'transmitter' as const,
    device_type: family.name,
    name: `${charger} ${bay}`,
    online: isOccupied(at),
    battery: readNumber(words[`${bay} BATT_CHARGE`], 101),
  })
}
