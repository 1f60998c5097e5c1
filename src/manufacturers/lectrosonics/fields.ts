/** The fields of a DSQD: the query, and for `chstat` the number of the value. */

import { type FieldTable, field, number, percent, text, words } from '../../upstream/field-table.ts'

const isOn = { 0: false, 1: true }
const statusLength = 16

export const fields = {
  id: text('id'),
  serial: text('serial'),
  mac: text('macaddr'),
  firmware: text('version'),
  description: text('desc'),
  ip: text('ipaddr'),
  netmask: text('netmask'),
  gateway: text('defgate'),
  network: words('dhcpen', { 0: 'manual', 1: 'dhcp' } as const),
  hardware: words('hwstat', { 1: 'antenna_short' } as const, { 0: 'no fault' }),
  name: text('rxname(*)'),
  frequency: number('rxfreq(*)', { unit: 'kHz', min: 1, max: 9_999_999, codes: { 999999: 'unchanged' } }),
  isEncrypted: words(
    'rxmode(*)',
    { 0: true, 1: false, 2: false, 3: false, 4: false, 5: false, 6: false },
    { 99: 'unchanged' },
  ),
  gain: number('rxalevel(*)', { unit: 'dB', min: -35, max: 8, codes: { 99: 'unchanged' } }),
  status: field<readonly unknown[]>({
    address: 'chstat(*)',
    unit: 'list of numbers',
    range: `${statusLength} numbers, as below`,
    hasForm: (raw) =>
      Array.isArray(raw) && raw.length >= statusLength && raw.every((value) => typeof value === 'number'),
    convert: (raw) => raw as readonly unknown[],
  }),
  isPresent: words('chstat(*) 1', isOn),
  isPowered: words('chstat(*) 2', isOn),
  isLinked: words('chstat(*) 3', isOn),
  audio: number('chstat(*) 4', { unit: '0.5 dBFS', min: -120, max: 0, scale: 0.5 }),
  rf: number('chstat(*) 5', { unit: '0.25 dBµV', min: 0, max: 240, scale: 0.25, offset: -107 }),
  antenna: words('chstat(*) 7', { 1: 'A', 2: 'B' }),
  isMuted: words('chstat(*) 8', isOn),
  /** None, below 25%, below 10%. */
  batteryWarning: words('chstat(*) 11', { 0: false, 1: true, 2: true }, { 3: 'reserved', 4: 'alarm of the timer' }),
  isClipping: words('chstat(*) 14', isOn),
  charge: percent('chstat(*) 16'),
  transmitterName: text('txname(*)'),
  transmitterGain: number('txgain(*)', { unit: 'dB', min: -60, max: 60 }),
  batteryType: words('txbatt(*)', {
    ...{ 0: 'alkaline', 1: 'lithium', 2: '9 V alkaline', 3: '9 V lithium', 4: 'LB-50 rechargeable' },
  }),
  isKeyGood: words('txkeygood(*)', isOn),
  isTransmitting: words('txrfon(*)', isOn),
}

export const table: FieldTable = { family: 'DSQD', source: 'DSQD Command Reference, July 2019', fields }
