/**
 * The battery packs in a charger's bays, each a unit of its own. A pack has no number that the charger tells, so it is
 * known by where it stands: the charger's MAC address and the bay. Pure.
 */

import type { Observation } from '../../../model/receiver.ts'
import { maxNameChars, readText, told } from '../../../upstream/fields.ts'
import { channelsOf } from './families.ts'
import type { StringsDevice } from './translate.ts'
import { readNumber, type Word } from './words.ts'

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

export function toPack(at: Bay): Observation {
  const { id, words, family, called, bay } = at
  const word = (key: string) => words[`${bay} ${key}`]
  const charger = readText(words.DEVICE_ID, maxNameChars) ?? called ?? words.MODEL ?? family.model
  return told({
    id,
    kind: 'transmitter' as const,
    device_type: family.name,
    name: `${charger} ${bay}`,
    online: isOccupied(at),
    battery: readNumber(word('BATT_CHARGE'), 101),
    details: told({
      battery_health: readNumber(word('BATT_HEALTH'), 101),
      battery_cycles: readNumber(word('BATT_CYCLE'), 65_535),
      battery_minutes_to_full: readMinutesToFull(word('BATT_TIME_TO_FULL')),
    }),
  })
}

/** 65529 stands for full; what lies above is not known, or not yet. */
function readMinutesToFull(word: Word): number | null | undefined {
  return word === '65529' ? 0 : readNumber(word, 65_529)
}
