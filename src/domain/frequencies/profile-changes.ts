/** The effective profiles: the built-in ones with the changes of operators, and added ones. */

import type { FrequencyProfileBody, FrequencyProfileChange } from '../../contract/frequencies.ts'
import type { Body } from '../../contract/schema.ts'
import { guardLevels } from '../../contract/values.ts'
import { defaultOccupiedKhz, equipmentWithGuards, formatMhz, parseMhz } from './carrier.ts'
import { builtInProfiles, type Profile } from './profiles.ts'

export type ProfileChange = Body<typeof FrequencyProfileChange>

/** An added profile, or the changes to a built-in one. */
export interface StoredProfile {
  readonly id: string
  readonly change: ProfileChange
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
  const ids = new Set(stored.map(({ id }) => id))
  return resolveProfiles(stored).map((profile) => toProfileBody(profile, ids.has(profile.id)))
}

/** `isStored` is true for changed and added profiles. */
function toProfileBody({ bands, filter_centres, ...profile }: Profile, isStored: boolean): FrequencyProfileBody {
  const is_built_in = isBuiltIn(profile.id)
  return {
    ...profile,
    filter_centres: [...filter_centres],
    bands: bands.map(({ name, ranges }) => ({
      name,
      ranges: ranges.map(({ fromKhz, toKhz }) => ({ from: formatMhz(fromKhz), to: formatMhz(toKhz) })),
    })),
    is_built_in,
    is_changed: is_built_in && isStored,
  }
}
