/** Creates scan files for tests. */

import { gzipSync } from 'node:zlib'

/** A point of a scan: a frequency in MHz and a level in dBm. */
export type Point = readonly [mhz: number, dbm: number]

/** 470.000 to 470.100 MHz in steps of 25 kHz. */
export const points: readonly Point[] = [
  [470, -98.5],
  [470.025, -97],
  [470.05, -61.3],
  [470.075, -88],
  [470.1, -101.2],
]

export const csvFile = (values: readonly Point[] = points) =>
  values.map(([mhz, dbm]) => `${mhz.toFixed(3)},${dbm.toFixed(1)}\r\n`).join('')

export const rfExplorerFile = (sweeps: readonly (readonly number[])[]) =>
  [
    'RF Explorer CSV data file: RFExplorer PC Client - Format v005',
    'Start Frequency: 470MHZ',
    'Step Frequency: 25KHZ',
    `Total data entries: ${sweeps.length}`,
    `Data points per entry: ${sweeps[0]?.length ?? 0}`,
    ['Sweep', 'Date', 'Time', 'Milliseconds', ...(sweeps[0] ?? []).map((_, index) => mhzAt(index))].join(','),
    ...sweeps.map((levels, sweep) => [sweep, '11/22/2026', `19:30:0${sweep}`, '.120', ...levels].join(',')),
  ].join('\r\n')

/** The binary file of RF Explorer. Version 1 has no times, and from version 3 the sweeps are compressed. */
export function rfeFile(sweeps: readonly (readonly number[])[], version = 5): Buffer {
  const time = Buffer.from('2026-11-22T19:30:05.1234567Z')
  const head = Buffer.alloc(18 + (version === 1 ? 2 : 4))
  head.writeDoubleLE(470, 0)
  head.writeDoubleLE(0.025, 8)
  if (version === 1) head.writeUInt16LE(sweeps.length, 16)
  else head.writeUInt32LE(sweeps.length, 16)
  head.writeUInt16LE(sweeps[0]?.length ?? 0, head.length - 2)
  const data = sweeps.flatMap((levels) => [
    ...(version === 1 ? [] : [uint32(time.length)]),
    ...(version === 1 ? [] : [version === 2 ? withLength(time) : time]),
    Buffer.from(Float64Array.from(levels).buffer),
  ])
  const compressed = gzipSync(Buffer.concat(data))
  return Buffer.concat([
    withLength(Buffer.from(`RFExplorer PC Client - Format v00${version}`)),
    head,
    ...(version === 1 ? [] : [withLength(Buffer.from('configuration')), withLength(Buffer.from('model'))]),
    ...(version < 3 ? data : [uint32(Buffer.concat(data).length), uint32(compressed.length), compressed]),
  ])
}

const withLength = (text: Buffer) => Buffer.concat([Buffer.from([text.length]), text])

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** The rows of `rtl_power`, one for each sweep. */
export const powerRows = (sweeps: readonly (readonly number[])[], start = '2026-11-22, 19:30:05') =>
  sweeps
    .map((levels) => [start, 470_000_000, 470_000_000 + levels.length * 25_000, 25_000, 1, ...levels].join(', '))
    .join('\n')

const mhzAt = (index: number) => (470 + index * 0.025).toFixed(3).padStart(8, '0')

export const wsmFile = (values: readonly Point[] = points, unit = 'dBm') =>
  [
    'Receiver;Hall',
    'Date/Time;2026-11-22 19:30:05',
    `RFUnit;${unit}`,
    ...['Owner', 'ScanCity', 'ScanComment', 'ScanCountry', 'ScanDescription', 'ScanInteriorExterior'].map(
      (name) => `${name};`,
    ),
    ...['ScanLatitude', 'ScanLongitude', 'ScanName', 'ScanPostalCode'].map((name) => `${name};`),
    'Frequency Range [kHz];470000;470100;25',
    'Frequency;RF level (%);RF level',
    ...values.map(([mhz, dbm]) => `${mhz * 1000};;${String(dbm).replace('.', ',')}`),
  ].join('\r\n')

export const sdb2File = (
  sets: readonly (readonly number[])[],
  khz = sets[0]?.map((_, index) => 470_000 + index * 25),
) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<scan_data_source ver="0.0.0.1" id="{1}" model="AXT600" name="Hall" date="Sun Nov 22 2026" time="19:30:05.120" color="#ffffff">
  <data_sets count="${sets.length}" no_data_value="-140">
    <freq_set>
${(khz ?? []).map((frequency) => `      <f>${frequency}</f>`).join('\n')}
    </freq_set>
${sets.map(toDataSet).join('\n')}
  </data_sets>
</scan_data_source>
`

const toDataSet = (levels: readonly number[]) =>
  `    <data_set index="0" freq_units="KHz" ampl_units="dBm" step_freq="25.000" scale_factor="1" date_time="1795375805120">
${levels.map((level) => `      <v>${level.toFixed(1)}</v>`).join('\n')}
    </data_set>`

export interface Sweep {
  readonly id: number
  readonly levels: readonly number[]
}

export function sdb3File(sweeps: readonly Sweep[], change: object = {}): Buffer {
  const count = sweeps[0]?.levels.length ?? 0
  const range = { StartFreq: 470_000, EndFreq: 470_000 + (count - 1) * 25, StepFreq: 25 }
  const header = {
    AmplUnits: 'dBm',
    BinarySchema: [
      { Bytes: 4, DataValue: 'start-of-sweep' },
      { Bytes: 4, DataValue: 'id' },
      { Bytes: 4, DataValue: 'timestamp' },
      { Curve: { Name: 'Antenna A', FreqRanges: [range] } },
      { Bytes: 2, DataValue: 'crc16' },
    ],
    BitWidth: 16,
    FreqUnits: 'KHz',
    NoDataValue: -1400,
    'Scale Factor': 10,
    StartDate: '11/22/2026',
    StartTime: '19:30:05',
    ...change,
  }
  const counts = Buffer.alloc(8)
  counts.writeUInt32BE(sweeps.length, 0)
  counts.writeUInt32BE(sweeps.length, 4)
  return Buffer.concat([
    Buffer.from(`//@ShureScan\n${JSON.stringify(header, null, 2)}\n@Binary:`),
    ...sweeps.map(toRecord),
    Buffer.from('@Extended:\n{"Creator": "test"}\n@End'),
    counts,
  ])
}

export function toRecord({ id, levels }: Sweep): Buffer {
  const record = Buffer.alloc(12 + levels.length * 2 + 2)
  record.write('@Swp', 'latin1')
  record.writeUInt32BE(id, 4)
  record.writeUInt32BE(id, 8)
  for (const [index, level] of levels.entries()) record.writeInt16BE(Math.round(level * 10), 12 + index * 2)
  record.writeUInt16BE(crc16(record.subarray(0, -2)), record.length - 2)
  return record
}

/** CRC-16/ARC, bit by bit. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1
  }
  return crc
}
