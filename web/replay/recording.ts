/** Blocks of time, each with a complete record at its start and the levels until its end. */

import type { DataBody } from '../../src/contract/data.ts'
import type { DataAtTimeBody, EventBody, HistoryLevelsBody } from '../../src/contract/history.ts'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import type { StateLetter } from '../../src/domain/history/columns.ts'
import { maxLevelChannels } from '../../src/domain/history/tiers.ts'
import { type ChartSamples, type Samples, sampleCount, sampleMs } from '../app/history.ts'
import { rfShare } from '../app/scale.ts'
import { isPerformer } from '../parts/events.ts'
import { channelAt, type StepAt } from './channel-at.ts'

/** All times are epoch milliseconds; ends are exclusive. */
export interface Block {
  readonly from: number
  readonly to: number
  /** Null until it is loaded or results from the previous block. */
  record: DataAtTimeBody | null
  /** `from`, or the end of the previous block. */
  recordedAt: number
  /** At most 100 channels each, in the order of `partsOf`. Null until they are loaded. */
  levels: (HistoryLevelsBody | null)[]
}

export function createBlock(from: number, to: number): Block {
  return { from, to, record: null, recordedAt: from, levels: [] }
}

export function setRecord(block: Block, record: DataAtTimeBody, recordedAt: number): void {
  block.record = record
  block.recordedAt = recordedAt
  block.levels = partsOf(record).map(() => null)
}

/** Channel ids by slot, in parts that one request may contain. */
export function partsOf({ receivers }: Pick<DataBody, 'receivers'>): readonly (readonly number[])[] {
  const channels = receivers.flatMap((receiver) => receiver.channels).sort((a, b) => a.slot - b.slot)
  const count = Math.ceil(channels.length / maxLevelChannels)
  return Array.from({ length: count }, (_, part) =>
    channels.slice(part * maxLevelChannels, (part + 1) * maxLevelChannels).map(({ id }) => id),
  )
}

export function isPlayable({ record, levels }: Block): boolean {
  return record !== null && (levels.length === 0 || levels.some((part) => part !== null))
}

export type LevelEntry = readonly [id: number, ...values: (number | null)[]]

export interface Moment {
  readonly data: Omit<DataBody, 'slot_records'>
  /** Entries of a `levels` message; null if the records contain the levels of this second. */
  readonly levels: readonly LevelEntry[] | null
  /** False in a recording gap. */
  readonly isRecorded: boolean
  /** In a gap: its start, or the start of the loaded data if that is later. Otherwise the second shown. */
  readonly currentAt: number
  readonly stepSeconds: number | null
}

/** The record at the end of a loaded block, for the next block. */
export function recordAtEnd(block: Block, events: readonly EventBody[]): DataAtTimeBody | null {
  const { record, to } = block
  const moment = momentAt(block, events, to - 1)
  return record && moment && { ...record, ...moment.data, recorded: moment.isRecorded }
}

/** Null until the record of the block is known. */
export function momentAt(block: Block, events: readonly EventBody[], at: number): Moment | null {
  const { record, recordedAt } = block
  if (record === null) return null
  const steps = stepsAt([block], at)
  const past = eventsByChannel(events, at)
  const hasMuteAttention = record.config.MUTE_ATTENTION === 'always'
  const receivers = record.receivers.map((receiver): ReceiverInData => {
    const channels = receiver.channels.map((channel) =>
      channelAt({
        channel: withoutDetailLevels(channel),
        recordedAt,
        at,
        step: steps.get(channel.id) ?? null,
        events: past.get(channel.id) ?? [],
        hasMuteAttention,
      }),
    )
    const states = receiver.channels.map(({ id }) => steps.get(id)?.letter)
    const isOffline = states.length > 0 && states.every((letter) => letter === 'x')
    const isOnline = states.some((letter) => letter === '1' || letter === 'm' || letter === '0')
    return { ...receiver, is_active: !isOffline && (isOnline || receiver.is_active), channels }
  })
  const ids = receivers.flatMap(({ channels }) => channels.map(({ id }) => id))
  const hasSteps = steps.size > 0
  const isRecorded = hasSteps ? [...steps.values()].some(({ letter }) => letter !== '-') : record.recorded
  return {
    data: { ...record, receivers, assignments: assignmentsAt(record.assignments, past, recordedAt) },
    levels: at === recordedAt && !hasSteps ? null : ids.map((id) => steps.get(id)?.levels ?? [id, null, null]),
    isRecorded,
    currentAt: isRecorded ? at : Math.max(...[...steps.values()].map(({ since }) => since), hasSteps ? 0 : at),
    stepSeconds: block.levels.find((part) => part !== null)?.step_seconds ?? record.step_seconds,
  }
}

function assignmentsAt(
  recorded: DataBody['assignments'],
  events: ReadonlyMap<number, readonly EventBody[]>,
  recordedAt: number,
): DataBody['assignments'] {
  let assignments = recorded
  for (const { kind, time, channel_id, data } of [...events.values()].flat()) {
    if ((kind !== 'assigned' && kind !== 'unassigned') || Date.parse(time) <= recordedAt) continue
    const { performer, wireless_unit } = data
    assignments = assignments.filter((assignment) => assignment.channel_id !== channel_id)
    if (kind === 'assigned' && isPerformer(performer) && typeof wireless_unit === 'number')
      assignments = [...assignments, { channel_id, wireless_unit, performer }]
  }
  return assignments
}

/** Oldest first. `events` are newest first, as the service returns them. */
function eventsByChannel(events: readonly EventBody[], at: number): ReadonlyMap<number, readonly EventBody[]> {
  const found = new Map<number, EventBody[]>()
  for (const event of events.toReversed()) {
    if (event.channel_id === null || Date.parse(event.time) > at) continue
    const known = found.get(event.channel_id)
    if (known === undefined) found.set(event.channel_id, [event])
    else known.push(event)
  }
  return found
}

/** These levels are not recorded. The record may contain those of today. */
const detailLevels = ['rf_a', 'rf_b', 'rf_c', 'rf_d', 'rf_percent', 'antennas', 'audio_peak', 'audio_rms'] as const

function withoutDetailLevels(channel: ReceiverInData['channels'][number]): ReceiverInData['channels'][number] {
  if (channel.details === undefined || !detailLevels.some((key) => key in (channel.details ?? {}))) return channel
  const details = { ...channel.details }
  for (const key of detailLevels) delete details[key]
  return { ...channel, details }
}

interface RecordedStep extends StepAt {
  readonly levels: LevelEntry
}

function stepsAt(blocks: readonly Block[], at: number): ReadonlyMap<number, RecordedStep> {
  const steps = new Map<number, RecordedStep>()
  for (const { levels } of blocks) {
    for (const part of levels) {
      const index = part === null ? null : indexAt(part, at)
      if (part === null || index === null) continue
      for (const channel of part.channels) {
        const { id, state, rf, audio, quality, battery, minutes } = channel
        const letter = letterAt(state, index)
        let first = index
        while (first > 0 && state[first - 1] === letter) first -= 1
        const peak = audio?.max[index] ?? null
        steps.set(id, {
          letter,
          since: Date.parse(part.from) + first * part.step_seconds * 1_000,
          battery: battery?.last[index] ?? null,
          minutes: minutes?.last[index] ?? null,
          // In the order of a `levels` message: RF, audio, quality, four antennas, the antennas in use, audio peak.
          levels: [
            ...([id, rf?.min[index] ?? null, audio?.last[index] ?? peak] as const),
            ...[quality?.min[index] ?? null, null, null, null, null, null, peak],
          ],
        })
      }
    }
  }
  return steps
}

function indexAt({ from, to, step_seconds: seconds }: HistoryLevelsBody, at: number): number | null {
  const start = Date.parse(from)
  if (at < start || at >= Date.parse(to)) return null
  return Math.floor((at - start) / (seconds * 1_000))
}

function letterAt(state: string, index: number): StateLetter {
  return (state[index] ?? '-') as StateLetter
}

export function chartSamplesAt(blocks: readonly Block[], at: number): ChartSamples {
  const found = new Map<number, Samples>()
  return {
    head: 0,
    of(channelId) {
      const known = found.get(channelId) ?? samplesOf(blocks, channelId, at)
      found.set(channelId, known)
      return known
    },
  }
}

function samplesOf(blocks: readonly Block[], channelId: number, at: number): Samples {
  const rf = new Float32Array(sampleCount).fill(Number.NaN)
  const audio = new Float32Array(sampleCount).fill(Number.NaN)
  for (const part of blocks.flatMap(({ levels }) => levels)) {
    const channel = part?.channels.find(({ id }) => id === channelId)
    if (part === null || channel === undefined) continue
    for (let sample = 0; sample < sampleCount; sample++) {
      const index = indexAt(part, at - (sampleCount - sample) * sampleMs)
      if (index === null || !'1m'.includes(channel.state[index] ?? '-')) continue
      const [level, peak] = [channel.rf?.min[index] ?? null, channel.audio?.max[index] ?? null]
      if (level !== null) rf[sample] = rfShare(level)
      if (peak !== null) audio[sample] = peak
    }
  }
  return { rf, audio }
}
