/**
 * Bands in which wireless microphones may be used, by country: short tables with the source of each band. Rules change
 * every year, so operators can edit them, and Micwatch never forbids a frequency because of them.
 *
 * `free`: without a licence for each user, if the conditions of the source are met. `licensed`: with one. `temporary`:
 * for single events. `forbidden`: used by other services.
 */

import type { BandStatus } from '../../contract/values.ts'
import { formatMhz, type KhzRange } from './carrier.ts'

export interface CountryBand extends KhzRange {
  readonly status: BandStatus
  readonly source: string
}

interface CountryTable {
  /** The day on which the sources were read. */
  readonly updated: string
  readonly sources: Readonly<Record<string, string>>
  /** MHz, status, and key of the source. */
  readonly rows: readonly (readonly [fromMhz: number, toMhz: number, status: BandStatus, source: string])[]
}

/** By country code (ISO 3166-1 alpha-2). */
const tables: Readonly<Record<string, CountryTable>> = {
  AU: {
    updated: '2026-11-28',
    sources: {
      acma: 'ACMA, low interference potential devices class licence (summary of APWPT, August 2021)',
      dividend: 'ACMA fact sheets on the digital dividend',
    },
    rows: [
      [174, 230, 'free', 'acma'],
      [520, 694, 'free', 'acma'],
      [694, 820, 'forbidden', 'dividend'],
      [915, 928, 'free', 'acma'],
      [1785, 1800, 'free', 'acma'],
    ],
  },
  DE: {
    updated: '2026-11-30',
    sources: {
      vfg34: 'Bundesnetzagentur, Vfg. 34/2020: for professional users, until the end of 2030',
      general: 'Bundesnetzagentur, general assignments 59/2015, 2/2015, 3/2015 and 47/2013 (list of APWPT)',
      mobile: 'Mobile communications (EU decisions on 700 and 800 MHz)',
      astronomy: 'Radio astronomy, excluded from Vfg. 34/2020',
    },
    rows: [
      [174, 230, 'free', 'general'],
      [470, 608, 'free', 'vfg34'],
      [608, 614, 'forbidden', 'astronomy'],
      [614, 694, 'free', 'vfg34'],
      [703, 733, 'forbidden', 'mobile'],
      [758, 788, 'forbidden', 'mobile'],
      [791, 821, 'forbidden', 'mobile'],
      [823, 832, 'free', 'general'],
      [832, 862, 'forbidden', 'mobile'],
      [863, 865, 'free', 'general'],
      [1785, 1805, 'free', 'general'],
    ],
  },
  FR: {
    updated: '2026-11-28',
    sources: {
      arcep174: 'ARCEP, decision 2010-0850 of 2 September 2010: professional users',
      arcep470: 'ARCEP, decision 2015-0830 of 2 July 2015: at most 50 mW; above 694 MHz until July 2019',
      mobile: 'Mobile communications since July 2019 (ARCEP)',
      srd: 'ARCEP, decision 2014-1263 of 6 November 2014: short range devices, 10 mW',
      temporary: 'ARCEP, temporary authorisations (list of EasyHF)',
    },
    rows: [
      [174, 223, 'free', 'arcep174'],
      [470, 694, 'free', 'arcep470'],
      [694, 790, 'forbidden', 'mobile'],
      [823, 832, 'free', 'arcep470'],
      [863, 865, 'free', 'srd'],
      [1240, 1260, 'temporary', 'temporary'],
      [1350, 1400, 'temporary', 'temporary'],
      [1785, 1800, 'free', 'arcep470'],
    ],
  },
  GB: {
    updated: '2026-11-30',
    sources: {
      exempt: 'Ofcom, licence-exempt: 10 mW',
      shared: 'Ofcom, shared licence (channel 38)',
      coordinated: 'Ofcom, coordinated licence',
      mobile: 'Mobile communications (Ofcom)',
    },
    rows: [
      [173.8, 175, 'free', 'exempt'],
      [470, 606.5, 'licensed', 'coordinated'],
      [606.5, 613.5, 'licensed', 'shared'],
      [613.5, 703, 'licensed', 'coordinated'],
      [703, 733, 'forbidden', 'mobile'],
      [758, 788, 'forbidden', 'mobile'],
      [791, 821, 'forbidden', 'mobile'],
      [823, 832, 'licensed', 'coordinated'],
      [832, 862, 'forbidden', 'mobile'],
      [863, 865, 'free', 'exempt'],
      [1785, 1805, 'licensed', 'coordinated'],
    ],
  },
  JP: {
    updated: '2026-11-28',
    sources: { arib: 'Ministry of Internal Affairs and Communications, radio microphones (summary of biglobe.ne.jp)' },
    rows: [
      [470, 710, 'licensed', 'arib'],
      [806.125, 809.75, 'free', 'arib'],
      [1240, 1260, 'licensed', 'arib'],
    ],
  },
  NZ: {
    updated: '2026-11-28',
    sources: { wma: 'Radio Spectrum Management, general user licence (list of wireless-microphone-analyzer)' },
    rows: [
      [502, 606, 'free', 'wma'],
      [606, 622, 'forbidden', 'wma'],
      [622, 698, 'free', 'wma'],
    ],
  },
  US: {
    updated: '2026-11-28',
    sources: {
      part15: '47 CFR 15.236: without a licence, in unused TV channels, guard band and duplex gap',
      part74: '47 CFR 74.802: low power auxiliary stations',
      isb: '47 CFR 15.247 and 15.249: industrial, scientific and medical band',
      mobile: '600 MHz and 700 MHz services (FCC)',
      astronomy: 'Radio astronomy and medical telemetry (channel 37)',
    },
    rows: [
      [54, 72, 'free', 'part15'],
      [76, 88, 'free', 'part15'],
      [174, 216, 'free', 'part15'],
      [470, 608, 'free', 'part15'],
      [608, 614, 'forbidden', 'astronomy'],
      [614, 616, 'free', 'part15'],
      [617, 652, 'forbidden', 'mobile'],
      [653, 657, 'licensed', 'part74'],
      [657, 663, 'free', 'part15'],
      [663, 806, 'forbidden', 'mobile'],
      [902, 928, 'free', 'isb'],
      [941.5, 960, 'licensed', 'part74'],
      [1435, 1525, 'licensed', 'part74'],
    ],
  },
}

export interface CountryBands {
  readonly updated: string
  readonly sources: readonly string[]
  readonly bands: readonly CountryBand[]
}

/** Returns undefined for a country without a table. */
export function findCountryBands(country: string): CountryBands | undefined {
  const table = Object.hasOwn(tables, country) ? tables[country] : undefined
  return (
    table && {
      updated: table.updated,
      sources: Object.values(table.sources),
      bands: table.rows.map(([from, to, status, key]) => {
        return { fromKhz: from * 1000, toKhz: to * 1000, status, source: table.sources[key] ?? '' }
      }),
    }
  )
}

export function toBandBody({ fromKhz, toKhz, ...band }: CountryBand) {
  return { from_mhz: formatMhz(fromKhz), to_mhz: formatMhz(toKhz), ...band }
}
