/** Carriers as files for other programs. */

import type { CarrierFormat, Region } from '../../contract/values.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'
import { formatMhz } from './carrier.ts'
import { byFrequency } from './live-carriers.ts'
import { findTvChannel } from './tv-raster.ts'

export interface ExportedCarrier {
  readonly name: string
  readonly khz: number
  /** Id of the profile. */
  readonly profile: string
  readonly zone: string | null
  readonly slot: number | null
  /** Titles of its groups. */
  readonly groups: readonly string[]
}

export function exportCarriers(format: CarrierFormat, carriers: readonly ExportedCarrier[], region: Region): string {
  const sorted = byFrequency(carriers)
  if (format === 'csv') return toCsv(sorted, region)
  return format === 'wsm' ? toWsm(sorted) : toList(sorted)
}

function toCsv(carriers: readonly ExportedCarrier[], region: Region): string {
  const lines = carriers.map(({ name, khz, profile, zone, slot, groups }) => {
    const cells = [profile, zone ?? '', findTvChannel(region, khz) ?? ''].map(toTextCell)
    return toLine([toTextCell(name), formatMhz(khz), ...cells, String(slot ?? ''), toTextCell(groups.join('; '))])
  })
  return byteOrderMark + toLine(['name', 'mhz', 'profile', 'zone', 'tv_channel', 'slot', 'group']) + lines.join('')
}

/** Lists unique frequencies, one per line, as Wireless Workbench imports them. */
function toList(carriers: readonly ExportedCarrier[]): string {
  return [...new Set(carriers.map(({ khz }) => toLine([formatMhz(khz)])))].join('')
}

/** Lists unique frequencies in kHz, as Sennheiser's Wireless Systems Manager imports them. */
function toWsm(carriers: readonly ExportedCarrier[]): string {
  const names = new Map<number, string>()
  // The format does not document quotes.
  for (const { khz, name } of carriers) if (!names.has(khz)) names.set(khz, name.replace(/[;"]/g, ' '))
  const lines = [...names].map(([khz, name]) => `${name};0;${khz};0;${khz};${khz};2;5\r\n`)
  return `name;type;frequency;tolerance;minfrequency;maxfrequency;priority;squelchlevel\r\n${lines.join('')}`
}
