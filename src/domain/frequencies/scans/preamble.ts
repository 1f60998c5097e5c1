/** Reads the lines before the first reading of a table: units, and the time of the scan. */

import { ScanFileError } from './scan.ts'
import { cellsOf, parseDecimal, parseLocalTime, quote } from './scan-text.ts'
import { dbmOffset, levelUnitsIn, normalizeUnits, unsupportedLevels } from './units.ts'

/** Longer lines contain no names. */
const maxLength = 1000

const unitLine = /^\W*(.*?)[\s_-]*units?["\s:=;,]+([^;,\t"]+)/i
const frequencyKey = /^(x|xdata|x.?axis|freq\w*)$/i
const levelKey = /^(rf|y|ydata|y.?axis|data|level|ampl\w*|power|trace|)$/i

export class Preamble {
  readonly #lines: string[] = []
  readonly #mentioned = new Map<string, string>()
  #levelUnit: string | null = null
  frequencyUnit: string | null = null
  takenAt: number | null = null

  add(line: string): void {
    const text = normalizeUnits(line.slice(0, maxLength))
    this.#lines.push(text)
    for (const unit of levelUnitsIn(text)) this.#mentioned.set(unit.toLowerCase().replace('u', 'µ'), unit)
    const [, key = '', value = ''] = unitLine.exec(text) ?? []
    const unit = value.trim()
    if (unit !== '' && parseDecimal(unit) === null) {
      if (frequencyKey.test(key)) this.frequencyUnit = unit
      else if (levelKey.test(key)) this.#levelUnit = unit
    }
    const [name = '', time = ''] = cellsOf(text, ';')
    if (name === 'Date/Time') this.takenAt = readTime(time)
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  has(pattern: RegExp): boolean {
    return this.#lines.some((line) => pattern.test(line))
  }

  levelUnit(): string | null {
    if (this.#levelUnit !== null) return this.#levelUnit
    // The columns of this heading are separated by spaces.
    const last = this.#lines.at(-1) ?? ''
    const [, inBrackets] = /[[(]\s*(%|dB[\w/]*|[munp]?[VW])\s*[\])]/.exec(last) ?? []
    if (inBrackets !== undefined && /fr.q|Hz/i.test(last) && dbmOffset(inBrackets) === null) {
      throw unsupportedLevels(inBrackets)
    }
    const [unit = null, other] = this.#mentioned.values()
    if (other !== undefined) {
      const names = [...this.#mentioned.values()].map(quote).join(' and ')
      throw new ScanFileError(`The unit of the levels is not known, because the file mentions ${names}.`)
    }
    return unit
  }
}

function readTime(text: string): number | null {
  const [, date = '', time = ''] = /^(\S+)[T ,]+(\d.*)$/.exec(text) ?? []
  return parseLocalTime(date, time)
}
