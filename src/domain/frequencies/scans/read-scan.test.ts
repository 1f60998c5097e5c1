import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  crc16,
  csvFile,
  type Point,
  points,
  rfExplorerFile,
  sdb2File,
  sdb3File,
  toRecord,
  wsmFile,
} from '../../../../test/support/scan-files.ts'
import { readScan } from './read-scan.ts'
import { maxScanFileBytes, maxScanPoints, ScanFileError, toScanName, withOffset } from './scan.ts'

const levels = points.map(([, dbm]) => dbm)
const evening = new Date(2026, 10, 22, 19, 30, 5).getTime()

function scanOf(file: string | Uint8Array) {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file
  return readScan(bytes, (data, maxOutputLength) => gunzipSync(data, { maxOutputLength }))
}

function read(file: string | Uint8Array) {
  const { format, khz, tenthsDbm, takenAt } = scanOf(file)
  return { format, takenAt, points: [...khz].map((key, index): Point => [key / 1000, (tenthsDbm[index] ?? 0) / 10]) }
}

function errorOf(file: string | Uint8Array): string {
  try {
    read(file)
  } catch (error) {
    if (error instanceof ScanFileError) return error.message
    throw error
  }
  return 'no error'
}

describe('a frequency and a level in each line', () => {
  // Conformance: C-15.40.
  it.each([
    ['commas', csvFile()],
    ['LF', csvFile().replaceAll('\r\n', '\n')],
    ['CR', csvFile().replaceAll('\r\n', '\r')],
    ['no line end after the last line', csvFile().trimEnd()],
    ['empty lines and a comma at the end', `\n${csvFile().replaceAll('\r\n', ',\n\n')}`],
    ['tabs', csvFile().replaceAll(',', '\t')],
    ['spaces', csvFile().replaceAll(',', '  ')],
    ['semicolons', csvFile().replaceAll(',', ';')],
    ['semicolons and decimal commas', csvFile().replaceAll(',', ';').replaceAll('.', ',')],
    ['tabs and decimal commas', csvFile().replaceAll(',', '\t').replaceAll('.', ',')],
    ['commas and decimal commas', csvFile().replaceAll('.', ',')],
    [
      'quotes',
      csvFile()
        .replaceAll('.', ',')
        .replaceAll(/(\d+,\d+),(-\d+,\d)/g, '"$1","$2"'),
    ],
    ['kHz', points.map(([mhz, dbm]) => `${mhz * 1000},${dbm}`).join('\n')],
    ['Hz', points.map(([mhz, dbm]) => `${mhz * 1_000_000},${dbm}`).join('\n')],
    ['Hz with exponents', points.map(([mhz, dbm]) => `${(mhz * 1e6).toExponential(6)},${dbm}e0`).join('\n')],
    ['a header and a comment', `Frequency (MHz),Level (dBm)\n# hall\n${csvFile()}`],
    ['leading zeros, as RF Explorer writes', csvFile().replaceAll('470', '0470')],
    ['any order', csvFile([...points].reverse())],
    ['a byte order mark', `\uFEFF${csvFile()}`],
    ['UTF-16', Buffer.from(`\uFEFF${csvFile()}`, 'utf16le')],
    ['UTF-16, big-endian', Buffer.from(`\uFEFF${csvFile()}`, 'utf16le').swap16()],
  ])('is read with %s', (_, file) => {
    expect(read(file)).toEqual({ format: 'csv', takenAt: null, points })
  })

  // Conformance: C-15.41.
  it('holds the highest level of a frequency that is measured several times', () => {
    const others = [473, 474, 475].map((mhz) => `${mhz},-100\n`).join('')
    const file = `470.000,-90\n470.000,-80.55\n470.0004,-85\n471,-70\n470,nan\n472,-inf\n${others}`
    expect(read(file).points.slice(0, 3)).toEqual([
      [470, -80.5],
      [471, -70],
      [473, -100],
    ])
    const why = 'No level was measured.'
    expect(scanOf(file)).toMatchObject({
      ...{ rowsRead: 7, stepKhz: 1000 },
      rowsSkipped: [5, 6].map((line) => ({ line, why })),
    })
  })

  // Conformance: C-15.42.
  it.each([
    ['', 'The file is empty.'],
    ['hello\nworld\n', 'No line contains a frequency and a level, such as 470.025,-98.5.'],
    [
      '470.000,-98\n\n470.025,loud\n',
      'The file contains levels at 1 frequency; a scan has at least 5. Line 3: "loud" is not a level.',
    ],
    ['470.000,-98\nx\ny\n', '2 of 3 rows cannot be read. Line 2: "x" is not a frequency.'],
    ['470.000,nan\n', 'The file contains no levels; a scan has at least 5. Line 1: No level was measured.'],
    ['470.000,-98\0\n', 'The file is neither text nor a scan of a supported program.'],
  ])('is refused: %j', (file, message) => {
    expect(errorOf(file)).toBe(message)
  })

  // Conformance: C-15.42.
  it.each([
    ['470.125;-97', '"470.125;-97" is not a frequency.'],
    ['470.125,loud', '"loud" is not a level.'],
    ['470.125,-97,-96', 'Expected a frequency and a level, found 3 columns.'],
    ['470.125,470', 'Expected a level from -250 to 100 dBm.'],
    ['480000,-97', 'Expected a frequency from 0.001 to 30000 MHz.'],
    ['-471,-98', 'Expected a frequency from 0.001 to 30000 MHz.'],
    ['470.125', 'No level was measured.'],
  ])('is read without the row %j, which is listed', (row, why) => {
    const [first = '', ...others] = csvFile().split('\r\n')
    const file = [first, '', row, ...others].join('\n')
    expect(read(file).points).toEqual(points)
    expect(scanOf(file)).toMatchObject({ rowsRead: 5, rowsSkipped: [{ line: 3, why }] })
  })

  // Conformance: C-15.92.
  it('lists at most 1,000 rows, and says how many more were skipped', () => {
    const lines = Array.from({ length: 1500 }, (_, index) => `${400 + index},-90\nx\n`).join('')
    const { rowsRead, rowsSkipped } = scanOf(lines)
    expect([rowsRead, rowsSkipped.length]).toEqual([1500, 1001])
    expect(rowsSkipped.at(-1)).toEqual({ line: 2000, why: '500 more rows after this one were skipped.' })
  })

  // Conformance: C-15.43.
  it('has at most 200,000 frequencies, however often they are measured', () => {
    const lines = Array.from({ length: maxScanPoints }, (_, index) => `${400_000 + index},-90\n`).join('')
    expect(read(lines + lines.slice(0, 100_000)).points).toHaveLength(maxScanPoints)
    expect(errorOf(`${lines}399999,-90\n`)).toContain('more than 200000 different frequencies')
    expect(errorOf(Buffer.alloc(maxScanFileBytes + 1, '1'))).toBe('The file is larger than 16 MiB.')
  })
})

describe('sweeps of RF Explorer', () => {
  const second = levels.map((level) => level - 3).with(1, -60)

  // Conformance: C-15.44.
  it('are read, and the highest level is held', () => {
    const expected = { format: 'rf_explorer', takenAt: evening - 5000 + 120, points: points.with(1, [470.025, -60]) }
    const file = rfExplorerFile([levels, second])
    expect(read(file)).toEqual(expected)
    expect(read(file.replaceAll(',', '\t'))).toEqual(expected)
    expect(read(file.replaceAll(',', ';').replaceAll(/(\d)\.(\d)/g, '$1,$2'))).toEqual(expected)
    expect(read(file.replaceAll('11/22/2026', '22/11/2026')).takenAt).toBe(expected.takenAt)
    expect(read(file.replaceAll('11/22/2026', '22.11.2026')).takenAt).toBe(expected.takenAt)
    expect(read(file.replaceAll(/19:30:0(\d)/g, '7:30:0$1 PM')).takenAt).toBe(expected.takenAt)
    expect(read(file.replaceAll('11/22/2026', 'yesterday')).takenAt).toBe(null)
  })

  it('are read without sweeps that are not complete', () => {
    const file = rfExplorerFile([levels, second])
    const why = 'Expected 5 levels, found 4.'
    expect(scanOf(file.replace(/,[^,]*$/, ''))).toMatchObject({ rowsRead: 1, rowsSkipped: [{ line: 8, why }] })
    expect(errorOf(file.replace('0470.050', 'x'))).toBe('Line 6: "x" is not a frequency in MHz.')
    expect(errorOf(file.replace('Sweep', 'Swep'))).toBe('No line begins with "Sweep" and lists the frequencies.')
    expect(errorOf(rfExplorerFile([levels]).replace('-61.3', '?'))).toBe(
      '1 of 1 rows cannot be read. Line 7: "?" is not a level.',
    )
    expect(errorOf(rfExplorerFile([levels]).split('\r\n').slice(0, 6).join('\n'))).toContain('no levels')
  })
})

describe('scans of Wireless Systems Manager', () => {
  // Conformance: C-15.45.
  it('are read with decimal commas and points', () => {
    const expected = { format: 'wsm', takenAt: evening, points }
    expect(read(wsmFile())).toEqual(expected)
    expect(read(wsmFile().replaceAll(',', '.'))).toEqual(expected)
    // Some programs write the number of points instead of the step.
    expect(read(wsmFile().replace('470100;25', '470100;5'))).toEqual(expected)
    expect(read(wsmFile().replace('2026-11-22 19:30:05', ''))).toEqual({ ...expected, takenAt: null })
  })

  it('are read in dBµV at 50 Ω', () => {
    const microvolts = points.map(([mhz, dbm]): Point => [mhz, Math.round((dbm + 107) * 10) / 10])
    for (const encoding of ['utf8', 'latin1'] as const) {
      expect(read(Buffer.from(wsmFile(microvolts, 'dBµV'), encoding)).points).toEqual(points)
    }
    expect(errorOf(wsmFile(points, '%'))).toBe('Levels in "%" are not supported, only dBm, dBµV and dBmV.')
  })

  it('are read by the heading, with further columns, empty rows of a spreadsheet and lines of text at the end', () => {
    const heading = 'Frequency;RF level (%);RF level'
    const memory = wsmFile().replace(heading, `${heading};Memory (%);Memory;Squelch (%);Squelch`)
    const rows = memory.replaceAll(/(;;-[\d,]+)/g, '$1;0;-5;0;-5')
    expect(read(rows).points).toEqual(points)
    expect(read(rows.slice(rows.indexOf(heading))).format).toBe('wsm')
    const sheet = `${wsmFile().replaceAll('\r\n', '; ;\r\n; ;\r\n')}\r\nScanName;Hall\r\n; ;\r\nOwner;`
    expect(scanOf(sheet)).toMatchObject({ rowsRead: 5, rowsSkipped: [] })
    const damaged = wsmFile().replace('470025;', '470012;;loud\r\nx;y;z\r\n470025;')
    expect(scanOf(damaged).rowsSkipped).toEqual([
      { line: 17, why: '"loud" is not a level.' },
      { line: 18, why: '"x" is not a frequency.' },
    ])
    expect(errorOf(wsmFile().replaceAll(/;;[-\d,]+/g, ';80;'))).toContain('Levels in "%" are not supported')
  })
})

describe('scans of Wireless Workbench in XML', () => {
  // Conformance: C-15.46.
  it('are read, and the highest level of all lists is held', () => {
    const second = levels.map((level) => level - 1).with(3, -50)
    const expected = { format: 'sdb2', takenAt: 1_795_375_805_120, points: points.with(3, [470.075, -50]) }
    expect(read(sdb2File([levels, second]))).toEqual(expected)
    expect(read(sdb2File([[...levels, -140]])).points).toEqual(points)
    const microvolts = sdb2File([levels.map((level) => level + 107)]).replace('"dBm"', '"dBuV"')
    expect(read(microvolts).points).toEqual(points)
    expect(scanOf(sdb2File([levels, levels]).replace('-61.3', 'x'))).toMatchObject({
      ...{ unit: 'dBm', stepKhz: 25, rowsRead: 9 },
      rowsSkipped: [{ line: 14, why: '"x" is not a level.' }],
    })
    const inMhz = sdb2File(
      [levels],
      points.map(([mhz]) => mhz),
    ).replace('"KHz"', '"MHz"')
    expect(read(inMhz).points).toEqual(points)
    expect(read(sdb2File([levels]).replace(/ date_time="\d+"/, '')).takenAt).toBe(evening + 120)
  })

  // Conformance: C-15.47.
  it('are refused with a document type', () => {
    const file = sdb2File([levels])
    for (const type of [
      '<!DOCTYPE a>',
      '<!DOCTYPE a [<!ENTITY b "-50">]>',
      '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
    ]) {
      expect(errorOf(file.replace('?>', `?>${type}`))).toBe('Files with a document type (DOCTYPE) are not read.')
    }
  })

  it.each([
    ['another document', '<html></html>', 'The file is XML, but not a scan of Wireless Workbench.'],
    [
      'an entity',
      sdb2File([levels]).replace('-61.3', '&a;'),
      'Line 14: the file is not well-formed XML, or is not complete.',
    ],
    [
      'an incomplete file',
      sdb2File([levels]).slice(0, -30),
      'Line 18: the file is not well-formed XML, or is not complete.',
    ],
    ['too few levels', sdb2File([levels]).replace('<v>-61.3</v>', ''), 'Line 17: expected 5 levels, found 4.'],
    ['too many levels', sdb2File([levels], [470_000]), 'Line 9: there are more levels than frequencies.'],
    ['no numbers', sdb2File([levels]).replace('<f>470000', '<f>a'), 'Line 5: "a" is not a frequency.'],
    [
      'another unit',
      sdb2File([levels]).replace('"dBm"', '"V"'),
      'Levels in "V" are not supported, only dBm, dBµV and dBmV.',
    ],
    ...['<show version="1"/>', '<coord_workspace_ex_root/>', '<!DOCTYPE WSM><WSM/>'].map(
      (file): [string, string, string] => [
        file,
        file,
        'The file contains a frequency coordination, not a scan. Export the scan from the same program.',
      ],
    ),
    ['nested elements', `${'<a>'.repeat(20)}`, 'Line 1: elements are nested too deep.'],
  ])('are refused: %s', (_, file, message) => {
    expect(errorOf(file)).toBe(message)
  })
})

describe('timelines of Wireless Workbench', () => {
  const quiet = levels.map((level) => level - 5)

  // Conformance: C-15.48.
  it('are read, and the highest level of all sweeps and peak records is held', () => {
    const peaks = { id: 0, levels: levels.with(0, -40) }
    const file = sdb3File([{ id: 1, levels: quiet.with(2, -30) }, { id: 2, levels }, peaks])
    expect(read(file)).toEqual({
      format: 'sdb3',
      takenAt: evening,
      points: points.with(0, [470, -40]).with(2, [470.05, -30]),
    })
    expect(read(sdb3File([{ id: 1, levels: [...levels, -140] }])).points).toEqual(points)
  })

  // Conformance: C-15.49.
  it('are read without records that have a wrong checksum', () => {
    const wrong = toRecord({ id: 2, levels: levels.map(() => -10) })
    wrong.writeUInt16LE(wrong.readUInt16BE(wrong.length - 2), wrong.length - 2)
    const file = sdb3File([
      { id: 1, levels: quiet },
      { id: 3, levels },
    ])
    const at = file.indexOf('@Swp')
    const insert = (bytes: Uint8Array) => Buffer.concat([file.subarray(0, at), bytes, file.subarray(at)])
    expect(read(insert(wrong)).points).toEqual(points)
    expect(scanOf(insert(wrong))).toMatchObject({
      rowsRead: 2,
      rowsSkipped: [{ line: 1, why: 'Its checksum is wrong.' }],
    })
    expect(read(insert(Buffer.from('lost'))).points).toEqual(points)
    // A truncated record hides at most the next one.
    expect(read(insert(wrong.subarray(0, 15))).points).toEqual(points)
    expect(read(file.subarray(0, file.indexOf('@Extended:') - 1)).points).toEqual(
      points.map(([mhz, dbm]) => [mhz, dbm - 5]),
    )
    expect(errorOf(sdb3File([]).subarray(0, -20))).toContain('FreqRanges')
    expect(errorOf(file.subarray(0, at + 10))).toBe(
      '1 of 1 rows cannot be read. Line 1: The file ends within this sweep.',
    )
  })

  it('uses the checksum CRC-16/ARC', () => {
    expect(crc16(Buffer.from('123456789'))).toBe(0xbb3d)
  })

  it('are read with several ranges and other scales', () => {
    const ranges = [
      { StartFreq: 470, EndFreq: 470.025, StepFreq: 0.025 },
      { StartFreq: 500, EndFreq: 500.3, StepFreq: 0.1 },
    ]
    const change = {
      BinarySchema: [{ Curve: { FreqRanges: ranges } }],
      FreqUnits: 'MHz',
      'Scale Factor': 100,
      NoDataValue: -500,
    }
    expect(read(sdb3File([{ id: 1, levels: [...levels.with(3, -50), -70] }], change)).points).toEqual([
      [470, -9.8],
      [470.025, -9.7],
      [500, -6.1],
      [500.2, -10.1],
      [500.3, -7],
    ])
  })

  it.each([
    [{ BinarySchema: [] }, 'BinarySchema in the header: expected a list with one Curve.'],
    [{ BinarySchema: [{ Curve: {} }] }, 'FreqRanges in the header: expected a list of ranges.'],
    [
      { BinarySchema: [{ Curve: { FreqRanges: [{ StartFreq: 1, EndFreq: 1e12, StepFreq: 1 }] } }] },
      'The file contains more than 200000 different frequencies. Export a smaller range or a larger step.',
    ],
    [{ BitWidth: 8 }, 'BitWidth in the header: expected 16.'],
    [{ 'Scale Factor': 0 }, 'Scale Factor in the header: expected a positive number.'],
    [{ NoDataValue: 'none' }, 'NoDataValue in the header: expected a whole number of 16 bits.'],
    [{ FreqUnits: 'rpm' }, 'Frequencies in "rpm" are not supported, only Hz, kHz, MHz and GHz.'],
    [{ AmplUnits: 'V' }, 'Levels in "V" are not supported, only dBm, dBµV and dBmV.'],
  ])('are refused with %j', (change, message) => {
    expect(errorOf(sdb3File([{ id: 1, levels }], change))).toBe(message)
  })

  it('are refused without a header or data', () => {
    expect(errorOf('//@ShureScan\n{"a":')).toBe('The header does not end with "@Binary:".')
    expect(errorOf('//@ShureScan\n{"a":\n@Binary:')).toBe('The header before "@Binary:" is not valid JSON.')
  })
})

describe('damaged files', () => {
  const files = [
    Buffer.from(csvFile()),
    Buffer.from(rfExplorerFile([levels, levels])),
    Buffer.from(wsmFile()),
    Buffer.from(sdb2File([levels, levels])),
    sdb3File([
      { id: 1, levels },
      { id: 2, levels },
      { id: 0, levels },
    ]),
  ]
  const file = fc.constantFrom(...files)

  /** A damaged file is read or rejected. Any other error, or more points than bytes, is a bug. */
  function readOrRefuse(bytes: Uint8Array): void {
    try {
      expect(read(bytes).points.length).toBeLessThanOrEqual(bytes.length)
    } catch (error) {
      if (!(error instanceof ScanFileError)) throw error
      expect(error.message).toMatch(/^[\x20-\x7e…Ωµ]{10,200}$/)
    }
  }

  // Conformance: C-15.50.
  it('are read or refused if they are cut off anywhere', () => {
    for (const bytes of files) {
      for (let length = 0; length < bytes.length; length += 1) readOrRefuse(bytes.subarray(0, length))
    }
  })

  // Conformance: C-15.50.
  it('are read or refused if bytes are changed, removed or inserted', () => {
    const edit = fc.tuple(
      fc.integer({ min: 0, max: 5000 }),
      fc.integer({ min: 0, max: 40 }),
      fc.uint8Array({ maxLength: 40 }),
    )
    fc.assert(
      fc.property(file, edit, edit, (bytes, ...edits) => {
        let damaged: Buffer = bytes
        for (const [at, removed, inserted] of edits) {
          const start = at % damaged.length
          damaged = Buffer.concat([damaged.subarray(0, start), inserted, damaged.subarray(start + removed)])
        }
        readOrRefuse(damaged)
      }),
      { numRuns: 2000 },
    )
  })

  it('are read or refused if they contain any text or bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), readOrRefuse), { numRuns: 500 })
    const starts = ['470,-90\n', 'Sweep,a,b,c,470\n', 'Receiver;\nFrequency;\n', '<a>', '//@ShureScan\n{', '<!DOCTYPE']
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.string({ unit: 'binary', maxLength: 300 }), (start, text) =>
        readOrRefuse(Buffer.from(start + text)),
      ),
      { numRuns: 1000 },
    )
  })
})

describe('scans', () => {
  // Conformance: C-15.51.
  it('have the name of the file without folders and control characters', () => {
    expect(
      ['hall.csv', 'C:\\Scans\\Große Bühne.csv', '/etc/../a.sdb3', 'a\n\0b', '', '..', 'scans/'].map(toScanName),
    ).toEqual(['hall.csv', 'Große Bühne.csv', 'a.sdb3', 'ab', 'scan', '..', 'scan'])
    expect(toScanName('ä'.repeat(300))).toHaveLength(255)
  })

  it('have a correction added to all levels', () => {
    expect([...withOffset(Int16Array.of(-985, -610), -50.25)]).toEqual([-1487, -1112])
  })
})
