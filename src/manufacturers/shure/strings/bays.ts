/**
 * The battery packs in a charger's bays. A charger does not tell which pack it is that stands there, so a pack is known
 * by its bay. Pure.
 */

import type { Observation } from '../../../model/receiver.ts'
import { told } from '../../../upstream/fields.ts'
import { type Family, numbersOf, type Words } from './families.ts'
import { readNumber, type Word } from './words.ts'

/** What a charger tells of all packs that stand in it. */
export function readPacks(
  family: Family,
  words: Words,
  charger: { readonly id: string; readonly name: string },
): readonly Observation[] {
  return numbersOf(family, words).flatMap((bay) => {
    const word = (key: string) => words[`${bay} ${key}`]
    if (word('BATT_DETECTED') !== 'YES') return []
    return told<Observation>({
      id: `${charger.id}:${bay}`,
      kind: 'transmitter',
      device_type: family.name,
      name: `${charger.name}, bay ${bay}`,
      online: true,
      battery: readNumber(word('BATT_CHARGE'), 101),
      details: told({
        battery_health: readNumber(word('BATT_HEALTH'), 101),
        battery_cycles: readNumber(word('BATT_CYCLE'), 65_535),
        battery_minutes_to_full: readMinutesToFull(word('BATT_TIME_TO_FULL')),
      }),
    })
  })
}

/** 65529 stands for full; what lies above is not known, or not yet. */
function readMinutesToFull(word: Word): number | null | undefined {
  return word === '65529' ? 0 : readNumber(word, 65_529)
}
