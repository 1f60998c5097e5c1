/** The fields of an N-DR1: the address of a message, and the number of the argument if it has several. */

import { audioLevel, type FieldTable, field, number, percent, text } from '../../upstream/field-table.ts'

const onOff = (address: string) =>
  field<boolean>({
    address,
    unit: 'code',
    range: '0, 1, or true or false',
    hasForm: (raw) => typeof raw === 'number' || typeof raw === 'boolean',
    convert: (raw) => (raw === 0 || raw === 1 ? raw === 1 : typeof raw === 'boolean' ? raw : null),
  })

const numbers = (address: string, count: number) =>
  field<readonly unknown[]>({
    address,
    unit: 'list of numbers',
    range: `at least ${count} numbers, as below`,
    hasForm: (raw) => Array.isArray(raw) && raw.length >= count && raw.every((value) => typeof value === 'number'),
    convert: (raw) => raw as readonly unknown[],
  })

const battery = '/ch/*/tx/batterystatus'
const strength = '/advanced/*/antenna/rfstrength'
/** Neither program explains 0 dBm and more, and no receiver measures such levels. */
const tenthsOfDbm = { unit: '0.1 dBm', min: -2000, max: -1, scale: 0.1 }

export const fields = {
  model: text('/model'),
  serial: text('/serial'),
  deviceName: text('/advanced/lan/name'),
  name: text('/ch/*/name'),
  isMuted: onOff('/ch/*/rx/mute'),
  audio: { ...audioLevel('/ch/*/audiolevel', { min: -2000, scale: 0.1 }), unit: '0.1 dBFS' },
  strength: numbers(strength, 3),
  rfA: number(`${strength} 2`, tenthsOfDbm),
  rfB: number(`${strength} 3`, tenthsOfDbm),
  isActive: onOff('/ch/*/tx/active'),
  transmitterName: text('/ch/*/tx/name'),
  battery: numbers(battery, 3),
  charge: percent(`${battery} 1`),
  minutes: number(`${battery} 2`, { unit: 'min', min: 0, max: 65_534, codes: { 65535: 'unknown' } }),
  health: percent(`${battery} 3`),
  hasDropout: onOff('/warning/*/txdropout'),
  isBatteryLow: onOff('/warning/*/lowbattery'),
  hasInterference: onOff('/warning/*/interference'),
  hasAudioOverload: onOff('/warning/*/afoverload'),
  isAntennaShorted: onOff('/warning/*/antennashorted'),
  hasRfOverload: onOff('/warning/rfoverload'),
  isCriticallyHot: onOff('/warning/criticaltemp'),
  isHot: onOff('/warning/hightemp'),
  hasFanFailed: onOff('/warning/fan'),
}

export const table: FieldTable = {
  family: 'N-DR1',
  source: 'the Companion module for DPA, and the plugin of Cue View, which alone reads the warnings of the receiver',
  fields,
}
