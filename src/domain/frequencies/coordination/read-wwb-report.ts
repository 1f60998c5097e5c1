/**
 * Reads coordination and inventory reports that Shure Wireless Workbench 6 and 7 save as CSV. A report is a printed page:
 * headings, and tables with a column for each field. With decimal commas a frequency spans two cells, because Workbench
 * does not quote it.
 */

import {
  type CoordinatedCarrier,
  type CoordinatedDevice,
  type Coordination,
  CoordinationFileError,
  maxCoordinatedCarriers,
  type NamedRange,
  quote,
  type SkippedPart,
  type SpareFrequency,
  toName,
} from './coordination.ts'

const zoneHeading = /^RF zone:\s*(.*)$/i
const carriersHeading = /^(?:Active channels|Primary frequencies) \(\d+\)$/i
const sparesHeading = /^Backup frequencies \(\d+\)$/i
const endHeading = /^(Frequency coordination parameters|Created on .*|Generated using .*)$/i
const groupHeading = /^(.+) \(\d+\)$/
const frequencyCell = /^(\d{1,5}[.,]\d{1,3}) MHz$/
const rangeCell = /^(\d{1,5}[.,]\d{1,3}) MHz - (\d{1,5}[.,]\d{1,3}) MHz$/

export function isWwbReport(text: string): boolean {
  return /^"?RF zone:/im.test(text) && /^"?(?:Active channels|Primary frequencies) \(\d+\)/im.test(text)
}

export function readWwbReport(text: string): Coordination {
  const report = new Report()
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) report.add(cellsOf(line), index + 1)
  return report.coordination()
}

type Section = 'none' | 'carriers' | 'spares' | 'inclusions' | 'exclusions'

class Report {
  readonly #carriers: CoordinatedCarrier[] = []
  readonly #spares: SpareFrequency[] = []
  readonly #devices = new Map<string, CoordinatedDevice>()
  readonly #inclusions: NamedRange[] = []
  readonly #exclusions: NamedRange[] = []
  readonly #tvChannels: number[] = []
  readonly #skipped: SkippedPart[] = []
  #title: string | null = null
  #section: Section = 'none'
  #columns: readonly string[] = []
  #zone: string | null = null
  #group: string | null = null

  add(cells: readonly string[], line: number): void {
    const [first = ''] = cells
    if (cells.every((cell) => cell === '')) return
    const zone = zoneHeading.exec(first)
    if (zone !== null) this.#begin('none', zone[1] === 'Default' ? null : toName(zone[1] ?? ''))
    else if (carriersHeading.test(first)) this.#begin('carriers')
    else if (sparesHeading.test(first)) this.#begin('spares')
    else if (/^Inclusions$/i.test(first)) this.#begin('inclusions', null)
    else if (/^Exclusions$/i.test(first)) this.#begin('exclusions', null)
    else if (endHeading.test(first)) this.#begin('none', null)
    else if (this.#section === 'carriers' || this.#section === 'spares') this.#addFrequency(cells, line)
    else if (this.#section === 'inclusions' || this.#section === 'exclusions') this.#addParameter(cells)
    else if (cells.length === 1) this.#title ??= toName(first)
  }

  coordination(): Coordination {
    return {
      format: 'wwb_csv',
      title: this.#title,
      carriers: this.#carriers,
      spares: this.#spares,
      devices: [...this.#devices.values()],
      inclusions: this.#inclusions,
      exclusions: this.#exclusions,
      tvChannels: this.#tvChannels,
      excludeAboveDbm: null,
      peakAboveDbm: null,
      profiles: [],
      skipped: this.#skipped,
    }
  }

  /** Without `zone`, the section belongs to the same one. */
  #begin(section: Section, zone = this.#zone): void {
    this.#section = section
    this.#zone = zone
    this.#columns = []
    this.#group = null
  }

  #addFrequency(cells: readonly string[], line: number): void {
    const [first = ''] = cells
    if (this.#columns.length === 0) {
      this.#columns = cells.map((cell) => cell.toLowerCase())
      return
    }
    const group = cells.slice(1).every((cell) => cell === '') ? groupHeading.exec(first) : null
    if (group !== null) {
      this.#group = /^No inclusion group$/i.test(group[1] ?? '') ? null : toName(group[1] ?? '')
      return
    }
    const joined = joinDecimals(cells)
    const at = joined.findIndex((cell) => frequencyCell.test(cell))
    if (at === -1) {
      this.#skipped.push({ line, why: `${quote(cells.join(','))} contains no frequency in MHz.` })
      return
    }
    if (this.#carriers.length + this.#spares.length > maxCoordinatedCarriers) return
    this.#addRow(joined.slice(0, at), parseMhzCell(joined[at] ?? ''))
  }

  #addRow(before: readonly string[], khz: number): void {
    const [type = '', band = '', ...rest] = before
    // The columns after the name are the name of the device, and group and channel.
    const ends = rest.findLastIndex((cell) => /^G:/.test(cell))
    const named = ends === -1 ? rest : rest.slice(0, ends)
    const hasDevice = this.#columns.includes('device id') && this.#section === 'carriers'
    const device = hasDevice ? (named.at(-1) ?? '') : ''
    const name = toName((hasDevice ? named.slice(0, -1) : named).filter((cell) => cell !== '').join(', '))
    const [series = '', mode = ''] = type.split('/')
    if (this.#section === 'spares') this.#spares.push({ khz, series, band, mode })
    else {
      const deviceName = toName(device.replace(/^\[(.*)\]$/, '$1'))
      const key = `${deviceName} ${series}`
      const model = toName(series)
      if (deviceName !== '') {
        this.#devices.set(key, { key, name: deviceName, manufacturer: '', model, address: null, serialNumber: null })
      }
      const channel = deviceName === '' ? null : { deviceKey: key, number: null }
      const place = { zone: this.#zone || null, group: this.#group, isLocked: false, channel }
      this.#carriers.push({ name, khz, series, band, mode, ...place })
    }
  }

  #addParameter(cells: readonly string[]): void {
    const joined = joinDecimals(cells)
    const [first = ''] = joined
    if (first !== '') this.#group = toName(first)
    const at = joined.findIndex((cell) => rangeCell.test(cell) || frequencyCell.test(cell))
    if (at !== -1) {
      const [, from = '', to = from] = rangeCell.exec(joined[at] ?? '') ?? frequencyCell.exec(joined[at] ?? '') ?? []
      const isInclusion = this.#section === 'inclusions'
      const name = isInclusion ? (this.#group ?? '') : toName(joined.slice(at + 1).join(' '))
      const ranges = isInclusion ? this.#inclusions : this.#exclusions
      ranges.push({ name, fromKhz: khzOf(from), toKhz: khzOf(to) })
    } else if (this.#section === 'exclusions') {
      const channels = joined.slice(1).filter((cell) => cell !== '')
      // Channels of digital radio, such as 10A, are left out.
      const isTv = channels.every((cell) => /^\d{1,3}[A-Z]?$/.test(cell))
      if (isTv) this.#tvChannels.push(...channels.filter((cell) => /^\d+$/.test(cell)).map(Number))
    }
  }
}

/** Splits a line at commas outside quotation marks. */
function cellsOf(line: string): string[] {
  return (line.match(/(?:"(?:[^"]|"")*"|[^,"]|")+|(?<=^|,)(?=,|$)/g) ?? []).map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replaceAll('""', '"')
      .trim(),
  )
}

/** Joins the two cells of a frequency with a decimal comma, and the three of a range. */
function joinDecimals(cells: readonly string[]): string[] {
  const joined: string[] = []
  for (const cell of cells) {
    const before = joined.at(-1) ?? ''
    const isDecimal = /^\d{1,3} MHz( - \d{1,5})?$/.test(cell) && /(^| - )\d{1,5}$/.test(before)
    if (isDecimal) joined[joined.length - 1] = `${before},${cell}`
    else joined.push(cell)
  }
  return joined
}

function parseMhzCell(cell: string): number {
  const [, mhz] = frequencyCell.exec(cell) ?? []
  if (mhz === undefined) throw new CoordinationFileError(`${quote(cell)} is not a frequency in MHz.`)
  return khzOf(mhz)
}

const khzOf = (mhz: string): number => Math.round(Number(mhz.replace(',', '.')) * 1000)
