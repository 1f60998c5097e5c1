/** The fields of the common device API, by name. `device-fields.ts` reads them with the same functions. */

import { type Field, type FieldTable, field } from './field-table.ts'
import {
  readAudioLevel,
  readBattery,
  readFrequency,
  readIp,
  readMac,
  readRfLevel,
  readText,
  readWhole,
} from './fields.ts'

type Read<Value> = (raw: unknown) => Value | null | undefined

function text(address: string, read: Read<string>): Field<string> {
  return field({
    ...{ address, unit: 'text', range: '' },
    hasForm: (raw) => typeof raw === 'string' || typeof raw === 'number',
    convert: (raw) => read(raw) ?? null,
  })
}

function number(address: string, unit: string, range: string, read: Read<number>): Field<number> {
  return field({ address, unit, range, hasForm: (raw) => typeof raw === 'number', convert: (raw) => read(raw) ?? null })
}

/** The fields of a device in the list. */
export const listed = {
  name: text('device_name', readText),
  model: text('model', readText),
  serial: text('serial_number', readText),
  mac: text('mac_address', readMac),
  ip: text('ip', readIp),
  battery: number('battery_percentage', '%', '0 to 100', readBattery),
  rf: number('rf_level', 'dBm', '-200 to 50', readRfLevel),
}

export const table: FieldTable = {
  family: 'Common device API of Shure and Sennheiser systems',
  source: "Micwatch's interface specification",
  fields: {
    ...listed,
    status: text('status', readText),
    channel: number('channel', 'count', '1 to 65535', (raw) => readWhole(raw, 1, 65_535)),
    channelName: text('name of channels and transmitters', readText),
    slot: number('slot', 'count', '0 to 65535', (raw) => readWhole(raw, 0, 65_535)),
    transmitterBattery: number('battery', '%', '0 to 100', readBattery),
    audio: number('audio_level', 'dBFS', '-200 to 100, shown as at most 0', readAudioLevel),
    frequency: {
      ...text('frequency', (raw) => readFrequency(raw)),
      ...{ unit: 'MHz, as a number or text', range: 'more than 0, less than 100000' },
    },
  },
}
