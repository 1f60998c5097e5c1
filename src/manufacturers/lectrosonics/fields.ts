/** The fields of a DSQD: the name of the query, and for `chstat` the number of the value. */

import { audioLevel, type FieldTable, number, percent, words } from '../../upstream/field-table.ts'

const isOn = { 0: false, 1: true }

export const fields = {
  isMuted: words('chstat 9', isOn),
  /** Bits: below 25%, below 10%, alarm of the timer. */
  batteryWarning: words(
    'chstat 11',
    { 0: false, 1: true, 2: true, 3: true, 4: false, 5: true, 6: true, 7: true },
    { 4: 'alarm of the timer, no warning' },
  ),
  isClipping: words('chstat 14', isOn),
  charge: percent('chstat 16'),
  antenna: words('chstat 7', { 1: 'A', 2: 'B' }),
  audio: audioLevel('chstat 4', { min: -400, scale: 0.5 }),
  rf: number('chstat 5', { unit: '0.25 dBµV', min: -372, max: 628, scale: 0.25, offset: -107 }),
  batteryType: words('txbatt', {
    ...{ 0: 'alkaline', 1: 'lithium', 2: '9 V alkaline', 3: '9 V lithium', 4: 'LB-50 rechargeable' },
  }),
  hardware: words('hwstat', { 0: null, 1: 'antenna_short' } as const, { 0: 'no fault' }),
}

export const table: FieldTable = { family: 'DSQD', source: 'DSQD Command Reference, July 2019', fields }
