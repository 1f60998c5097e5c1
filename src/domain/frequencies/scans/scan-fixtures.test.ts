/** Small files of our own in the layouts of programs and instruments. */

import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readScan } from './read-scan.ts'
import { ScanFileError } from './scan.ts'

const folder = new URL('../../../../test/scan-fixtures/', import.meta.url)

/** Format, unit, number of points, lowest and highest level in dBm. */
const readable: Readonly<Record<string, readonly [string, string, number, number, number]>> = {
  'wwb.csv': ['csv', 'dBm', 5, -101.2, -61.3],
  'wwb.sdb2': ['sdb2', 'dBm', 5, -101.2, -61.3],
  'wwb.sdb3': ['sdb3', 'dBm', 5, -101.2, -61.3],
  'wsm.csv': ['wsm', 'dBm', 5, -101.2, -61.3],
  'wsm-dbuv.csv': ['wsm', 'dBµV', 9, -104, -60],
  'wsm-seven-columns.csv': ['wsm', 'dBm', 81, -104, -58],
  'wsm-empty-rows.csv': ['wsm', 'dBm', 81, -104, -58],
  'rf-explorer.csv': ['rf_explorer', 'dBm', 5, -101.2, -61.3],
  'rf-explorer.rfe': ['rf_explorer', 'dBm', 5, -101.2, -61.3],
  'rf-explorer-single.txt': ['csv', 'dBm', 5, -101.2, -61.3],
  'rf-unit-dbuv.csv': ['csv', 'dBuV', 9, -104, -60],
  'tinysa.csv': ['csv', 'dBm', 5, -101.2, -61.3],
  'tinysa-traces.csv': ['csv', 'dBm', 5, -101.2, -61.3],
  'named-columns.csv': ['csv', 'dBm', 81, -104, -58],
  'live-and-max-hold.csv': ['csv', 'dBm', 81, -101, -55],
  'two-traces.csv': ['csv', 'dBm', 9, -104, -60],
  'qspectrumanalyzer.csv': ['csv', 'dBm', 5, -101.2, -61.3],
  'table-dbuv.csv': ['csv', 'dBuV', 81, -104, -58],
  'table-dbmv.csv': ['csv', 'dBmV', 9, -104, -60],
  'table-empty-rows.csv': ['csv', 'dBm', 81, -104, -58],
  'rtl_power.csv': ['rtl_power', 'dB', 5, -101.2, -61.3],
  'hackrf_sweep.csv': ['hackrf_sweep', 'dB', 10, -74.5, -64.7],
  'ttipsa.csv': ['csv', 'dBm', 5, -101.2, -61.3],
  'rohde-schwarz.dat': ['rohde_schwarz', 'dBm', 5, -101.2, -61.3],
  'rohde-schwarz-dbuv.csv': ['rohde_schwarz', 'DBUV', 81, -104, -58],
  'fsh-view.csv': ['csv', 'dBm', 5, -101.2, -61.3],
  'anritsu.spa': ['anritsu', 'dBm', 5, -101.2, -61.3],
  'anritsu.csv': ['anritsu', 'dBm', 5, -101.2, -61.3],
  'fieldfox.csv': ['keysight', 'dBm', 5, -101.2, -61.3],
  'keysight-x-series.csv': ['keysight', 'dBm', 5, -101.2, -61.3],
}

/** Parts of the messages. */
const refused: Readonly<Record<string, string>> = {
  'table-percent.csv': 'Levels in "%" are not supported',
  'linear.csv': 'Levels in "mW" are not supported',
  'dbfs.csv': 'Levels in "dBFS" are not supported',
  'unnamed-columns.csv': 'Line 1: Expected a frequency and a level, found 3 columns.',
  'touchstone.s1p': 'Touchstone files contain reflections',
  'winradio.bin': 'Sweep files of WiNRADiO contain no levels in dBm',
  'coordination.shw': 'a frequency coordination, not a scan',
}

const read = (name: string) =>
  readScan(readFileSync(new URL(name, folder)), (data, maxOutputLength) => gunzipSync(data, { maxOutputLength }))

// Conformance: C-23.21.
it.each(Object.entries(readable))('%s is read', (name, [format, unit, points, lowest, highest]) => {
  const scan = read(name)
  const dbm = [...scan.tenthsDbm].map((level) => level / 10)
  expect([scan.format, scan.unit, scan.khz.length]).toEqual([format, unit, points])
  expect([Math.min(...dbm), Math.max(...dbm)]).toEqual([lowest, highest])
  expect(scan.isCalibrated).toBe(!['rtl_power', 'hackrf_sweep'].includes(format))
})

// Conformance: C-23.21.
it.each(Object.entries(refused))('%s is refused by name', (name, message) => {
  expect(() => read(name)).toThrow(ScanFileError)
  expect(() => read(name)).toThrow(message)
})

it('every file is tested', () => {
  expect(readdirSync(folder).sort()).toEqual([...Object.keys(readable), ...Object.keys(refused)].sort())
})
