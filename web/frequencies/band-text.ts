/** The bands of a country as an administrator edits them: one a line, `470-608; free; source`. */

import { type BandStatus, bandStatuses } from '../../src/contract/values.ts'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { plainText } from '../app/format.ts'
import { locale, t } from '../app/i18n.ts'
import { parseFrequency, shortMhz } from './carriers.ts'

/** For example `Germany (DE)`. */
export function countryName(code: string): string {
  const name = new Intl.DisplayNames([locale], { type: 'region', fallback: 'none' }).of(code)
  return name === undefined ? code : t('frequencies.place.countryName', { name, code })
}

export interface BandEntry {
  readonly from_mhz: string
  readonly to_mhz: string
  readonly status: BandStatus
  readonly source: string
}

export const statusText = (status: BandStatus) => t(`frequencies.bands.statuses.${status}`)

export function formatBands(bands: readonly BandEntry[]): string {
  return bands
    .map(({ from_mhz, to_mhz, status, source }) =>
      [`${shortMhz(from_mhz)}-${shortMhz(to_mhz)}`, statusText(status), plainText(source)].join('; '),
    )
    .join('\n')
}

/** Returns the number of the first line that is no band instead of the bands. Empty lines are ignored. */
export function parseBands(text: string): readonly BandEntry[] | { readonly wrongLine: number } {
  const bands: BandEntry[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const band = parseBand(line)
    if (band === null) return { wrongLine: index + 1 }
    bands.push(band)
  }
  return bands
}

function parseBand(line: string): BandEntry | null {
  const [range = '', word = '', ...source] = line.split(';')
  const [from = null, to = null, rest] = range.split(/[-–—]/).map(parseFrequency)
  const status = bandStatuses.find((known) => isSame(word, known) || isSame(word, statusText(known)))
  if (from === null || to === null || rest !== undefined || from >= to || status === undefined) return null
  return { from_mhz: formatMhz(from), to_mhz: formatMhz(to), status, source: source.join(';').trim() }
}

const isSame = (one: string, other: string) => one.trim().toLowerCase() === other.toLowerCase()
