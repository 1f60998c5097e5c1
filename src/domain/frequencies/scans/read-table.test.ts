import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Point, points, powerRows, rfeFile, wsmFile } from '../../../../test/support/scan-files.ts'
import { readScan } from './read-scan.ts'
import { type ReadScan, ScanFileError } from './scan.ts'

const levels = points.map(([, dbm]) => dbm)

function scanOf(file: string | Uint8Array): ReadScan {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file
  return readScan(bytes, (data, maxOutputLength) => gunzipSync(data, { maxOutputLength }))
}

function read(file: string | Uint8Array) {
  const { format, unit, khz, tenthsDbm } = scanOf(file)
  return { format, unit, points: [...khz].map((key, index): Point => [key / 1000, (tenthsDbm[index] ?? 0) / 10]) }
}

function errorOf(file: string | Uint8Array): string {
  try {
    scanOf(file)
  } catch (error) {
    if (error instanceof ScanFileError) return error.message
    throw error
  }
  return 'no error'
}

/** A heading and one line per point. */
const table = (heading: string, row: (mhz: number, dbm: number, index: number) => string, values = points) =>
  [heading, ...values.map(([mhz, dbm], index) => row(mhz, dbm, index))].join('\n')

const pairs = (heading: string, offset: number) =>
  table(heading, (mhz, dbm) => `${mhz.toFixed(3)};${(dbm + offset).toFixed(2)}`)

describe('columns are read by name', () => {
  // Conformance: C-15.89.
  it.each([
    ['in any order', table('Notes;Level [dBm];Frequency [MHz]', (mhz, dbm) => `x;${dbm};${mhz}`)],
    ['in another language', table('Fréquence (kHz);Niveau (dBm)', (mhz, dbm) => `${mhz * 1000};${dbm}`)],
    ['with the unit after an underscore', table('f_GHz,Pegel_dBm', (mhz, dbm) => `${mhz / 1000},${dbm}`)],
    ['with the unit after a slash', table('Frequenz/Hz\tPegel/dBm', (mhz, dbm) => `${mhz * 1e6}\t${dbm}`)],
    ['as a comment', table('# Frequency (MHz),Level (dBm)', (mhz, dbm) => `${mhz},${dbm}`)],
    ['separated by spaces', table('Frequency (MHz) Level (dBm)', (mhz, dbm) => `${mhz} ${dbm}`)],
    [
      'with several columns of the same frequency',
      table('Index,Frequency_Hz,Frequency_MHz,dBm', (mhz, dbm, index) =>
        [index, Math.round(mhz * 1e6), mhz.toFixed(2), dbm].join(','),
      ),
    ],
    [
      'with several traces, of which the highest is kept',
      table('Frequency,Live,Max Hold', (mhz, dbm) => `${mhz},${dbm - 3},${dbm}`),
    ],
    [
      'with a frequency for each curve',
      table('"Peak_x","Peak_y","Average_x","Average_y"', (mhz, dbm) => `${mhz},${dbm},${mhz},${dbm - 5}`),
    ],
    [
      'beside columns that are no levels',
      table('Frequency (MHz);Occupancy (%);Threshold (dBm);SNR (dB);Level (dBm);RBW (kHz)', (mhz, dbm) =>
        [mhz, 50, -10, 40, dbm, 30].join(';'),
      ),
    ],
    [
      'with decimal commas between commas',
      table('Frequency (MHz),Level (dBm)', (mhz, dbm) => `${mhz.toFixed(3)},${dbm.toFixed(1)}`.replaceAll('.', ',')),
    ],
    [
      'with empty rows of a spreadsheet, and a repeated heading',
      table('Frequency (MHz),Level (dBm),', (mhz, dbm) => `${mhz},${dbm},\n,,\nFrequency (MHz),Level (dBm),`),
    ],
  ])('%s', (_, file) => {
    expect(read(file)).toMatchObject({ format: 'csv', unit: 'dBm', points })
    expect(scanOf(file)).toMatchObject({ rowsRead: 5, rowsSkipped: [], isCalibrated: true })
  })

  it('and a row whose frequencies differ is skipped', () => {
    const file = `${table('Hz,MHz,dBm', (mhz, dbm) => `${mhz * 1e6},${mhz},${dbm}`)}\n480000000,481,-90`
    expect(scanOf(file).rowsSkipped).toEqual([{ line: 7, why: 'The frequencies in this line differ.' }])
    const ranges = table('Start (MHz),Stop (MHz),dBm', (mhz, dbm) => `${mhz},${mhz + 1},${dbm}`)
    expect(errorOf(ranges)).toContain('The frequencies in this line differ.')
  })

  it.each([
    ['Frequency (MHz),A (dBm),B (dBm)', 'Line 1: "A (dBm)" and "B (dBm)" may contain the level.'],
    ['one,two,three', 'Expected a frequency and a level, found 3 columns.'],
  ])('and are refused if it is not clear which one is the level: %s', (heading, message) => {
    expect(errorOf(table(heading, (mhz, dbm) => `${mhz},${dbm},${dbm}`))).toContain(message)
  })

  it('and are refused if they change within the file', () => {
    const file = `${pairs('Frequency (MHz);Level (dBm)', 0)}\n${pairs('Frequency (MHz);Level (dBµV)', 107)}`
    expect(errorOf(file)).toBe('Line 7: the columns change here. Upload each part as a file of its own.')
  })
})

describe('levels are converted to dBm', () => {
  // Conformance: C-15.90.
  it.each([
    ['dBuV', 'Frequency (MHz);Level (dBuV)', 107],
    ['DBUV', 'Frequency (MHz);Level [DBUV]', 107],
    ['dBµV', 'Frequency (MHz);dBμV', 107],
    ['dBmV', 'Frequency (MHz);Magnitude_dBmV', 47],
    ['dBuV 75 Ohm', 'Frequency (MHz);Level (dBuV at 75 Ohm)', 108.75],
    ['dBµV', 'RFUnit;dBµV\nFrequency;Level', 107],
    ['dBuV', 'RFUnit:;dBuV', 107],
    ['dBuV', 'Reference level: 77 dBuV', 107],
    ['dBmV', 'Y Axis Unit;dBmV\nReference level;-10 dBm', 47],
    ['dBm', 'Frequency;Level', 0],
  ])('from %s, named by %j', (unit, heading, offset) => {
    for (const encoding of ['utf8', 'latin1'] as const) {
      expect(read(Buffer.from(pairs(heading, offset), encoding)).points).toEqual(points)
    }
    expect(scanOf(pairs(heading, offset)).unit).toBe(unit)
    const utf16 = Buffer.from(pairs(heading, offset), 'utf16le')
    expect(read(utf16)).toMatchObject({ unit, points })
    expect(read(utf16.swap16()).points).toEqual(points)
  })

  it.each(['V', 'mW', '%', 'dB', 'dBFS', 'dBuV/m', 'dBm/Hz', 'furlongs'])('and are refused in %s', (unit) => {
    const message = `Levels in "${unit}" are not supported, only dBm, dBµV and dBmV.`
    expect(errorOf(pairs(`Frequency (MHz);Level (${unit})`, 0))).toBe(message)
    expect(errorOf(wsmFile(points, unit))).toBe(message)
  })

  it.each([
    ['Frequency;Level', 107, 'Line 4: the unit of the levels is not known, and 45.7 is not in dBm.'],
    ['Frequency;Level', -100, 'Line 2: the unit of the levels is not known, and -198.5 is not in dBm.'],
    ['Levels in dBm or dBµV', 0, 'The unit of the levels is not known, because the file mentions "dBm" and "dBµV".'],
    ['Frequency (MHz);Level (dBm)', 121, 'The levels, with a median of 24.0, are not in dBm.'],
  ])('and are refused if the unit is not known or not possible: %s', (heading, offset, message) => {
    expect(errorOf(pairs(heading, offset))).toContain(message)
  })

  it('and are refused if all of them are positive', () => {
    const linear = table('', (mhz, _dbm, index) => `${mhz},${0.001 * (index + 1)}`)
    expect(errorOf(linear)).toContain('are not in dBm')
  })

  it('and frequencies are refused if they may be in MHz or GHz', () => {
    const file = (heading: string) => table(heading, (mhz, dbm) => `${mhz / 1000},${dbm}`)
    expect(errorOf(file('Frequency,Level (dBm)'))).toContain('The unit of the frequencies is not known')
    expect(read(file('Frequency (GHz),Level (dBm)')).points).toEqual(points)
  })
})

describe('formats of instruments', () => {
  const trace = (row: (mhz: number, dbm: number, index: number) => string, values = points) =>
    values.map(([mhz, dbm], index) => row(mhz, dbm, index))
  const pair = (mhz: number, dbm: number) => `${Math.round(mhz * 1e6)},${dbm}`
  const rohdeSchwarz = ['Type;FPH;', 'Date;20.Nov 2026;', 'Ref Level;77;dBuV', 'x-Unit;Hz;', 'y-Unit;dBm;']
  const microvolts = points.map(([mhz, dbm]): Point => [mhz, dbm + 107])

  it.each([
    [
      'csv',
      'several traces of a tinySA',
      trace((mhz, dbm) => `${mhz * 1e6},${dbm.toFixed(3)} ${(dbm - 9).toFixed(3)}`),
    ],
    [
      'csv',
      'TTi PSA',
      [
        'Model Type: PSA2702,',
        'Start Frequency: 0470.0000 MHz,',
        ...trace((mhz, dbm) => `0${mhz.toFixed(4)},${dbm.toFixed(1)}`),
      ],
    ],
    [
      'rohde_schwarz',
      'decimal commas',
      [...rohdeSchwarz, 'Values;5;', ...trace((mhz, dbm) => `${mhz * 1e6};${`${dbm}`.replace('.', ',')};`)],
    ],
    [
      'rohde_schwarz',
      'dBµV',
      [
        ...rohdeSchwarz.slice(0, -1),
        'y-Unit;DBUV;',
        ...trace((mhz, level) => `${mhz * 1e6};${level.toFixed(2)};`, microvolts),
      ],
    ],
    [
      'rohde_schwarz',
      'auto peak detector',
      [...rohdeSchwarz, ...trace((mhz, dbm) => `${mhz * 1e6};${dbm};${dbm - 10}`)],
    ],
    [
      'keysight',
      'FieldFox',
      ['! FILETYPE CSV', '! FREQ UNIT Hz', '! DATA UNIT dBm', 'BEGIN', ...trace(pair), 'END', '1,2'],
    ],
    ['keysight', 'X-series', ['Trace', 'X Axis Unit,Hz', 'Y Axis Unit,dBm', 'DATA', ...trace(pair)]],
    [
      'anritsu',
      'spa',
      [
        '# Begin TRACE A Setup',
        'UNITS=0',
        '# Begin TRACE A Data',
        ...trace((mhz, dbm, index) => `P_${index}=${dbm} , ${mhz} MHz`),
        '# Data Done',
        'MARKER=1',
      ],
    ],
    [
      'anritsu',
      'CSV',
      [
        'MODEL,MS2712E',
        '# Begin TRACE A Data',
        ...trace((mhz, dbm, index) => `P_${index},${dbm},${mhz},MHz`),
        '# Data Done',
      ],
    ],
  ])('%s: %s', (format, _, lines) => {
    expect(read(lines.join('\r\n'))).toMatchObject({ format, points })
    expect(scanOf(lines.join('\r\n')).rowsSkipped).toEqual([])
  })

  // Conformance: C-15.91.
  it('say that only the first trace is read', () => {
    const second = ['Trace 2;;', ...points.map(([mhz]) => `${mhz * 1e6};-10`)]
    const file = [...rohdeSchwarz, ...trace((mhz, dbm) => `${mhz * 1e6};${dbm};`), ...second].join('\n')
    expect(read(file).points).toEqual(points)
    expect(scanOf(file).rowsSkipped).toEqual([{ line: 11, why: 'Only the first trace is read.' }])
  })

  it('rtl_power and hackrf_sweep are read as relative levels, with the highest of all sweeps', () => {
    const quiet = levels.map((level) => level - 10)
    const relative = { unit: 'dB', isCalibrated: false, stepKhz: 25 }
    const file = powerRows([quiet, levels])
    expect(read(file)).toEqual({ format: 'rtl_power', unit: 'dB', points })
    expect(scanOf(file)).toMatchObject({
      ...relative,
      ...{ rowsRead: 2, rowsSkipped: [], takenAt: new Date(2026, 10, 22, 19, 30, 5).getTime() },
    })
    expect(scanOf(powerRows([levels], '1795375805, stick')).takenAt).toBe(1_795_375_805_000)
    expect(scanOf(powerRows([levels], '2026-11-22, 19:30:05.123456')).format).toBe('hackrf_sweep')
    expect(scanOf(`${powerRows([[-1, ...levels.slice(1)], levels])}\n${file.slice(0, 70)}`).rowsSkipped).toEqual([
      { line: 3, why: 'Expected 5 levels, found 3.' },
    ])
    expect(errorOf(powerRows([levels.map((level) => 10 ** (level / 10))]))).toContain('are not in dB.')
  })

  it.each([1, 2, 3, 5])('.rfe of version %i', (version) => {
    const quiet = levels.map((level) => level - 10)
    const file = rfeFile([levels, quiet], version)
    expect(read(file)).toEqual({ format: 'rf_explorer', unit: 'dBm', points })
    expect(scanOf(file)).toMatchObject({
      ...{ rowsRead: 2, rowsSkipped: [] },
      takenAt: version === 1 ? null : Date.parse('2026-11-22T19:30:05.123Z'),
    })
    for (let length = 36; length < file.length; length += 7) {
      expect(errorOf(file.subarray(0, length))).toMatch(/no error|damaged|ends before|within this sweep|no levels/)
    }
  })

  it.each([
    ['PK\u0003\u0004', 'The file is a spreadsheet or a ZIP archive. Save the scan as CSV.'],
    ['%PDF-1.7', 'The file is a PDF document. Export the scan as CSV.'],
    ['WiNRADiO RF Spectrum Sweep File\0', 'Sweep files of WiNRADiO contain no levels in dBm. Export the scan as CSV.'],
    ['! a\n# Hz S DB R 50\n470000000 -3 0\n', 'Touchstone files contain reflections or transmissions, not levels.'],
    ['MeasResult\n1,2\n', 'Measurement results (MeasResult) are not supported. Save the trace as CSV.'],
    ['\u0022RFExplorer PC Client - Format v009', 'This version of .rfe is not supported. Save the sweeps as CSV.'],
    [[...rohdeSchwarz, 'Frame;0;;', '1;2'].join('\n'), 'Spectrograms are not supported. Export a trace.'],
    [[...rohdeSchwarz.slice(0, 3), 'x-Unit;s;', ...trace(pair)].join('\n'), 'Frequencies in "s" are not supported'],
  ])('are refused by name: %j', (file, message) => {
    expect(errorOf(Buffer.from(file, 'latin1'))).toContain(message)
  })
})
