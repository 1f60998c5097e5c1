/**
 * Chargers with SSC 1, and the packs in them. Addresses and units: Sennheiser's SSC developer's guides for EW-DX with
 * CHG 70N, for Digital 6000 (TI 1109 v2.2) and for SpeechLine Digital Wireless (TI 1094), and clients based on them.
 */

import type { DeviceReport, Fault } from '../../../domain/equipment/receiver.ts'
import { type ReadFault, readFault, readWarningFaults, toFaultDetails } from '../../../upstream/faults.ts'
import { readText, withoutUndefined } from '../../../upstream/fields.ts'
import type { Family, SscValues } from './family.ts'
import * as fields from './fields.ts'

const bayProperties = ['device_type', 'serial', 'bat_gauge', 'bat_health', 'bat_cycles', 'bat_timetofull']
const maxBays = 16

/** Two bays; every value is a list with one entry per bay. */
export const chg70n: Family = {
  fields: fields.chg70n,
  topics: [
    { channel: null, everyMs: null, addresses: bayProperties.map((name) => `/bays/${name}`) },
    // Requested separately, so that firmware without one of these rejects nothing else.
    ...['/bays/state', '/bays/warnings', '/device/storage_mode', '/device/warnings'].map((address) => ({
      ...{ channel: null, everyMs: null },
      addresses: [address],
    })),
  ],
  readFaults: (values) =>
    readWarningFaults(
      { CascadeComError: 'charger_link_lost' },
      fields.chg70n.warnings.read(values.get('/device/warnings')),
    ),
  readUnits(values, charger) {
    const types = values.get('/bays/device_type')
    if (!Array.isArray(types)) return undefined
    return types.slice(0, maxBays).flatMap((type, index) => {
      const typeName = readText(type)
      if (!typeName || typeName === 'NONE') return []
      const model = typeName === 'UNKNOWN' ? null : typeName
      return readPack(values, { charger, index, deviceType: 'ewdx', model, faults: readBayFaults(values, index) })
    })
  },
}

/** A bay of a CHG 70N has one warning, or a list of them. */
function readBayFaults(values: SscValues, index: number): readonly ReadFault[] {
  const bay = nameOfBay(index)
  return [
    ...[elementOf(values.get('/bays/warnings'), index)]
      .flat()
      .map((warning) => readFault(fields.chg70n.bayWarning, warning, bay)),
    readFault(fields.chg70n.state, elementOf(values.get('/bays/state'), index), bay),
    readFault(fields.chg70n.storageMode, values.get('/device/storage_mode'), null, 'storage_mode'),
  ]
}

/** Reads the faults of a pack in a CHG 2N or CHG 4N from two lists: states, and bit masks of errors. */
function readSpeechLineFaults(values: SscValues, index: number): readonly ReadFault[] {
  const lists = values.get('/bays/state')
  if (!Array.isArray(lists)) return []
  const bay = nameOfBay(index)
  const [states, masks]: readonly unknown[] = Array.isArray(lists[0]) ? lists : [lists]
  const mask = Number(elementOf(masks, index) ?? 0)
  const errors = fields.bayBits.flatMap((fault, bit) =>
    (mask & (1 << bit)) === 0 ? [] : { fault, part: bay, word: `error bit ${bit}` },
  )
  return [...errors, readFault(fields.chgN.state, elementOf(states, index) ?? null, bay, 'state')]
}

function nameOfBay(index: number): string {
  return `bay ${index + 1}`
}

/** CHG 2N and CHG 4N, with two and four bays. The values of an empty bay are 0. */
export const chgN: Family = {
  fields: fields.chgN,
  topics: [
    { channel: null, addresses: ['active', ...bayProperties].map((name) => `/bays/${name}`) },
    { channel: null, addresses: ['/bays/state'] },
  ],
  readUnits(values, charger) {
    const active = values.get('/bays/active')
    if (!Array.isArray(active)) return undefined
    return active.slice(0, maxBays).flatMap((isOccupied, index) => {
      if (isOccupied !== true) return []
      const model = fields.chgN.type.read(elementOf(values.get('/bays/device_type'), index)) ?? null
      const faults = readSpeechLineFaults(values, index)
      return readPack(values, { charger, index, deviceType: 'speechline', model, faults })
    })
  },
}

/** A known serial number identifies the pack in any bay. */
function readPack(
  values: SscValues,
  pack: {
    readonly charger: string
    readonly index: number
    readonly deviceType: string
    readonly model: string | null
    readonly faults: readonly ReadFault[]
  },
): DeviceReport {
  const { charger, index, deviceType, model, faults } = pack
  const getValue = (name: string) => elementOf(values.get(`/bays/${name}`), index)
  const serial = fields.bays.serial.read(getValue('serial')) || null
  return withoutUndefined<DeviceReport>({
    id: serial === null ? `${charger}/bay${index + 1}` : `ssc1:pack:${serial}`,
    kind: 'transmitter',
    name: nameOf(model, nameOfBay(index)),
    device_type: deviceType,
    model_name: model,
    online: true,
    serial_number: serial,
    battery: fields.bays.gauge.read(getValue('bat_gauge')),
    details: withoutUndefined({
      battery_health: fields.bays.health.read(getValue('bat_health')),
      battery_cycles: fields.bays.cycles.read(getValue('bat_cycles')),
      battery_minutes_to_full: fields.bays.minutesToFull.read(getValue('bat_timetofull')),
      ...toFaultDetails(faults),
    }),
  })
}

const slots = [1, 2, 3, 4]
const subslots = [1, 2]

/** Four slots for charging modules with two batteries each. Batteries report no serial number. */
export const l6000: Family = {
  fields: fields.l6000,
  topics: [
    ...slots.map((slot) => ({
      channel: null,
      everyMs: 5000,
      addresses: [`/slot${slot}/type`, ...subslots.map((subslot) => parametersAt(slot, subslot))],
    })),
    // Requested separately, so that firmware without one of these rejects nothing else.
    { channel: null, everyMs: null, addresses: ['/device/warnings'] },
    ...slots.map((slot) => ({
      channel: null,
      everyMs: null,
      addresses: subslots.map((subslot) => ledAt(slot, subslot)),
    })),
  ],
  readFaults(values) {
    const warnings = fields.l6000.warnings.read(values.get('/device/warnings'))
    if (!warnings) return [warnings, ...readDefectiveModules(values)]
    const fans = warnings.map(Number).filter((warning) => warning >= 24 && warning <= 27)
    return [
      null,
      ...fans.map(
        (warning) => ({ fault: 'fan_failed', part: `fan ${warning - 23}`, word: `warning ${warning}` }) as const,
      ),
      ...(warnings.includes(28) ? [{ fault: 'device_too_hot', part: null, word: 'warning 28' } as const] : []),
      ...readDefectiveModules(values),
    ]
  },
  readUnits(values, charger) {
    if (!slots.some((slot) => values.has(`/slot${slot}/type`))) return undefined
    return slots.flatMap((slot) => {
      const model = fields.l6000.type.read(values.get(`/slot${slot}/type`))
      if (!model) return []
      return subslots.flatMap((subslot) => readBatteryAt(values, { charger, model, slot, subslot }) ?? [])
    })
  },
}

/** The type of a slot whose charging module is defective. */
const defectiveModule = 3

function readDefectiveModules(values: SscValues): readonly ReadFault[] {
  const defective = slots.filter((slot) => values.get(`/slot${slot}/type`) === defectiveModule)
  return defective.map((slot) => ({ fault: 'check_charger', part: `slot ${slot}`, word: `type ${defectiveModule}` }))
}

function ledAt(slot: number, subslot: number): string {
  return `/slot${slot}/subslot${subslot}/led`
}

/** The first number of the warnings of each kind. The following numbers belong to the next batteries. */
const batteryWarnings: readonly (readonly [first: number, fault: Fault])[] = [
  [16, 'battery_error'],
  [0, 'too_hot'],
  [29, 'too_cold'],
]

function readBatteryFaults(values: SscValues, slot: number, subslot: number): readonly ReadFault[] {
  const warnings = fields.l6000.warnings.read(values.get('/device/warnings'))
  const part = `slot ${slot}/${subslot}`
  const position = (slot - 1) * subslots.length + subslot - 1
  const found = batteryWarnings.filter(([first]) => warnings?.includes(first + position))
  return [
    warnings && null,
    ...found.map(([first, fault]) => ({ fault, part, word: `warning ${first + position}` })),
    readFault(fields.l6000.led, values.get(ledAt(slot, subslot)), part),
  ]
}

function parametersAt(slot: number, subslot: number): string {
  return `/slot${slot}/subslot${subslot}/accu_parameter`
}

/**
 * Reads a battery from twelve numbers: temperature, voltage, capacity, current, energy, remaining hours and minutes,
 * percent, cycles, health, hours and minutes to full. An unknown value (usually 65280) is outside its range.
 */
function readBatteryAt(
  values: SscValues,
  { charger, model, slot, subslot }: { charger: string; model: string; slot: number; subslot: number },
): DeviceReport | null {
  const numbers = fields.l6000.parameters.read(values.get(parametersAt(slot, subslot)))
  if (!numbers) return null
  const battery = fields.l6000.charge.read(numbers[7])
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
      battery_minutes: toMinutes(fields.l6000.hours.read(numbers[5]), fields.l6000.minutes.read(numbers[6])),
      battery_minutes_to_full: toMinutes(
        fields.l6000.hoursToFull.read(numbers[10]),
        fields.l6000.minutesToFull.read(numbers[11]),
      ),
      battery_cycles: fields.l6000.cycles.read(numbers[8]),
      battery_health: fields.l6000.health.read(numbers[9]),
      battery_temperature_c: fields.l6000.temperature.read(numbers[0]),
      ...toFaultDetails(readBatteryFaults(values, slot, subslot)),
    }),
  })
}

function toMinutes(hours: number | null | undefined, minutes: number | null | undefined): number | null {
  return typeof hours === 'number' && typeof minutes === 'number' ? hours * 60 + minutes : null
}

/** Packs report no name, so the name is the model and the position in the charger. */
function nameOf(model: string | null, location: string): string {
  return model === null ? location : `${model}, ${location}`
}

function elementOf(list: unknown, index: number): unknown {
  return Array.isArray(list) ? list[index] : undefined
}
