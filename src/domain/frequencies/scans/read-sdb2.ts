/** Reads scans of Shure Wireless Workbench in XML (`.sdb2`): a list of frequencies and one or more lists of levels. */

import { SaxesParser } from 'saxes'
import { maxScanPoints, type ReadScan, ScanFileError, ScanReadings, tooManyPoints } from './scan.ts'
import { isUnmeasured, parseDecimal, parseLocalTime, quote } from './scan-text.ts'
import { khzIn, normalizeUnits, requireDbmOffset } from './units.ts'

/** The format has four levels of elements. */
const maxDepth = 10
/** The latest time that a Date can express. */
const latestTime = 8.64e15

export function isXml(text: string): boolean {
  return /^\s*<[?!a-z]/i.test(text.slice(0, 1000))
}

export function readSdb2(text: string): ReadScan {
  const reader = new Sdb2Reader()
  const parser = new SaxesParser()
  let depth = 0
  let content = ''
  parser.on('error', () => {
    throw new ScanFileError(`Line ${parser.line}: the file is not well-formed XML, or is not complete.`)
  })
  parser.on('doctype', (type) => {
    if (type.trim() === 'WSM') throw coordinationFile()
    throw new ScanFileError('Files with a document type (DOCTYPE) are not read.')
  })
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1
    if (depth > maxDepth) throw new ScanFileError(`Line ${parser.line}: elements are nested too deep.`)
    content = ''
    reader.open(name, attributes)
  })
  parser.on('text', (part) => {
    content += part
  })
  parser.on('closetag', ({ name }) => {
    depth -= 1
    reader.close(name, content.trim(), parser.line)
    content = ''
  })
  parser.write(text).close()
  return reader.scan()
}

function coordinationFile(): ScanFileError {
  return new ScanFileError(
    'The file is a coordination of frequencies, not a scan. Export the scan from the same program.',
  )
}

type Attributes = Readonly<Record<string, string>>

class Sdb2Reader {
  readonly #readings = new ScanReadings()
  #isScan = false
  #noData: number | null = null
  #takenAt: number | null = null
  /** In the unit of the list of levels that follows. */
  #frequencies: number[] = []
  #khz = 1
  #unit = 'dBm'
  #scale = 1
  #levels = 0
  #sets = 0

  open(name: string, attributes: Attributes): void {
    if (/^(show|coord_workspace_ex_root|WSM)$/.test(name)) throw coordinationFile()
    if (name === 'scan_data_source') {
      this.#isScan = true
      this.#takenAt = parseLocalTime(attributes.date ?? '', attributes.time ?? '')
    } else if (name === 'data_sets') this.#noData = parseDecimal(attributes.no_data_value ?? '')
    else if (name === 'freq_set') this.#frequencies = []
    else if (name === 'data_set') this.#openLevels(attributes)
  }

  close(name: string, content: string, line: number): void {
    if (name === 'f') this.#addFrequency(content, line)
    else if (name === 'v') this.#addLevel(content, line)
    else if (name === 'data_set' && this.#levels < this.#frequencies.length) {
      const counts = `${this.#frequencies.length} levels, found ${this.#levels}`
      throw new ScanFileError(`Line ${line}: expected ${counts}.`)
    }
  }

  scan(): ReadScan {
    if (!this.#isScan) throw new ScanFileError('The file is XML, but not a scan of Wireless Workbench.')
    return this.#readings.toScan({ format: 'sdb2', unit: this.#unit, takenAt: this.#takenAt })
  }

  #openLevels({ freq_units = 'KHz', ampl_units = 'dBm', scale_factor = '1', date_time = '' }: Attributes): void {
    this.#khz = khzIn(freq_units)
    this.#unit = normalizeUnits(ampl_units)
    requireDbmOffset(this.#unit)
    this.#scale = parseDecimal(scale_factor) ?? 0
    if (this.#scale <= 0) throw new ScanFileError(`The scale factor ${quote(scale_factor)} is not a positive number.`)
    const time = /^\d{1,16}$/.test(date_time) ? Number(date_time) : latestTime
    if (this.#sets === 0 && time > 0 && time < latestTime) this.#takenAt = time
    this.#sets += 1
    this.#levels = 0
  }

  #addFrequency(content: string, line: number): void {
    const frequency = parseDecimal(content)
    if (frequency === null) throw new ScanFileError(`Line ${line}: ${quote(content)} is not a frequency.`)
    this.#frequencies.push(frequency)
    if (this.#frequencies.length > maxScanPoints) throw tooManyPoints()
  }

  #addLevel(content: string, line: number): void {
    const frequency = this.#frequencies[this.#levels]
    if (frequency === undefined) throw new ScanFileError(`Line ${line}: there are more levels than frequencies.`)
    this.#levels += 1
    const level = parseDecimal(content)
    if (isUnmeasured(content) || level === this.#noData) return
    if (level === null) this.#readings.skip(line, `${quote(content)} is not a level.`)
    else this.#readings.add(line, [frequency * this.#khz], [level / this.#scale + requireDbmOffset(this.#unit)])
  }
}
