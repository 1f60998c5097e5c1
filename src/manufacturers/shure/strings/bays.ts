/**
 * Reads the battery packs in a charger's bays. A charger does not identify its packs, so the bay identifies the pack.
 * Pure.
 */

import type { DeviceReport, Fault } from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { answeredNumbers, type Family, type RawValues } from './families.ts'
import { fields } from './fields.ts'
import type { RawValue } from './values.ts'

export function readPacks(
  family: Family,
  values: RawValues,
  charger: { readonly id: string; readonly name: string },
): readonly DeviceReport[] {
  return answeredNumbers(family, values).flatMap((bay) => {
    const get = (key: string) => values[`${bay} ${key}`]
    if (fields.hasPack.read(get('BATT_DETECTED')) !== true) return []
    return withoutUndefined<DeviceReport>({
      id: `${charger.id}:${bay}`,
      kind: 'transmitter',
      device_type: family.name,
      name: `${charger.name}, bay ${bay}`,
      online: true,
      battery: fields.charge.read(get('BATT_CHARGE')),
      details: withoutUndefined({
        battery_health: fields.health.read(get('BATT_HEALTH')),
        battery_cycles: fields.cycles.read(get('BATT_CYCLE')),
        battery_minutes_to_full: readMinutesToFull(get('BATT_TIME_TO_FULL')),
        // BATT_TEMP_F is not used: public projects disagree about its offset.
        battery_temperature_c: fields.temperature.read(get('BATT_TEMP_C')),
        fault: readFault(get, fields.storageMode.read(values.STORAGE_MODE) === true),
      }),
    })
  })
}

/** Minutes until a pack is full. 65529 means full. */
function readMinutesToFull(raw: RawValue): number | null | undefined {
  return raw === '65529' ? 0 : fields.minutesToFull.read(raw)
}

/** A pack that is too hot or too cold is not charged. Storage mode charges only to about 40%. */
function readFault(get: (key: string) => RawValue, isStorageMode: boolean): Fault | null {
  const fault = fields.bayError.read(get('BATT_ERROR')) ?? fields.bayState.read(get('BATT_STATE'))
  return fault ?? (isStorageMode ? 'storage_mode' : null)
}
