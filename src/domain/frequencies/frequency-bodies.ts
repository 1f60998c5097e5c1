/** The bodies of the interface for frequencies, and the carriers of requests. */

import type { Body } from '../../contract/described.ts'
import type { FrequencyCheckRequest, FrequencySuggestRequest } from '../../contract/requests.ts'
import type { FrequencyCarrierBody, FrequencyCheckBody } from '../../contract/resources/frequencies.ts'
import type { GuardLevel, Region } from '../../contract/values.ts'
import { byteOrderMark, toLine, toTextCell } from '../csv.ts'
import { RequestError } from '../errors.ts'
import { type Carrier, createCarrier, equipmentWithGuards, formatMhz, type KhzRange, parseMhz } from './carrier.ts'
import type { CheckResult } from './conflict.ts'
import type { LiveCarrier } from './live-carriers.ts'
import { findReversedRange } from './profile-changes.ts'
import { equipmentOf, genericProfileId, type Profile } from './profiles.ts'
import type { SuggestRequest } from './suggest.ts'
import { findTvChannel } from './tv-raster.ts'

export function toCarrierBody(carrier: LiveCarrier, region: Region): FrequencyCarrierBody {
  const { id, channelId, placeholderId, slot, name, khz, model, profile, zone, isOn, rfLevel, noiseDbm } = carrier
  return {
    id,
    ...(channelId !== null && { channel_id: channelId }),
    ...(placeholderId !== null && { placeholder_id: placeholderId }),
    slot,
    name,
    mhz: formatMhz(khz),
    model,
    profile: profile.id,
    zone,
    transmitter_on: isOn,
    rf_level: rfLevel,
    noise_dbm: noiseDbm,
    tv_channel: findTvChannel(region, khz),
  }
}

export function toCheckBody({ conflicts, totals }: CheckResult): FrequencyCheckBody {
  return { conflicts, totals }
}

type RequestedCarriers = Body<typeof FrequencyCheckRequest>['carriers']

interface ProfileContext {
  readonly profiles: readonly Profile[]
  readonly level: GuardLevel
}

/** Converts the carriers in the field `field` of a request. */
export function parseCarriers(carriers: RequestedCarriers, field: string, context: ProfileContext): Carrier[] {
  const ids = new Set<string>()
  return carriers.map(({ id, mhz, profile, guards, window_mhz, zone = null }, index) => {
    const path = `${field}.${index}`
    if (ids.has(id)) throw badRequest(`${path}.id: expected every id once; ${id} is repeated`)
    ids.add(id)
    if (profile !== undefined && guards !== undefined) throw badRequest(`${path}: expected profile or guards, not both`)
    if (guards === undefined && window_mhz !== undefined && window_mhz !== null) {
      throw badRequest(`${path}.window_mhz: expected guards beside it`)
    }
    const equipment =
      guards === undefined
        ? equipmentOf(requireProfile(profile ?? genericProfileId, `${path}.profile`, context), context.level)
        : equipmentWithGuards(guards, window_mhz ?? null)
    return createCarrier({ id, khz: parseMhz(mhz) ?? 0, zone }, equipment)
  })
}

/** Converts a request for a suggestion. */
export function parseSuggestRequest(
  { wanted, keep = [], avoid = [] }: Body<typeof FrequencySuggestRequest>,
  { tvInUse, ...context }: ProfileContext & { readonly tvInUse: readonly KhzRange[] },
): SuggestRequest {
  return {
    wanted: wanted.map(({ profile: id, ranges, count }, index) => {
      const profile = requireProfile(id, `wanted.${index}.profile`, context)
      const equipment = equipmentOf(profile, context.level)
      return {
        profile: id,
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

/** Formats carriers as CSV, by frequency. */
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

/** Lists the frequencies without repetitions, one a line, as Wireless Workbench imports them. */
export function toFrequencyList(carriers: readonly LiveCarrier[]): string {
  return [...new Set(byFrequency(carriers).map(({ khz }) => toLine([formatMhz(khz)])))].join('')
}

function byFrequency(carriers: readonly LiveCarrier[]): LiveCarrier[] {
  return [...carriers].sort((a, b) => a.khz - b.khz || a.slot - b.slot)
}
