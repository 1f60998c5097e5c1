/** The fields of a station and of its belt packs: the resource, and the path of the property in an entry. */

import { type FieldTable, field, number, percent, text, words } from '../../upstream/field-table.ts'

const device = '/api/1/devices'
const endpoints = '/api/1/devices/endpoints'

const unlimited = { min: -1_000_000, max: 1_000_000 }

export const stationFields = {
  label: text(`${device} device_label`),
  type: text(`${device} deviceType_name`),
  /** In a capture, other letters stand for the hexadecimal digits. */
  uuid: field<string>({
    address: `${device} device_uuid`,
    unit: 'UUID',
    range: '',
    hasForm: (raw) => typeof raw === 'string' && /^[\da-z]{8}(?:-[\da-z]{4}){3}-[\da-z]{12}$/i.test(raw),
    convert: (raw) => String(raw).toLowerCase(),
  }),
  ip: text(`${device} device_ipAddress`),
  firmware: text(`${device} versionSW`),
  deviceFirmware: text(`${device} device_versionSW`),
  /** On a FreeSpeak II Base II, with the next one. */
  systemVersion: text(`${device} device_liveStatus.osVersion`),
  system: text(`${device} device_liveStatus.os`),
  state: text(`${device} device_liveStatus.status`),
}

export const packFields = {
  label: text(`${endpoints} label`),
  role: text(`${endpoints} role.label`),
  isOnline: words(`${endpoints} liveStatus.status`, { online: true, offline: false, unregistered: false }),
  roleset: number(`${endpoints} liveStatus.association.dpId`, { unit: 'id', min: 1, max: 1_000_000_000 }),
  batteryType: text(`${endpoints} liveStatus.batteryType`),
  battery: percent(`${endpoints} liveStatus.batteryLevel`),
  hoursLeft: number(`${endpoints} liveStatus.longevity.hours`, { unit: 'h', min: 0, max: 999 }),
  minutesLeft: number(`${endpoints} liveStatus.longevity.minutes`, { unit: 'min', min: 0, max: 59 }),
  rssi: number(`${endpoints} liveStatus.rssi`, { unit: 'not public', ...unlimited }),
  rssi2: number(`${endpoints} liveStatus.rssi2`, { unit: 'not public', ...unlimited }),
  linkQuality: number(`${endpoints} liveStatus.linkQuality`, { unit: 'not public', ...unlimited }),
  antenna: number(`${endpoints} liveStatus.antennaIndex`, { unit: 'number', ...unlimited }),
  band: text(`${endpoints} liveStatus.frequencyType`),
  /** A FreeSpeak II Base II may report these here. */
  batteryInDetails: percent(`${endpoints} details.batteryLevel`),
  linkQualityInDetails: number(`${endpoints} details.linkQuality`, { unit: 'not public', ...unlimited }),
}

export const fields = {
  ...Object.fromEntries(Object.entries(stationFields).map(([name, field]) => [`station ${name}`, field])),
  ...Object.fromEntries(Object.entries(packFields).map(([name, field]) => [`pack ${name}`, field])),
}

export const table: FieldTable = {
  family: 'Clear-Com Arcadia, FreeSpeak II and FreeSpeak Edge',
  source: 'Clear-Com API 1.0.1 with its JSON schemas, and public clients',
  fields,
}
