/**
 * The effective profiles (built-in ones with the changes by operators, and added ones), and the detection of a receiver's
 * profile.
 */

import type { FrequencyProfileBody, FrequencyProfileChange } from '../../contract/frequency-profiles.ts'
import type { Body } from '../../contract/schema.ts'
import { guardLevels } from '../../contract/values.ts'
import { defaultOccupiedKhz, equipmentWithGuards, formatMhz, parseMhz } from './carrier.ts'
import { builtInProfiles, genericProfileId, type Profile } from './profiles.ts'

export type ProfileChange = Body<typeof FrequencyProfileChange>

/** An added profile, or the changes to a built-in one. */
export interface StoredProfile {
  readonly id: string
  /** Empty for a built-in profile that was reset. */
  readonly change: ProfileChange
  readonly version: number
}

const builtInById: ReadonlyMap<string, Profile> = new Map(builtInProfiles.map((profile) => [profile.id, profile]))

export function isBuiltIn(id: string): boolean {
  return builtInById.has(id)
}

/** Returns built-in profiles in their order, then the others by name. */
export function resolveProfiles(stored: readonly StoredProfile[]): readonly Profile[] {
  const changes = new Map(stored.map(({ id, change }) => [id, change]))
  const builtIn = builtInProfiles.map((profile) => applyChange(profile, changes.get(profile.id) ?? {}))
  const added = stored.filter(({ id }) => !isBuiltIn(id)).map(({ id, change }) => applyChange(emptyProfile(id), change))
  return [...builtIn, ...added.sort((a, b) => a.name.localeCompare(b.name, 'en'))]
}

/** Merges a change into an earlier one. A given level replaces all guards of that level. */
export function mergeProfileChanges(earlier: ProfileChange, later: ProfileChange): ProfileChange {
  return {
    ...earlier,
    ...later,
    ...((earlier.levels ?? later.levels) && { levels: { ...earlier.levels, ...later.levels } }),
    ...((earlier.window_mhz ?? later.window_mhz) && { window_mhz: { ...earlier.window_mhz, ...later.window_mhz } }),
  }
}

/** Completes the levels of an added profile: absent ones equal `standard`. */
export function completeLevels({ levels = {}, window_mhz = {}, ...change }: ProfileChange): ProfileChange {
  const { standard: guards = {} } = levels
  const { standard: window = null } = window_mhz
  return {
    ...change,
    levels: { robust: guards, standard: guards, more: guards, ...levels },
    window_mhz: { robust: window, standard: window, more: window, ...window_mhz },
  }
}

/** Returns a range whose start is above its end, or undefined. */
export function findReversedRange(ranges: readonly { readonly from: string; readonly to: string }[]) {
  return ranges.find(({ from, to }) => Number(from) > Number(to))
}

function emptyProfile(id: string): Profile {
  const { guards } = equipmentWithGuards({})
  return {
    id,
    name: id,
    levels: { robust: guards, standard: guards, more: guards },
    window_mhz: { robust: null, standard: null, more: null },
    step_khz: 25,
    occupied_khz: defaultOccupiedKhz,
    is_generator: true,
    filter_centres: [],
    shares_carrier: false,
    bands: [],
    source: '',
  }
}

function applyChange(profile: Profile, { levels = {}, window_mhz = {}, bands, ...fields }: ProfileChange): Profile {
  const guardsOf = (level: (typeof guardLevels)[number]) => {
    const changed = levels[level]
    return changed === undefined ? profile.levels[level] : equipmentWithGuards(changed).guards
  }
  return {
    ...profile,
    ...fields,
    levels: Object.fromEntries(guardLevels.map((level) => [level, guardsOf(level)])) as Profile['levels'],
    window_mhz: { ...profile.window_mhz, ...window_mhz },
    ...(bands !== undefined && {
      bands: bands.map(({ name, ranges }) => ({
        name,
        ranges: ranges.map(({ from, to }) => ({ fromKhz: parseMhz(from) ?? 0, toKhz: parseMhz(to) ?? 0 })),
      })),
    }),
  }
}

export function toProfileBodies(stored: readonly StoredProfile[]): FrequencyProfileBody[] {
  const byId = new Map(stored.map((profile) => [profile.id, profile]))
  return resolveProfiles(stored).map((profile) => toProfileBody(profile, byId.get(profile.id)))
}

function toProfileBody(
  { bands, filter_centres, ...profile }: Profile,
  { change = {}, version = 0 }: Partial<StoredProfile> = {},
): FrequencyProfileBody {
  const is_built_in = isBuiltIn(profile.id)
  return {
    ...profile,
    filter_centres: [...filter_centres],
    bands: bands.map(({ name, ranges }) => ({
      name,
      ranges: ranges.map(({ fromKhz, toKhz }) => ({ from: formatMhz(fromKhz), to: formatMhz(toKhz) })),
    })),
    is_built_in,
    is_changed: is_built_in && Object.keys(change).length > 0,
    version,
  }
}

/** Null for values that the receiver does not report. */
export interface ReceiverType {
  /** The `device_type` of a receiver. */
  readonly family: string
  /** May end with the band, such as `ULXD4Q G51`. */
  readonly model: string | null
  readonly band?: string | null
  readonly mode?: string | null
  readonly khz?: number | null
}

interface Rule {
  readonly family: RegExp
  readonly profile: string
  /** An additional condition. */
  readonly when?: (type: ReceiverType, band: string | null) => boolean
}

const isDense = ({ mode }: ReceiverType) => /high.?density|link.?density|^(hd|ld)$/i.test(mode ?? '')
const isWideband = ({ mode }: ReceiverType) => /wide.?band/i.test(mode ?? '')
const is900 = ({ khz }: ReceiverType, band: string | null) =>
  /^X5[234]$/.test(band ?? '') || (band === null && khz != null && khz >= 902_000 && khz <= 928_000)
const isJapanese = ({ khz }: ReceiverType, band: string | null) =>
  band === 'JB' || (band === null && khz != null && khz >= 806_000 && khz <= 810_000)

/** The first rule that applies wins. Rules match the family or the model. */
const rules: readonly Rule[] = [
  { family: /^(ulx-?d|qlx-?d)/i, when: is900, profile: 'ulxd_900' },
  { family: /^ulx-?d/i, when: isDense, profile: 'ulxd_hd' },
  { family: /^(ulx-?d|qlx-?d)/i, profile: 'ulxd' },
  { family: /^slx-?d/i, when: isJapanese, profile: 'slxd_jb' },
  { family: /^slx-?d/i, profile: 'slxd' },
  { family: /^adtq/i, when: isWideband, profile: 'adpsm_wide_4' },
  { family: /^adtd/i, when: isWideband, profile: 'adpsm_wide_2' },
  { family: /^(adpsm|adtq|adtd)/i, profile: 'adpsm' },
  { family: /^axt\d/i, profile: 'axt' },
  { family: /^(ad|ad\d.*|adt.*|anx4|axient.*)$/i, when: isDense, profile: 'ad_hd' },
  { family: /^(ad|ad\d.*|adt.*|anx4|axient.*)$/i, profile: 'ad' },
  { family: /^(uhf-?r|ur4)/i, profile: 'uhfr' },
  { family: /^(psm-?1000|p10)/i, profile: 'psm1000' },
  { family: /^(psm-?900|p9t)/i, profile: 'psm900' },
  { family: /^(psm-?300|p3t)/i, profile: 'psm300' },
  { family: /^ew-?dx/i, when: isDense, profile: 'ewdx_ld' },
  { family: /^ew-?dx/i, profile: 'ewdx' },
  { family: /^ew-?d\b/i, profile: 'ewd' },
  { family: /^(em ?6000|digital ?6000|d6000)/i, when: isDense, profile: 'd6000_ld' },
  { family: /^(em ?6000|digital ?6000|d6000)/i, profile: 'd6000' },
  { family: /^(em ?9046|digital ?9000|d9000)/i, profile: 'd9000' },
  { family: /^spectera/i, when: ({ mode }) => /6 ?mhz/i.test(mode ?? ''), profile: 'spectera_6' },
  { family: /^spectera/i, profile: 'spectera_8' },
  { family: /^em ?373[12]/i, profile: 'em3732' },
  { family: /^sr ?20[05]0/i, profile: 'sr2000' },
  { family: /^(ew-iem|(sr|ew) iem)/i, profile: 'ew_iem' },
  { family: /^(em ?2000|em ?2050|g3|g4|ew|ew .*g[34].*)$/i, profile: 'ew_g4' },
  { family: /^(dsqd|dhu)/i, profile: 'lectrosonics' },
  { family: /^(a20|sd-a20)/i, profile: 'a20' },
  { family: /^(mcr54|mtp61)/i, profile: 'wisycom' },
]

/** Returns `generic` for unknown equipment. */
export function detectProfile(type: ReceiverType): string {
  const band = findBand(type)
  const names = [splitModel(type.model ?? '').name, type.family].filter((name) => name !== '')
  // The model is more specific than the family: an AXT400 has the family of Axient Digital.
  for (const name of names) {
    const rule = rules.find(({ family, when }) => family.test(name) && (when === undefined || when(type, band)))
    if (rule !== undefined) return rule.profile
  }
  return genericProfileId
}

/** Returns the reported band, or the band in the model name. */
export function findBand({ band, model }: Pick<ReceiverType, 'band' | 'model'>): string | null {
  return band ?? splitModel(model ?? '').band
}

/** Splits a model such as `ULXD4Q G51` or `ULXD4-J50A`. Both manufacturers write bands with letters and digits. */
function splitModel(model: string): { readonly name: string; readonly band: string | null } {
  const match = /^(.*?)[\s-]+((?!G[34]$)[A-Z]\d{1,2}[A-Z]?|JB|AB|[QRSUVWY]\d{1,2}[-/]\d{1,2})$/.exec(model.trim())
  return { name: match?.[1] ?? model.trim(), band: match?.[2] ?? null }
}
