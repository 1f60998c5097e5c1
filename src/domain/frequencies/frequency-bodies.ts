/** Bodies of the interface for frequencies, and the carriers of requests. */

import type {
  FrequencyCarrierBody,
  FrequencyCheckBody,
  FrequencyCheckRequest,
  FrequencySuggestRequest,
} from '../../contract/frequencies.ts'
import type { Body } from '../../contract/schema.ts'
import type { GuardLevel, MeasuredState, Region } from '../../contract/values.ts'
import { RequestError } from '../errors.ts'
import {
  type Carrier,
  type Equipment,
  equipmentWithGuards,
  formatMhz,
  isInBand,
  type KhzRange,
  parseMhz,
} from './carrier.ts'
import { type CheckedChannel, carrierIdsOf, mergeSecondCarriers, toCheckedCarriers } from './check.ts'
import { type CheckResult, maxCarriers } from './conflict.ts'
import type { LiveCarrier } from './live-carriers.ts'
import { findReading, type Measured, measureCarriers, stateOf, worseState } from './measured.ts'
import { findReversedRange } from './profile-changes.ts'
import { equipmentOf, genericProfileId, type Profile } from './profiles.ts'
import type { SuggestRequest, WantedCarriers } from './suggest.ts'
import { findTvChannel } from './tv-raster.ts'

export function toCarrierBody(
  carrier: LiveCarrier,
  { region, measured }: { readonly region: Region; readonly measured: Measured | null },
): FrequencyCarrierBody {
  const { id, channelId, placeholderId, receiverId, slot, name, khz, secondKhz, band } = carrier
  const { model, profile, zone, isOn, rfLevel, noiseDbm, hasForeignRf } = carrier
  return {
    id,
    ...(channelId !== null && { channel_id: channelId }),
    ...(placeholderId !== null && { placeholder_id: placeholderId }),
    ...(receiverId !== null && { receiver_id: receiverId }),
    slot,
    name,
    mhz: formatMhz(khz),
    ...(secondKhz !== null && { second_mhz: formatMhz(secondKhz) }),
    model,
    ...(band !== null && { band }),
    profile: profile.id,
    zone,
    transmitter_on: isOn,
    rf_level: rfLevel,
    noise_dbm: noiseDbm,
    ...(hasForeignRf && { foreign: true }),
    tv_channel: findTvChannel(region, khz),
    measured: measureChannel(carrier, measured),
  }
}

function measureChannel({ khz, secondKhz, profile }: LiveCarrier, measured: Measured | null): MeasuredState {
  if (measured === null) return 'unmeasured'
  const stateAt = (value: number) =>
    stateOf(findReading(measured, { khz: value, occupiedKhz: profile.occupied_khz }), measured)
  return secondKhz === null ? stateAt(khz) : worseState(stateAt(khz), stateAt(secondKhz))
}

export function toConflictsBody({ conflicts, totals, victims }: CheckResult): Omit<FrequencyCheckBody, 'carriers'> {
  return { conflicts, totals, victims }
}

/** `carriers` contains the second carriers, which have the ids of their channels in the result. */
export function toCheckBody(
  result: CheckResult,
  requested: readonly Pick<RequestedCarrier, 'id'>[],
  carriers: readonly Carrier[],
  measured: Measured | null,
): FrequencyCheckBody {
  const states = measureCarriers(measured, carriers)
  return {
    ...toConflictsBody(mergeSecondCarriers(result)),
    carriers: requested.map(({ id }) => {
      const [first = 'unmeasured', second = first] = carrierIdsOf(id).flatMap((one) => states.get(one) ?? [])
      return { id, measured: worseState(first, second) }
    }),
  }
}

type RequestedCarrier = Body<typeof FrequencyCheckRequest>['carriers'][number]

interface ProfileContext {
  readonly profiles: readonly Profile[]
  readonly level: GuardLevel
}

export function parseCarriers(
  carriers: readonly RequestedCarrier[],
  field: string,
  context: ProfileContext,
): readonly Carrier[] {
  const ids = new Set<string>()
  const channels = carriers.map((carrier, index): CheckedChannel => {
    const { id, mhz, second_mhz = null, zone = null, groups, foreign = false } = carrier
    const path = `${field}.${index}`
    if (ids.has(id)) throw badRequest(`${path}.id: expected every id once; ${id} is repeated`)
    ids.add(id)
    return {
      id,
      khz: parseMhz(mhz) ?? 0,
      secondKhz: parseMhz(second_mhz ?? ''),
      zone,
      ...(groups !== undefined && { groups }),
      hasForeignRf: foreign,
      ...parseEquipment(carrier, path, context),
    }
  })
  const checked = toCheckedCarriers(channels)
  if (checked.length > maxCarriers) {
    throw badRequest(`${field}: expected at most ${maxCarriers} carriers, including those of second_mhz`)
  }
  return checked
}

function parseEquipment(
  { profile: id, guards, window_mhz = null, band, receiver_id }: RequestedCarrier,
  path: string,
  context: ProfileContext,
): Pick<CheckedChannel, 'equipment' | 'sharedBy'> {
  if (guards !== undefined) {
    if (id !== undefined) throw badRequest(`${path}: expected profile or guards, not both`)
    return { equipment: equipmentWithGuards(guards, window_mhz), sharedBy: null }
  }
  if (window_mhz !== null) throw badRequest(`${path}.window_mhz: expected guards beside it`)
  const profile = requireProfile(id ?? genericProfileId, `${path}.profile`, context)
  return {
    equipment: equipmentOf(profile, context.level, band),
    sharedBy: profile.shares_carrier ? (receiver_id ?? null) : null,
  }
}

export function parseSuggestRequest(
  { wanted, keep = [], avoid = [], never_on_together = [], soft = [] }: Body<typeof FrequencySuggestRequest>,
  {
    tvInUse,
    measured,
    ...context
  }: ProfileContext & { readonly tvInUse: readonly KhzRange[]; readonly measured: Measured | null },
): SuggestRequest {
  return {
    wanted: wanted.map((one, index) => parseWanted(one, `wanted.${index}`, context)),
    keep: parseCarriers(keep, 'keep', context),
    avoid: parseRanges(avoid, 'avoid'),
    tvInUse,
    measured,
    neverOnTogether: never_on_together,
    soft,
  }
}

function parseWanted(
  {
    profile: id,
    band,
    zone,
    groups,
    ranges,
    candidates,
    count,
    priority,
    spares,
  }: Body<typeof FrequencySuggestRequest>['wanted'][number],
  path: string,
  context: ProfileContext,
): WantedCarriers {
  const profile = requireProfile(id, `${path}.profile`, context)
  const equipment = equipmentOf(profile, context.level, band)
  if ((ranges === undefined) === (candidates === undefined)) {
    throw badRequest(`${path}: expected either ranges or candidates`)
  }
  return {
    profile: id,
    ...(band !== undefined && { band }),
    ...(typeof zone === 'string' && { zone }),
    ...(groups !== undefined && { groups }),
    equipment,
    ...(candidates === undefined
      ? { stepKhz: profile.step_khz, ranges: parseRanges(ranges ?? [], `${path}.ranges`) }
      : { stepKhz: 1, ranges: parseCandidates(candidates, `${path}.candidates`, equipment) }),
    count,
    ...(priority !== undefined && { priority }),
    ...(spares !== undefined && { spares }),
  }
}

/** Every candidate is a range of its own, with or without being on the step of the profile. */
function parseCandidates(candidates: readonly string[], path: string, equipment: Equipment): KhzRange[] {
  return candidates.map((mhz, index) => {
    const khz = parseMhz(mhz) ?? 0
    if (!isInBand(equipment, khz)) throw badRequest(`${path}.${index}: ${mhz} MHz is outside the bands of the profile`)
    return { fromKhz: khz, toKhz: khz }
  })
}

function parseRanges(ranges: readonly { readonly from: string; readonly to: string }[], field: string): KhzRange[] {
  const reversed = findReversedRange(ranges)
  if (reversed !== undefined) {
    throw badRequest(`${field}: expected from (${reversed.from}) to be at most to (${reversed.to})`)
  }
  return ranges.map(({ from, to }) => ({ fromKhz: parseMhz(from) ?? 0, toKhz: parseMhz(to) ?? 0 }))
}

function requireProfile(id: string, path: string, { profiles }: ProfileContext): Profile {
  const found = profiles.find((profile) => profile.id === id)
  if (found === undefined) throw badRequest(`${path}: there is no profile ${id}`)
  return found
}

function badRequest(details: string): RequestError {
  return new RequestError('bad_request', { details })
}
