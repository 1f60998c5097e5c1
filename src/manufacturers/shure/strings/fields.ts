/** The fields of Shure command strings that are numbers with codes. Other keys of the same content have the same range. */

import { digits, type FieldTable } from '../../../upstream/field-table.ts'

const byteCodes = { 252: 'error', 253: 'communication warning', 254: 'calculating, or error', 255: 'unknown' }
const wordCodes = {
  65532: 'on a wall charger (MXW)',
  65533: 'communication warning; on the charger (MXW)',
  65534: 'calculating; error of the cycles',
  65535: 'unknown; off (MXW)',
}
const byte = { unit: 'count', min: 0, max: 251, codes: byteCodes }
const percent = { ...byte, unit: '%', max: 100 }
const word = { unit: 'count', min: 0, max: 65_531, codes: wordCodes }

export const fields = {
  charge: digits('TX_BATT_CHARGE_PERCENT, BATT_CHARGE, SLOT_BATT_CHARGE_PERCENT', percent),
  bars: digits('TX_BATT_BARS, BATT_BARS, SLOT_BATT_BARS', { ...byte, unit: 'bars', max: 5 }),
  minutes: digits('TX_BATT_MINS, BATT_RUN_TIME, SLOT_BATT_MINS', { ...word, unit: 'min' }),
  health: digits('TX_BATT_HEALTH_PERCENT, BATT_HEALTH', percent),
  cycles: digits('TX_BATT_CYCLE_COUNT, BATT_CYCLE', word),
  temperature: digits('TX_BATT_TEMP_C, BATT_TEMP_C', { ...byte, unit: '°C', offset: -40 }),
  minutesToFull: digits('BATT_TIME_TO_FULL', {
    ...word,
    unit: 'min',
    max: 65_528,
    codes: { 65529: 'full', ...wordCodes },
  }),
  power: digits('TX_POWER_LEVEL', { ...byte, unit: 'mW' }),
  gain: digits('AUDIO_GAIN', { ...byte, unit: 'dB', offset: -18 }),
  gainOfMxw: digits('AUDIO_GAIN of MXW', { ...byte, unit: 'dB', offset: -25 }),
}

export const table: FieldTable = {
  family: 'Shure command strings',
  source: "Shure's command strings for each family; the codes as documented for QLX-D, SBC220/240 and MXW",
  fields,
}
