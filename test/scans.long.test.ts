/** The largest scans, and large files that are made to be slow. */

import { describe, expect, it } from 'vitest'
import { readScan } from '../src/domain/frequencies/scans/read-scan.ts'
import { maxScanFileBytes, maxScanPoints, ScanFileError } from '../src/domain/frequencies/scans/scan.ts'
import { startApp } from './support/app.ts'
import { csvFile, sdb3File } from './support/scan-files.ts'
import { uploadScan } from './support/scan-upload.ts'

describe('uploads of scans', () => {
  // Conformance: C-15.58.
  it('accept 200,000 points and 16 MiB, and refuse larger files', async () => {
    const app = await startApp()
    const lines = Array.from({ length: maxScanPoints }, (_, index) => `${400_000 + index},-90\n`).join('')
    const { json } = await uploadScan(app, lines)
    expect(json).toMatchObject({ points: maxScanPoints, from_mhz: '400.000', to_mhz: '599.999' })
    const read = (await app.get(`/api/scans/${json.id}/`)).json
    expect([read.mhz.length, read.mhz.at(-1), read.dbm.at(-1)]).toEqual([maxScanPoints, '599.999', -90])
    expect((await uploadScan(app, `${lines}399999,-90\n`)).json.details).toContain(
      'more than 200000 different frequencies',
    )

    const rows = csvFile()
    const largest = Buffer.concat([Buffer.from(rows), Buffer.alloc(maxScanFileBytes - rows.length, ' ')])
    expect((await uploadScan(app, largest)).status).toBe(201)
    expect((await uploadScan(app, Buffer.concat([largest, Buffer.from(' ')]))).status).toBe(413)
    expect((await uploadScan(app, Buffer.concat([largest, largest]))).status).toBe(413)
    expect((await app.get('/api/scans/')).json).toHaveLength(2)
  })
})

// Conformance: C-15.50.
describe('a file of 16 MiB is read or refused in linear time', () => {
  const timeline = sdb3File([{ id: 1, levels: Array.from({ length: 1000 }, () => -90) }])
  const upToData = timeline.subarray(0, timeline.indexOf('@Swp')).toString('latin1')

  it.each([
    ['', '4', 'No line contains'],
    ['', '470,-90\n', 'levels at 1 frequency'],
    ['', '470,x\n', 'No line contains'],
    [csvFile(), '470,x\n', 'rows cannot be read'],
    ['Frequency (MHz),Level (dBm)\n', '((((', 'rows cannot be read'],
    ['', '((((', 'No line contains'],
    ['', '2026-11-22, 19:30:05, 470000000, 472000000, 25000, 1, -9\n', 'rows cannot be read'],
    ['# Begin TRACE A Data\n', 'P_0=x , 470 MHz\n', 'rows cannot be read'],
    ['', '\n', 'No line contains'],
    ['', '"', 'No line contains'],
    ['<a>', '<b>', 'nested too deep'],
    ['<a ', 'b="1" ', 'not well-formed'],
    ['<a>', 'x', 'not well-formed'],
    ['<!DOCTYPE a [', '<!ENTITY b "&b;&b;">', 'not well-formed'],
    [upToData, '@Swp', 'rows cannot be read'],
    ['RF Explorer CSV data file\nSweep,', ',', 'expected frequencies'],
    ['Receiver;\n', ';', 'No line contains'],
  ])('%j, then %j', (start, rest, expected) => {
    const bytes = Buffer.alloc(maxScanFileBytes, rest)
    bytes.write(start, 'latin1')
    expect(resultOf(bytes)).toContain(expected)
  })

  function resultOf(bytes: Uint8Array): string {
    try {
      readScan(bytes, () => bytes)
      return 'read'
    } catch (error) {
      if (error instanceof ScanFileError) return error.message
      throw error
    }
  }
})
