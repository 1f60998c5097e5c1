/** Validates requests for recorded levels, from the REST interface and from commands. */

import { RequestError } from '../errors.ts'
import { parseTimestamp } from '../timestamp.ts'
import { stateLetters } from './columns.ts'
import { type LevelExport, type LevelHistory, type LevelQuery, type LevelSeries, levelSeries } from './level-history.ts'
import { maxLevelChannels, tierSteps } from './tiers.ts'

const defaultMaxPoints = 600
/** A range may end this far in the future, so that a client whose clock is ahead can request the present. */
const maxFutureMs = 60_000

/** The parameters of a range of channels, as text. */
export interface RangeText {
  readonly channels: string
  readonly from: string
  readonly to: string
}

/**
 * Throws a RequestError that names the invalid parameter. The number of steps depends on the recording, so the history
 * checks that limit. `nowMs` is in epoch ms.
 */
export function parseLevelQuery(
  query: RangeText & { readonly max_points?: number | undefined; readonly series?: string | undefined },
  nowMs: number,
): LevelQuery {
  return {
    channelIds: parseChannelIds(query.channels, maxLevelChannels),
    ...parseRange(query, nowMs),
    maxPoints: query.max_points ?? defaultMaxPoints,
    series: parseSeries(query.series),
  }
}

/** Parses an export without the names of its channels, which the caller knows. Throws a RequestError. */
export function parseLevelExport(
  query: RangeText & { readonly step?: string | undefined },
  nowMs: number,
  limit = maxLevelChannels,
): Omit<LevelExport, 'channels'> & { readonly channelIds: readonly number[] } {
  const step = query.step === undefined ? tierSteps[0] : tierSteps.find((seconds) => String(seconds) === query.step)
  if (step === undefined) throw badRequest('step', `expected one of ${tierSteps.join(', ')}`)
  return { channelIds: parseChannelIds(query.channels, limit), ...parseRange(query, nowMs), step }
}

/** Returns epoch seconds. Throws a RequestError unless the time is a past second. */
export function parsePastSecond(text: string, nowMs: number): number {
  const time = parseTime('time', text)
  if (time % 1000 !== 0) throw badRequest('time', 'expected a whole second')
  if (time > nowMs) throw badRequest('time', 'expected a time in the past')
  return time / 1000
}

function parseChannelIds(text: string, limit: number): readonly number[] {
  const ids = parseList('channels', text).map((item) => {
    const id = /^[1-9]\d*$/.test(item) ? Number(item) : Number.NaN
    if (Number.isSafeInteger(id)) return id
    throw badRequest('channels', 'expected ids, separated by commas')
  })
  if (ids.length > limit) throw badRequest('channels', `expected at most ${limit}`)
  return ids
}

function parseSeries(text: string | undefined): readonly LevelSeries[] {
  if (text === undefined) return levelSeries
  return parseList('series', text).map((item) => {
    const series = levelSeries.find((name) => name === item)
    if (series !== undefined) return series
    throw badRequest('series', `expected some of ${levelSeries.join(', ')}`)
  })
}

function parseList(name: string, text: string): readonly string[] {
  const items = text.split(',')
  if (items.includes('')) throw badRequest(name, 'empty items are not allowed')
  const repeated = items.find((item, index) => items.indexOf(item) !== index)
  if (repeated !== undefined) throw badRequest(name, `expected ${repeated} only once`)
  return items
}

/** Returns epoch seconds; `to` is exclusive. */
function parseRange(
  { from: fromText, to: toText }: Omit<RangeText, 'channels'>,
  nowMs: number,
): Pick<LevelQuery, 'from' | 'to'> {
  const [from, to] = [parseTime('from', fromText), parseTime('to', toText)]
  if (from >= to) throw badRequest('from', 'expected a time before `to`')
  if (to > nowMs + maxFutureMs) throw badRequest('to', 'expected a time that is not in the future')
  return { from: Math.floor(from / 1000), to: Math.ceil(to / 1000) }
}

function parseTime(name: string, text: string): number {
  const time = parseTimestamp(text)
  if (time === null) throw badRequest(name, 'expected a time such as 2026-05-01T18:00:00Z')
  return time
}

function badRequest(name: string, what: string): RequestError {
  return new RequestError('bad_request', { details: `${name}: ${what}` })
}

/** True if levels of the channel were recorded, even if it has been removed. Reads its hours. */
export async function wasRecorded(levels: Pick<LevelHistory, 'range' | 'read'>, channelId: number): Promise<boolean> {
  const range = await levels.range()
  if (range === null) return false
  const { columns } = await levels.read([channelId], range.first, range.last, 3600)
  return columns.state.some((state) => state > stateLetters.indexOf('-'))
}
