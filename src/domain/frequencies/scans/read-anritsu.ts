/** Reads the first trace of Anritsu analysers. Files with the ending `.spa` are text; there are CSV files too. */

import { type ReadScan, ScanFileError, ScanReadings } from './scan.ts'
import { guessKhz, khzIn, linesOf, Preamble, parseDecimal, quote, requireDbmOffset } from './scan-text.ts'

const dataMark = /^# ?Begin TRACE \w+ Data/i
const point = /^P_\d+\s*[=,]\s*([^,\s]+)\s*,\s*([^,\s]+)\s*,?\s*([a-z]*)\s*,*$/i

export function isAnritsu(text: string): boolean {
  return /^# ?Begin TRACE/im.test(text)
}

export function readAnritsu(text: string): ReadScan {
  const readings = new ScanReadings()
  const preamble = new Preamble()
  let unit: string | null = null
  let isDone = false
  for (const { number: line, text: content } of linesOf(text)) {
    if (dataMark.test(content)) {
      if (isDone) readings.skip(line, 'Only the first trace is read.', 'unmeasured')
      else unit = preamble.levelUnit() ?? 'dBm'
    } else if (/^# ?Data Done/i.test(content)) isDone = true
    else if (unit === null) preamble.add(content)
    else if (!isDone && !content.startsWith('#')) addPoint(readings, line, content, requireDbmOffset(unit))
  }
  if (unit === null) throw new ScanFileError('No line begins with "# Begin TRACE" and ends with "Data".')
  return readings.toScan({ format: 'anritsu', unit, takenAt: null })
}

function addPoint(readings: ScanReadings, line: number, content: string, offset: number): void {
  const [, level = '', frequency = '', unit = ''] = point.exec(content) ?? []
  const [dbm, number] = [parseDecimal(level), parseDecimal(frequency)]
  if (dbm === null || number === null) {
    readings.skip(line, `${quote(content)} is not a level and a frequency, such as P_0=-98.5 , 470.000 MHz.`)
  } else readings.add(line, [number * (unit === '' ? guessKhz([number]) : khzIn(unit))], [dbm + offset])
}
