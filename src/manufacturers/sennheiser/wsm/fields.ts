/** The fields of the binary protocol of WSM: the kind of the message, then the offset of the value in its body. */

import { type FieldTable, number, text, words } from '../../../upstream/field-table.ts'

export const fields = {
  name: text('configuration 0'),
  frequency: number('configuration 8', { unit: 'kHz', min: 100_000, max: 2_000_000 }),
  muted: words('configuration 16', { 0: false, 1: true }),
  /** In the steps that the same receivers report over MCP. The highest and the next one were observed. */
  battery: words('meters 0', { 1: 0, 2: 30, 3: 70, 4: 100 }, { 0: 'no transmitter' }),
  antenna: words('meters 4', { 0: '', 1: 'A', 2: 'B' }),
}

export const table: FieldTable = {
  family: 'ew G3 over the protocol of WSM',
  source: 'two public projects that examined WSM with an EM 300 G3 and an EM 500 G3',
  fields,
}
