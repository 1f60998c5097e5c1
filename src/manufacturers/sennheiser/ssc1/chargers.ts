/**
 * Chargers with SSC 1, and the packs in them. Addresses and units: Sennheiser's SSC developer's guides for EW-DX with
 * CHG 70N, for Digital 6000 (TI 1109 v2.2) and for SpeechLine Digital Wireless (TI 1094), and clients based on them.
 */

import type { DeviceReport } from '../../../domain/equipment/receiver.ts'
import { readBattery, readText, readWhole, withoutUndefined } from '../../../upstream/fields.ts'
import type { Family, SscValues } from './family.ts'

const bayProperties = ['device_type', 'serial', 'bat_gauge', 'bat_health', 'bat_cycles', 'bat_timetofull']
const maxBays = 16

/** Two bays; every value is a list with one entry per bay. */
export const chg70n: Family = {
  topics: [{ channel: null, everyMs: null, addresses: bayProperties.map((name) => `/bays/${name}`) }],
  readUnits(values, charger) {
    const types = values.get('/bays/device_type')
    if (!Array.isArray(types)) return undefined
    return types.slice(0, maxBays).flatMap((type, index) => {
      const typeName = readText(type)
      if (!typeName || typeName === 'NONE') return []
      const model = typeName === 'UNKNOWN' ? null : typeName
      return readPack(values, { charger, index, deviceType: 'ewdx', model })
    })
  },
}

/** Model of a pack by the number that a CHG 2N or CHG 4N reports; 0 means an empty bay. */
const speechLinePacks = [null, 'Handheld', 'Bodypack']

/** CHG 2N and CHG 4N, with two and four bays; the values of an empty bay are 0. */
export const chgN: Family = {
  topics: [{ channel: null, addresses: ['active', ...bayProperties].map((name) => `/bays/${name}`) }],
  readUnits(values, charger) {
    const active = values.get('/bays/active')
    if (!Array.isArray(active)) return undefined
    return active.slice(0, maxBays).flatMap((isOccupied, index) => {
      if (isOccupied !== true) return []
      const model = speechLinePacks[Number(elementOf(values.get('/bays/device_type'), index))] ?? null
      return readPack(values, { charger, index, deviceType: 'speechline', model })
    })
  },
}

/** Reads the pack in a bay. Its id is the serial number if that is known, so that it does not depend on the bay. */
function readPack(
  values: SscValues,
  pack: { charger: string; index: number; deviceType: string; model: string | null },
): DeviceReport {
  const { charger, index, deviceType, model } = pack
  const getValue = (name: string) => elementOf(values.get(`/bays/${name}`), index)
  const serial = readText(getValue('serial')) || null
  return withoutUndefined<DeviceReport>({
    id: serial === null ? `${charger}/bay${index + 1}` : `ssc1:pack:${serial}`,
    kind: 'transmitter',
    name: nameOf(model, `bay ${index + 1}`),
    device_type: deviceType,
    model_name: model,
    online: true,
    serial_number: serial,
    battery: readBattery(getValue('bat_gauge')),
    details: withoutUndefined({
      battery_health: readBattery(getValue('bat_health')),
      battery_cycles: readWhole(getValue('bat_cycles'), 0, 65_535),
      battery_minutes_to_full: readWhole(getValue('bat_timetofull'), 0, 65_535),
    }),
  })
}

const slots = [1, 2, 3, 4]
const subslots = [1, 2]
/** Battery model of each charging module. */
const batteryOfModule = new Map<unknown, string>([
  [1, 'BA 60'],
  [2, 'BA 61'],
])

/** Four slots for charging modules with two batteries each. Batteries report no serial number. */
export const l6000: Family = {
  topics: slots.map((slot) => ({
    channel: null,
    everyMs: 5000,
    addresses: [`/slot${slot}/type`, ...subslots.map((subslot) => parametersAt(slot, subslot))],
  })),
  readUnits(values, charger) {
    if (!slots.some((slot) => values.has(`/slot${slot}/type`))) return undefined
    return slots.flatMap((slot) => {
      const model = batteryOfModule.get(values.get(`/slot${slot}/type`))
      if (model === undefined) return []
      return subslots.flatMap((subslot) => readBatteryAt(values, { charger, model, slot, subslot }) ?? [])
    })
  },
}

function parametersAt(slot: number, subslot: number): string {
  return `/slot${slot}/subslot${subslot}/accu_parameter`
}

/**
 * Reads a battery from twelve numbers: temperature, voltage, capacity, current, energy, remaining hours and minutes,
 * percent, cycles, health, hours and minutes to full. An unknown value (usually 65280) is outside the range that is
 * accepted for it.
 */
function readBatteryAt(
  values: SscValues,
  { charger, model, slot, subslot }: { charger: string; model: string; slot: number; subslot: number },
): DeviceReport | null {
  const numbers = values.get(parametersAt(slot, subslot))
  if (!Array.isArray(numbers)) return null
  const battery = readBattery(numbers[7])
  // Without a battery, the charge is unknown.
  if (typeof battery !== 'number') return null
  return withoutUndefined<DeviceReport>({
    id: `${charger}/slot${slot}.${subslot}`,
    kind: 'transmitter',
    name: nameOf(model, `slot ${slot}/${subslot}`),
    device_type: 'd6000',
    model_name: model,
    online: true,
    battery,
    details: withoutUndefined({
      battery_minutes: toMinutes(numbers[5], numbers[6]),
      battery_minutes_to_full: toMinutes(numbers[10], numbers[11]),
      battery_cycles: readWhole(numbers[8], 0, 65_279),
      battery_health: readBattery(numbers[9]),
      battery_temperature_c: readWhole(numbers[0], -40, 215),
    }),
  })
}

function toMinutes(hours: unknown, minutes: unknown): number | null {
  const whole = readWhole(hours, 0, 999)
  const rest = readWhole(minutes, 0, 59)
  return typeof whole === 'number' && typeof rest === 'number' ? whole * 60 + rest : null
}

/** Packs report no name, so the name is the model and the position in the charger. */
function nameOf(model: string | null, location: string): string {
  return model === null ? location : `${model}, ${location}`
}

function elementOf(list: unknown, index: number): unknown {
  return Array.isArray(list) ? list[index] : undefined
}
