/**
 * Reads the battery packs in a charger's bays. A charger does not identify its packs, so the bay identifies the pack.
 * Pure.
 */

import type { Fault } from '../../../domain/equipment/details.ts'
import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import { answeredNumbers, type Family, type RawValues } from './families.ts'
import { fields } from './fields.ts'
import { type RawValue, readByte } from './values.ts'

/** Returns a report for each pack in the charger. */
export function readPacks(
  family: Family,
  values: RawValues,
  charger: { readonly id: string; readonly name: string },
): readonly DeviceReport[] {
  return answeredNumbers(family, values).flatMap((bay) => {
    const get = (key: string) => values[`${bay} ${key}`]
    if (get('BATT_DETECTED') !== 'YES') return []
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
        fault: readFault(get, values.STORAGE_MODE === 'ON'),
      }),
    })
  })
}

/** Reads the minutes until a pack is full. 65529 means full. */
function readMinutesToFull(raw: RawValue): number | null | undefined {
  return raw === '65529' ? 0 : fields.minutesToFull.read(raw)
}

/** Faults by BATT_ERROR code. Source: Shure's command strings for SBC220/240. */
const errors: Readonly<Record<string, Fault>> = {
  '001': 'unknown_module',
  '002': 'unrecognized_battery',
  '003': 'recovery_failed',
  '004': 'charge_failed',
  '005': 'check_battery',
  '006': 'check_charger',
  '007': 'communication_failure',
}

/** Reads a pack's fault. A pack that is too hot or too cold is not charged; storage mode charges only to about 40%. */
function readFault(get: (key: string) => RawValue, isStorageMode: boolean): Fault | null {
  const [state = '', error] = [get('BATT_STATE'), readByte(get('BATT_ERROR'))]
  if (error) return errors[get('BATT_ERROR') ?? ''] ?? 'battery_error'
  if (state === 'ERROR') return 'battery_error'
  if (state === 'HOT') return 'too_hot'
  if (state === 'COLD') return 'too_cold'
  return isStorageMode || /^(?:READY_TO_STORE|DISCHARG)/.test(state) ? 'storage_mode' : null
}
