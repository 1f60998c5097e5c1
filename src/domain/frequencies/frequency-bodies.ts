/** Bodies of the interface for frequencies, and the carriers of requests. */

import type {
  FrequencyCarrierBody,
  FrequencyCheckBody,
  FrequencyCheckRequest,
  FrequencySuggestRequest,
} from '../../contract/frequencies.ts'
import type { Body } from '../../contract/schema.ts'
import type { GuardLevel, Region } from '../../contract/values.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'
import { RequestError } from '../errors.ts'
import { type Carrier, equipmentWithGuards, formatMhz, type KhzRange, parseMhz } from './carrier.ts'
import { type CheckedChannel, toCheckedCarriers } from './check.ts'
import { type CheckResult, maxCarriers } from './conflict.ts'
import { byFrequency, type LiveCarrier } from './live-carriers.ts'
import { findReversedRange } from './profile-changes.ts'
import { equipmentOf, genericProfileId, type Profile } from './profiles.ts'
import type { SuggestRequest } from './suggest.ts'
import { findTvChannel } from './tv-raster.ts'

export function toCarrierBody(carrier: LiveCarrier, region: Region): FrequencyCarrierBody {
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
  }
}

export function toCheckBody({ conflicts, totals, victims }: CheckResult): FrequencyCheckBody {
  return { conflicts, totals, victims }
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
    const { id, mhz, second_mhz = null, zone = null, foreign = false } = carrier
    const path = `${field}.${index}`
    if (ids.has(id)) throw badRequest(`${path}.id: expected every id once; ${id} is repeated`)
    ids.add(id)
    return {
      id,
      khz: parseMhz(mhz) ?? 0,
      secondKhz: parseMhz(second_mhz ?? ''),
      zone,
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
  { wanted, keep = [], avoid = [] }: Body<typeof FrequencySuggestRequest>,
  { tvInUse, ...context }: ProfileContext & { readonly tvInUse: readonly KhzRange[] },
): SuggestRequest {
  return {
    wanted: wanted.map(({ profile: id, band, ranges, count }, index) => {
      const profile = requireProfile(id, `wanted.${index}.profile`, context)
      const equipment = equipmentOf(profile, context.level, band)
      return {
        profile: id,
        ...(band !== undefined && { band }),
        equipment,
        stepKhz: profile.step_khz,
        ranges: parseRanges(ranges, `wanted.${index}.ranges`),
        count,
      }
    }),
    keep: parseCarriers(keep, 'keep', context),
    avoid: parseRanges(avoid, 'avoid'),
    tvInUse,
  }
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

export function toFrequenciesCsv(
  carriers: readonly LiveCarrier[],
  {
    region,
    groups,
  }: { region: Region; groups: readonly { readonly title: string; readonly slots: readonly number[] }[] },
): string {
  const lines = byFrequency(carriers).map(({ name, khz, profile, zone, slot }) => {
    const titles = groups.filter(({ slots }) => slots.includes(slot)).map(({ title }) => title)
    const cells = [profile.id, zone ?? '', findTvChannel(region, khz) ?? ''].map(toTextCell)
    return toLine([toTextCell(name), formatMhz(khz), ...cells, String(slot), toTextCell(titles.join('; '))])
  })
  return byteOrderMark + toLine(['name', 'mhz', 'profile', 'zone', 'tv_channel', 'slot', 'group']) + lines.join('')
}

/** Lists unique frequencies, one per line, as Wireless Workbench imports them. */
export function toFrequencyList(carriers: readonly LiveCarrier[]): string {
  return [...new Set(byFrequency(carriers).map(({ khz }) => toLine([formatMhz(khz)])))].join('')
}

/** Lists unique frequencies in kHz, as Sennheiser's Wireless Systems Manager imports them. */
export function toWsmFrequencies(carriers: readonly LiveCarrier[]): string {
  const names = new Map<number, string>()
  // The format does not document quotes.
  for (const { khz, name } of byFrequency(carriers)) if (!names.has(khz)) names.set(khz, name.replace(/[;"]/g, ' '))
  const lines = [...names].map(([khz, name]) => `${name};0;${khz};0;${khz};${khz};2;5\r\n`)
  return `name;type;frequency;tolerance;minfrequency;maxfrequency;priority;squelchlevel\r\n${lines.join('')}`
}
