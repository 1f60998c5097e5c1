/**
 * The battery packs in a charger's bays. A charger does not tell which pack it is that stands there, so a pack is known
 * by its bay. Pure.
 */

import type { Fault } from '../../../model/details.ts'
import type { DeviceReport } from '../../../model/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { type Family, numbersOf, type Words } from './families.ts'
import { readByte, readShifted, readTwoBytes, type Word } from './words.ts'

/** What a charger tells of all packs that stand in it. */
export function readPacks(
  family: Family,
  words: Words,
  charger: { readonly id: string; readonly name: string },
): readonly DeviceReport[] {
  return numbersOf(family, words).flatMap((bay) => {
    const word = (key: string) => words[`${bay} ${key}`]
    if (word('BATT_DETECTED') !== 'YES') return []
    return withoutUndefined<DeviceReport>({
      id: `${charger.id}:${bay}`,
      kind: 'transmitter',
      device_type: family.name,
      name: `${charger.name}, bay ${bay}`,
      online: true,
      battery: readByte(word('BATT_CHARGE'), 100),
      details: withoutUndefined({
        battery_health: readByte(word('BATT_HEALTH'), 100),
        battery_cycles: readTwoBytes(word('BATT_CYCLE')),
        battery_minutes_to_full: readMinutesToFull(word('BATT_TIME_TO_FULL')),
        // Not from BATT_TEMP_F: projects that own chargers disagree about its offset.
        battery_temperature_c: readShifted(word('BATT_TEMP_C'), 40),
        fault: readFault(word, words.STORAGE_MODE === 'ON'),
      }),
    })
  })
}

/** 65529 stands for full; what lies above is not known, or not yet. */
function readMinutesToFull(word: Word): number | null | undefined {
  return word === '65529' ? 0 : readTwoBytes(word, 65_528)
}

/** BATT_ERROR. Source: Shure's command strings for SBC220/240. */
const errors: Readonly<Record<string, Fault>> = {
  '001': 'unknown_module',
  '002': 'unrecognized_battery',
  '003': 'recovery_failed',
  '004': 'charge_failed',
  '005': 'check_battery',
  '006': 'check_charger',
  '007': 'communication_failure',
}

/** A pack that is too hot or too cold is not charged, and one in storage mode is charged to some 40 % and no further. */
function readFault(word: (key: string) => Word, isStorageMode: boolean): Fault | null {
  const [state = '', error] = [word('BATT_STATE'), readByte(word('BATT_ERROR'))]
  if (error) return errors[word('BATT_ERROR') ?? ''] ?? 'battery_error'
  if (state === 'ERROR') return 'battery_error'
  if (state === 'HOT') return 'too_hot'
  if (state === 'COLD') return 'too_cold'
  return isStorageMode || /^(?:READY_TO_STORE|DISCHARG)/.test(state) ? 'storage_mode' : null
}
