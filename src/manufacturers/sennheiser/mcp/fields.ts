/** The fields of MCP devices: the keyword of a line, then the number of the value in it. */

import { audioLevel, type FieldTable, number, percent, text, warnings, words } from '../../../upstream/field-table.ts'

/** 0% is 0 dBµV, which is -107 dBm at 50 Ω; more than 100% is possible. */
const rf = { unit: '%', min: 0, max: 392, scale: 0.4, offset: -107 }
/** TI 1254 gives both ends of the scale, relative to peak; a linear scale between them is an assumption. */
const audio = { unit: '%', min: 0, max: 200, scale: 0.5, offset: -50 }

export const fields = {
  name: text('Name 1'),
  firmware: text('FirmwareRevision 1', 32),
  frequency: number('Frequency 1', { unit: 'kHz', min: 1, max: 99_999_999 }),
  muteSetting: words('Mute 1', { 0: false, 1: true }),
  rf: number('RF 1', rf),
  antenna: words('RF 2', { 1: 'A', 2: 'B' }),
  pilot: words('RF 3', { 0: false, 1: true }),
  rfOfAntenna: number('RF* 2', rf),
  audio: audioLevel('AF 1', audio),
  audioPeak: audioLevel('AF 2', audio),
  mutes: number('AF 3', { unit: 'bits: 1 any, 2 TX, 4 RF, 8 RX', min: 0, max: 15 }),
  carrierOff: words('States 1', { 0: false, 1: true }),
  battery: percent('Bat 1', { [-1]: '`?`: no battery telegram' }),
  warnings: warnings('Msg 1', ['AF_Peak', 'Low_Battery', 'Low_RF_Signal', 'TX_Mute', 'RF_Mute', 'RX_Mute']),
  configuration: number('Config 1', { unit: 'count', min: 0, max: 999 }),
}

export const table: FieldTable = {
  family: 'ew G3, G4 and 2000 series over MCP',
  source: 'Sennheiser TI 1254 v1.0; the levels of an in-ear transmitter are the louder ones of `AF 1` to `AF 4`',
  fields,
}
