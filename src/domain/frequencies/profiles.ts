/**
 * Frequency profiles: the requirements of each kind of equipment for interference-free operation. Operators can edit
 * this short table. Every profile names the source of its values:
 * - RFutils: files that Wireless Workbench (WWB) 7.8 and Wireless Systems Manager (WSM) 4.9 have written, and figures
 *   of the manufacturers, in github.com/stoatworks-labs/RFutils
 * - EasyHF: values read in WWB 7.8.3.18, in github.com/julienraulot-byte/EasyHF
 * - PatchFlow: values said to follow WWB 7, in github.com/williamldm/patchflow
 */

import type { GuardLevel } from '../../contract/values.ts'
import {
  defaultOccupiedKhz,
  type Equipment,
  equipmentWithGuards,
  type Guards,
  type KhzRange,
  parseMhz,
} from './carrier.ts'

export interface Band {
  readonly name: string
  readonly ranges: readonly KhzRange[]
}

/** Levels and windows as in the interface. */
export interface Profile {
  readonly id: string
  readonly name: string
  readonly levels: Readonly<Record<GuardLevel, Guards>>
  readonly window_mhz: Readonly<Record<GuardLevel, number | null>>
  readonly step_khz: number
  readonly occupied_khz: number
  readonly is_generator: boolean
  /** The centres of fixed filters in MHz, around which the windows are; empty if the filters follow the carrier. */
  readonly filter_centres: readonly string[]
  /** True if channels of one device on the same frequency share one carrier. */
  readonly shares_carrier: boolean
  readonly bands: readonly Band[]
  readonly source: string
}

/** The default profile. */
export const genericProfileId = 'generic'

/**
 * Returns the equipment of a profile at a level. The carrier must be in `band` if the profile has that band, otherwise
 * in any of its bands.
 */
export function equipmentOf(profile: Profile, level: GuardLevel, band: string | null = null): Equipment {
  const named = profile.bands.filter(({ name }) => name === band)
  return {
    ...equipmentWithGuards(profile.levels[level], profile.window_mhz[level]),
    filterCentresKhz: profile.filter_centres.flatMap((mhz) => parseMhz(mhz) ?? []),
    isGenerator: profile.is_generator,
    occupiedKhz: profile.occupied_khz,
    ranges: (named.length > 0 ? named : profile.bands).flatMap(({ ranges }) => ranges),
  }
}

type Values = readonly [spacing: number, twoThird: number, twoFifth: number, threeThird: number, windowMhz?: number]

interface Row {
  readonly name: string
  /** One set of values applies to all levels. */
  readonly values: readonly [robust: Values, standard: Values, more: Values] | readonly [all: Values]
  readonly source: string
  readonly step?: number
  readonly occupied?: number
  readonly isGenerator?: boolean
  /** MHz. */
  readonly filterCentres?: readonly number[]
  readonly sharesCarrier?: boolean
  readonly bands?: string
}

/** Bands: name and MHz, separated by semicolons. A band with a gap has several ranges. Source: RFutils. */
const ulxdBands =
  'G50 470-534; G51 470-534; G52 479-534; G53 470-510; G62 510-530; H50 534-598; H51 534-598; H52 534-565; ' +
  'J50 572-636; J51 572-636; J50A 572-608; K51 606-670; L50 632-696; L51 632-696; L52 632-694; L53 632-714; ' +
  'M19 694-703; P51 710-782; Q12 748-758; Q51 794-806; JB 806-810; S50 823-832 863-865; V50 174-216; V51 174-216; ' +
  'V52 174-210; X51 925-937.5; Z16 1240-1260; Z17 1492-1525; Z18 1785-1805; Z19 1785-1800; Z20 1790-1805; ' +
  'G54 479-565; G55 470-608 614-636; G56 470-636; G57 470-608; G65 470-606; G66 487-606; H54 520-636'
const ulxd900Bands = 'X52 902-928; X53 902-907.5 915-928; X54 915-928'
const axientBands =
  'G53 470-510; G54 479-565; G55 470-608 614-636; G56 470-636; G57 470-608 614-616; H54 520-636; G62 510-530; ' +
  'K53 606-608 614-698; K54 606-608 614-616 653-663; K55 606-694; K56 606-714; K57 606-790; K58 622-698; ' +
  'L54 630-787; L60 630-698; P55 694-703 748-758 803-806; R52 794-806; X55 941-960; Z16 1240-1260'
const slxdBands =
  'G58 470-514; G59 470-514; G60 470-510; G61 479-523; H55 514-558; H56 518-562; H57 520-564; ' +
  'J52 558-602 614-616; J53 562-606; J54 562-606; K59 606-650; L55 646-690; L56 650-694; L57 650-694; L58 630-674; ' +
  'L59 654-698; M55 694-703 748-758; S50 823-832 863-865; X51 925-937.5'
const psm1000Bands =
  'G10 470-542; G11 479-542; H22 518-584; J8 554-626; J8A 554-608 614-616; K10E 596-668; L8 626-698; L8A 653-663; ' +
  'L9E 670-742; P8 710-790; X1 944-952; X55 941-960'
const ewdxBands =
  'Q1-9 470.2-550; R1-9 520-607.8; S1-10 606.2-693.8; S2-10 614.2-693.8; S4-10 630-693.8; U1/5 823.2-831.8 863.2-864.8; ' +
  'V3-4 925.2-937.3; V5-7 941.7-959.65; W5-6 1240.1-1259.9; Y1-3 1785.2-1799.8'
const ewdBands =
  'Q1-6 470.2-526; R1-6 520-576; R4-9 552-607.8; S1-7 606.2-662; S4-7 630-662; S7-10 662-693.8; ' +
  'U1/5 823.2-831.8 863.2-864.8; V3-4 925.2-937.3; Y1-3 1785.2-1799.8'
const d6000Bands = 'A1-A4 470.2-558; A5-A8 550-638; B1-B4 630-718'
const ewG4Bands =
  'A1 470-516; A 516-558; AS 520-558; G 566-608; GB 606-648; B 626-668; C 734-776; D 780-822; E 823-865; ' +
  'K+ 925-937.5; 1G8 1785-1800; Aw+ 470-558; Gw1 558-608; Gw 558-626; GBw 606-678; Bw 626-698; Cw 718-790; Dw 790-865'
const lectrosonicsBands = 'A1 470.1-537.575; B1 537.6-614.375; B2 563.2-639.975; C1 614.4-691.175; C2 640-716.775'

/** MHz. Source: RFutils, EasyHF. */
const axientPsmFilters = [482, 506, 530, 558, 589, 619]

const generic: Values = [375, 200, 0, 50, 100]

/** The values of WWB's three levels: spacing, 2T3O, 2T5O and 3T3O in kHz, window in MHz. */
const rows: Readonly<Record<string, Row>> = {
  [genericProfileId]: { name: 'Generic', values: [generic], source: 'PatchFlow, default for analogue equipment' },
  ulxd: {
    name: 'Shure ULX-D, QLX-D',
    values: [
      [350, 150, 0, 0, 100],
      [350, 75, 0, 0, 100],
      [350, 0, 0, 0, 100],
    ],
    bands: ulxdBands,
    source: 'EasyHF, read in WWB; bands: RFutils',
  },
  ulxd_hd: {
    name: 'Shure ULX-D, high density',
    values: [
      [125, 200, 0, 150, 100],
      [125, 150, 0, 0, 100],
      [125, 0, 0, 0, 100],
    ],
    occupied: 125,
    bands: ulxdBands,
    source: 'EasyHF, read in WWB; More: PatchFlow; bands: RFutils',
  },
  ulxd_900: {
    name: 'Shure ULX-D, QLX-D 902-928 MHz',
    values: [
      [1100, 750, 0, 0],
      [1000, 600, 0, 0],
      [850, 500, 0, 0],
    ],
    bands: ulxd900Bands,
    source: 'PatchFlow; bands: RFutils',
  },
  ad: {
    name: 'Shure Axient Digital',
    values: [
      [350, 150, 0, 0, 90],
      [350, 75, 0, 0, 70],
      [350, 0, 0, 0, 55],
    ],
    bands: axientBands,
    source: 'RFutils, in a WWB file; Robust and More: PatchFlow; bands: RFutils',
  },
  ad_hd: {
    name: 'Shure Axient Digital, high density',
    values: [
      [125, 200, 0, 150, 90],
      [125, 150, 0, 0, 70],
      [125, 0, 0, 0, 55],
    ],
    occupied: 125,
    bands: axientBands,
    source: 'PatchFlow, windows as Axient Digital; bands: RFutils',
  },
  slxd: {
    name: 'Shure SLX-D',
    values: [
      [450, 300, 0, 0, 100],
      [450, 200, 0, 0, 100],
      [450, 100, 0, 0, 100],
    ],
    bands: slxdBands,
    source: 'PatchFlow; bands: RFutils',
  },
  slxd_jb: {
    name: 'Shure SLX-D JB',
    values: [
      [450, 200, 0, 0],
      [450, 125, 0, 0],
      [375, 0, 0, 0],
    ],
    step: 125,
    bands: 'JB 806-810',
    source: 'PatchFlow',
  },
  uhfr: {
    name: 'Shure UHF-R',
    values: [
      [350, 175, 0, 100, 30],
      [325, 175, 0, 50, 25],
      [300, 175, 0, 0, 25],
    ],
    source: 'PatchFlow',
  },
  axt: {
    name: 'Shure Axient',
    values: [
      [300, 125, 0, 100],
      [275, 125, 0, 0],
      [250, 100, 0, 0],
    ],
    source: 'PatchFlow',
  },
  psm1000: {
    name: 'Shure PSM 1000',
    values: [
      [375, 275, 0, 100, 69],
      [350, 250, 0, 50, 62],
      [325, 225, 0, 0, 57],
    ],
    occupied: 174,
    bands: psm1000Bands,
    source: 'PatchFlow; width and bands: RFutils',
  },
  psm900: {
    name: 'Shure PSM 900',
    values: [
      [400, 300, 0, 100, 57],
      [375, 275, 0, 50, 50],
      [375, 250, 0, 0, 45],
    ],
    source: 'PatchFlow',
  },
  psm300: {
    name: 'Shure PSM 300',
    values: [
      [375, 300, 200, 0, 100],
      [375, 300, 0, 0, 70],
      [350, 250, 0, 0],
    ],
    source: 'PatchFlow',
  },
  adpsm: {
    name: 'Shure Axient Digital PSM',
    values: [
      [350, 150, 0, 0, 32],
      [350, 75, 0, 0, 28],
      [350, 0, 0, 0, 24],
    ],
    filterCentres: axientPsmFilters,
    source: 'RFutils, in a WWB file; Robust and More: PatchFlow',
  },
  adpsm_wide_2: {
    name: 'Shure Axient Digital PSM, wideband, 2 channels',
    values: [
      [450, 350, 0, 0, 32],
      [450, 350, 0, 0, 28],
      [450, 350, 0, 0, 24],
    ],
    filterCentres: axientPsmFilters,
    sharesCarrier: true,
    source: 'PatchFlow, Standard at all levels; windows as narrowband',
  },
  adpsm_wide_4: {
    name: 'Shure Axient Digital PSM, wideband, 4 channels',
    values: [
      [800, 500, 0, 0, 32],
      [800, 500, 0, 0, 28],
      [800, 500, 0, 0, 24],
    ],
    filterCentres: axientPsmFilters,
    sharesCarrier: true,
    source: 'PatchFlow, Standard at all levels; windows as narrowband',
  },
  ew_g4: {
    name: 'Sennheiser EW G3, G4, EM 2000',
    values: [
      [600, 200, 150, 150, 100],
      [400, 200, 0, 150, 50],
      [350, 175, 0, 0],
    ],
    occupied: 126,
    bands: ewG4Bands,
    source: 'PatchFlow; width and bands: RFutils',
  },
  ew_iem: {
    name: 'Sennheiser EW IEM G4',
    values: [
      [600, 200, 150, 200],
      [400, 200, 0, 100, 50],
      [400, 200, 0, 150],
    ],
    occupied: 202,
    // WWB's file marks this equipment as free of intermodulation.
    isGenerator: false,
    source: 'RFutils, in a WWB file; Robust and More: PatchFlow',
  },
  sr2000: {
    name: 'Sennheiser SR 2000, EW 300 IEM G3',
    values: [
      [600, 200, 150, 200],
      [500, 200, 0, 200],
      [400, 200, 0, 150],
    ],
    source: 'PatchFlow',
  },
  em3732: {
    name: 'Sennheiser EM 3731, EM 3732',
    values: [
      [500, 200, 150, 150],
      [300, 175, 0, 150],
      [300, 175, 0, 0],
    ],
    step: 5,
    source: 'PatchFlow',
  },
  d6000: {
    name: 'Sennheiser Digital 6000',
    values: [
      [500, 50, 25, 25],
      [400, 0, 0, 0],
      [375, 0, 0, 0],
    ],
    bands: d6000Bands,
    source: 'PatchFlow; bands: RFutils',
  },
  d6000_ld: {
    name: 'Sennheiser Digital 6000, link density',
    values: [[200, 0, 0, 0]],
    bands: d6000Bands,
    source: 'RFutils, figures of Sennheiser',
  },
  d9000: {
    name: 'Sennheiser Digital 9000',
    values: [
      [600, 0, 0, 0],
      [500, 0, 0, 0],
      [400, 0, 0, 0],
    ],
    source: 'PatchFlow',
  },
  ewdx: {
    name: 'Sennheiser EW-DX',
    values: [[600, 0, 0, 0]],
    bands: ewdxBands,
    source: 'RFutils, in a WSM file; bands: RFutils',
  },
  ewdx_ld: {
    name: 'Sennheiser EW-DX, link density',
    values: [[300, 0, 0, 0]],
    bands: ewdxBands,
    source: 'RFutils, figures of Sennheiser',
  },
  ewd: { name: 'Sennheiser EW-D', values: [[600, 200, 0, 0]], bands: ewdBands, source: 'PatchFlow; bands: RFutils' },
  // The guard of a narrowband carrier applies from the edge of the block.
  spectera_6: {
    name: 'Sennheiser Spectera, 6 MHz',
    values: [[0, 0, 0, 0]],
    occupied: 6000,
    isGenerator: false,
    sharesCarrier: true,
    bands: 'EU 470-608 630-698; L 1350-1400',
    source: 'EasyHF, from the coordination paper of Sennheiser',
  },
  spectera_8: {
    name: 'Sennheiser Spectera, 8 MHz',
    values: [[0, 0, 0, 0]],
    occupied: 8000,
    isGenerator: false,
    sharesCarrier: true,
    bands: 'EU 470-608 630-698; L 1350-1400',
    source: 'EasyHF, from the coordination paper of Sennheiser',
  },
  a20: { name: 'Sound Devices A20', values: [[400, 0, 0, 0]], source: 'EasyHF, from the guide of Sound Devices' },
  wisycom: {
    name: 'Wisycom MCR54, MTP61',
    values: [[200, 0, 0, 0]],
    step: 5,
    occupied: 100,
    source: 'RFutils, figures of Wisycom for linear narrowband transmitters',
  },
  lectrosonics: {
    name: 'Lectrosonics DSQD, DHu',
    values: [[350, 75, 0, 0]],
    bands: lectrosonicsBands,
    source: 'No values are published: as ULX-D; bands: RFutils',
  },
}

export const builtInProfiles: readonly Profile[] = Object.entries(rows).map(([id, row]) => toProfile(id, row))

function toProfile(id: string, row: Row): Profile {
  const [robust, standard = robust, more = robust] = row.values
  return {
    id,
    name: row.name,
    levels: { robust: toGuards(robust), standard: toGuards(standard), more: toGuards(more) },
    window_mhz: { robust: robust[4] ?? null, standard: standard[4] ?? null, more: more[4] ?? null },
    step_khz: row.step ?? 25,
    occupied_khz: row.occupied ?? defaultOccupiedKhz,
    is_generator: row.isGenerator ?? true,
    filter_centres: (row.filterCentres ?? []).map((mhz) => mhz.toFixed(3)),
    shares_carrier: row.sharesCarrier ?? false,
    bands: row.bands === undefined ? [] : row.bands.split('; ').map(parseBand),
    source: row.source,
  }
}

function toGuards([spacing, twoThird, twoFifth, threeThird]: Values): Guards {
  return { spacing, '2t3o': twoThird, '3t3o': threeThird, '2t5o': twoFifth, '2t7o': 0, '2t9o': 0 }
}

/** Parses a band such as `S50 823-832 863-865`. */
function parseBand(text: string): Band {
  const [name = '', ...ranges] = text.split(' ')
  return {
    name,
    ranges: ranges.map((range) => {
      const [from = 0, to = 0] = range.split('-').map((mhz) => Math.round(Number(mhz) * 1000))
      return { fromKhz: from, toKhz: to }
    }),
  }
}
