/** Parses recorded levels from the response of another installation, and decides which ranges to request. */

import type { SiteReference } from '../../contract/schema.ts'
import { type ColumnName, columnNames, noValue, type Steps, stateLetters } from '../history/columns.ts'
import { seriesColumns } from '../history/formats.ts'
import type { FollowedSteps, LevelQuery } from '../history/level-history.ts'
import { ceilTo, createSteps, floorTo, type MutableSteps } from '../history/steps.ts'
import type { TierStep } from '../history/tiers.ts'
import { isRecord, type Json } from '../json.ts'

/** Epoch seconds; `to` is exclusive. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** Sites that did not respond, by code. They are not asked again for the same response. */
export type Interrupted = Map<string, SiteReference>

export interface FollowedReading {
  readonly client: string
  readonly interrupted: Interrupted
}

export interface SiteLevels {
  /**
   * Returns the levels of those channels that belong to sites, in the finest steps that all of their sites have; null
   * if none does. Rejects with a RequestError if the response would be too long. Each `client` may use only a share of
   * the queue to a site.
   */
  load(query: Omit<LevelQuery, 'series'>, client: string): Promise<FollowedSteps | null>
  /** Returns the levels in steps of this length, for a file; null if no channel belongs to a site. */
  loadSteps(
    channelIds: readonly number[],
    range: TimeRange,
    step: TierStep,
    reading: FollowedReading,
  ): Promise<FollowedSteps | null>
}

/** A request to another installation for levels of channels. */
export interface LevelRequest extends TimeRange {
  readonly step: TierStep
  /** Local ids. */
  readonly channelIds: readonly number[]
}

/** Steps of one channel that are stored together. */
const stepsPerBlock = 240
/** Limits the size of a response, so that it arrives within 10 s on a line of 64 kbit/s. */
const stepsPerRequest = 16 * stepsPerBlock

/** Seconds per block. */
export function blockSpan(step: TierStep): number {
  return step * stepsPerBlock
}

/** Returns the starts of the blocks that overlap a range. */
export function blocksIn({ from, to }: TimeRange, step: TierStep): readonly number[] {
  const first = floorTo(from, blockSpan(step))
  const count = Math.ceil((to - first) / blockSpan(step))
  return Array.from({ length: count }, (_, index) => first + index * blockSpan(step))
}

/**
 * Returns the missing part of a range, or null. `untilOf` maps the start of each block to the time up to which it is
 * complete. A block is only extended at its end.
 */
export function findLacking(
  { from, to }: TimeRange,
  step: TierStep,
  untilOf: ReadonlyMap<number, number>,
): TimeRange | null {
  const lacking = blocksIn({ from, to }, step).filter(
    (start) => (untilOf.get(start) ?? start) < Math.min(start + blockSpan(step), to),
  )
  const [first] = lacking
  const last = lacking.at(-1)
  if (first === undefined || last === undefined) return null
  return { from: untilOf.get(first) ?? first, to: Math.min(last + blockSpan(step), ceilTo(to, step)) }
}

/** Combines the missing ranges of several channels into few requests of limited size. */
export function planRequests(lacking: ReadonlyMap<number, TimeRange>, step: TierStep): readonly LevelRequest[] {
  const channelsOf = new Map<string, { readonly range: TimeRange; readonly ids: number[] }>()
  for (const [id, range] of lacking) {
    const key = `${range.from}-${range.to}`
    const known = channelsOf.get(key)
    if (known === undefined) channelsOf.set(key, { range, ids: [id] })
    else known.ids.push(id)
  }
  return [...channelsOf.values()].flatMap(({ range, ids }) => splitRequest({ ...range, step, channelIds: ids }))
}

function splitRequest({ from, to, step, channelIds }: LevelRequest): LevelRequest[] {
  const stepsEach = Math.min(stepsPerRequest, Math.ceil((to - from) / step))
  const channelsEach = Math.min(100, Math.floor(stepsPerRequest / stepsEach))
  const requests: LevelRequest[] = []
  for (let start = from; start < to; start += stepsEach * step) {
    for (let index = 0; index < channelIds.length; index += channelsEach) {
      const end = Math.min(to, start + stepsEach * step)
      requests.push({ from: start, to: end, step, channelIds: channelIds.slice(index, index + channelsEach) })
    }
  }
  return requests
}

export interface ReceivedLevels {
  /** Seconds per step. */
  readonly step: number
  readonly steps: MutableSteps
  /** True if a site further along a chain did not respond. */
  readonly isInterrupted: boolean
}

/**
 * Parses `HistoryLevels` of another installation for the requested range. Returns null if it is invalid or longer than
 * requested. `idsHere` maps the ids of the other installation to local ones.
 */
export function parseFollowedLevels(
  body: unknown,
  idsHere: ReadonlyMap<number, number>,
  range: TimeRange,
): ReceivedLevels | null {
  if (!isRecord(body) || !Array.isArray(body.channels)) return null
  const from = Date.parse(String(body.from)) / 1000
  const step = Number(body.step_seconds)
  const channels = body.channels
    .filter(isRecord)
    .filter(({ id, state }) => typeof state === 'string' && idsHere.has(Number(id)))
  const count = String(channels[0]?.state ?? '').length
  if (!Number.isInteger(from) || !Number.isInteger(step) || step < 1 || channels.length === 0) return null
  // Steps are aligned, so the first and the last one may extend beyond the range.
  if (from < range.from - step || from + count * step > range.to + step || channels.length > idsHere.size) return null
  const ids = channels.map(({ id }) => idsHere.get(Number(id)) ?? 0)
  const steps = createSteps(from, count, ids)
  for (const [index, channel] of channels.entries()) readChannel(steps, index, channel)
  return { step, steps, isInterrupted: Array.isArray(body.interrupted_sites) && body.interrupted_sites.length > 0 }
}

function readChannel({ columns, count }: MutableSteps, index: number, channel: Json): void {
  const letters = String(channel.state)
  for (let at = 0; at < count; at++) {
    columns.state[index * count + at] = Math.max(0, (stateLetters as readonly string[]).indexOf(letters[at] ?? '-'))
  }
  const read = (column: ColumnName, values: unknown) => {
    if (!Array.isArray(values)) return
    for (let at = 0; at < count; at++) {
      const value: unknown = values[at]
      columns[column][index * count + at] = isLevel(value) ? value : noValue
    }
  }
  for (const [name, fields] of Object.entries(seriesColumns)) {
    const series = channel[name]
    if (isRecord(series)) for (const [field, column] of fields) read(column, series[field])
  }
  read('weak_ms', channel.weak_ms)
}

function isLevel(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 31
}

/** Replaces steps of one channel with received ones. Steps outside `target` are ignored. */
export function replaceSteps(target: MutableSteps, received: Steps, channelId: number, step: TierStep): void {
  const channel = received.channelIds.indexOf(channelId)
  if (channel < 0) return
  const shift = (received.from - target.from) / step
  for (let index = Math.max(0, -shift); index < received.count && index + shift < target.count; index++) {
    for (const name of columnNames) {
      target.columns[name][index + shift] = received.columns[name][channel * received.count + index] as number
    }
  }
}
