/** Selects the carriers to compare: both carriers of channels with two, and one carrier of channels that share it. */

import { type Carrier, createCarrier, type Equipment } from './carrier.ts'
import type { CheckResult, Conflict } from './conflict.ts'

export interface CheckedChannel {
  readonly id: string
  readonly khz: number
  /** The second carrier of frequency diversity. */
  readonly secondKhz: number | null
  readonly zone: string | null
  readonly hasForeignRf: boolean
  readonly equipment: Equipment
  /** The device, if its channels on the same frequency share one carrier. */
  readonly sharedBy: number | null
}

/** Ids of channels are visible to users or begin with a letter. None ends like this. */
const secondSuffix = '\u0000second'

export function carrierIdsOf(id: string): readonly string[] {
  return [id, id + secondSuffix]
}

export function toCheckedCarriers(channels: readonly CheckedChannel[]): readonly Carrier[] {
  const shared = new Set<string>()
  return channels.flatMap(({ id, khz, secondKhz, zone, hasForeignRf, equipment, sharedBy }) => {
    const key = `${sharedBy} ${khz}`
    if (sharedBy !== null && shared.has(key)) return []
    if (sharedBy !== null) shared.add(key)
    const [firstId = id, secondId = id] = carrierIdsOf(id)
    const first = createCarrier({ id: firstId, khz, zone, hasForeignRf }, equipment)
    return secondKhz === null ? [first] : [first, createCarrier({ id: secondId, khz: secondKhz, zone }, equipment)]
  })
}

/** Replaces the ids of second carriers with those of their channels. */
export function mergeSecondCarriers(result: CheckResult): CheckResult {
  if (!Object.keys(result.victims).some(isSecond) && !result.conflicts.some(hasSecond)) return result
  const victims: Record<string, number> = {}
  for (const [id, count] of Object.entries(result.victims))
    victims[channelOf(id)] = (victims[channelOf(id)] ?? 0) + count
  const conflicts = result.conflicts.map((conflict) => ({
    ...conflict,
    victim: channelOf(conflict.victim),
    generators: conflict.generators.map(channelOf),
  }))
  return { ...result, victims, conflicts }
}

function hasSecond({ victim, generators }: Conflict): boolean {
  return isSecond(victim) || generators.some(isSecond)
}

function isSecond(id: string): boolean {
  return id.endsWith(secondSuffix)
}

function channelOf(id: string): string {
  return isSecond(id) ? id.slice(0, -secondSuffix.length) : id
}
