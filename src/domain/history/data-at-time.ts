/** Builds the body of `GET /api/history/at/`: the data of an earlier second. */

import type { DataBody } from '../../contract/data.ts'
import type { DataAtTimeBody } from '../../contract/history.ts'
import { type ConditionFlag, type ConditionState, conditionTable } from '../conditions/condition.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import { toChannelBody, toReceiverWithoutChannels } from '../equipment/receiver-body.ts'
import { deviceForecast } from '../forecast/forecast.ts'
import { toTimestamp } from '../timestamp.ts'
import { type ChannelState, toChannelState } from './channel-state.ts'
import { type ColumnName, noValue, recordedRows, type StateLetter, stateLetters } from './columns.ts'
import type { LevelsAtTime } from './level-history.ts'

interface Past {
  /** Epoch seconds. */
  readonly time: number
  readonly levels: LevelsAtTime
  /** The states at that time, by channel id. */
  readonly states: ReadonlyMap<number, ChannelState>
}

/** Current data in place of data that is not recorded. */
interface Today extends Pick<DataBody, 'config' | 'groups' | 'placeholders'> {
  readonly receivers: readonly Receiver[]
}

/**
 * Omits channels that do not exist today or did not exist then. Levels are kept longer than states, so a channel of
 * which only levels are known has its current properties.
 */
export function toDataAtTime({ time, levels, states }: Past, today: Today): DataAtTimeBody {
  const indexes = new Map(levels.steps.channelIds.map((id, index) => [id, index]))
  const channelOf = (channel: Channel): Channel | null => {
    const index = indexes.get(channel.id)
    const known = states.get(channel.id) ?? guessState(channel, letterAt(levels, index), time)
    return known && toChannelAtTime(channel, known, readStep(levels, index))
  }
  const receivers = today.receivers.flatMap((receiver) => {
    const channels = receiver.channels.flatMap((channel) => channelOf(channel) ?? [])
    if (channels.length === 0 && receiver.channels.length > 0) return []
    return { ...toReceiverWithoutChannels(receiver), is_active: wasActive(receiver, channels), channels }
  })
  return {
    receivers: receivers.map((receiver) => ({ ...receiver, channels: receiver.channels.map(toChannelBody) })),
    discovered: [],
    config: today.config,
    groups: today.groups,
    assignments: receivers.flatMap(({ channels }) =>
      channels.flatMap(({ id }) => {
        const assignment = states.get(id)?.assignment ?? null
        return assignment === null ? [] : { channel_id: id, ...assignment }
      }),
    ),
    placeholders: today.placeholders,
    as_of: toTimestamp(time * 1000),
    recorded: levels.isRecorded,
    step_seconds: levels.isRecorded ? levels.stepSeconds : null,
  }
}

function letterAt({ steps }: LevelsAtTime, index: number | undefined): StateLetter {
  return stateLetters[index === undefined ? 0 : (steps.columns.state[index] ?? 0)] ?? '-'
}

const stateOfLetter = { x: 'receiver_offline', '0': 'tx_off', m: 'muted', '1': 'ok' } as const

/** Derives a state from levels alone; null if nothing was recorded. */
function guessState(channel: Channel, letter: StateLetter, time: number): ChannelState | null {
  if (letter === '-') return null
  const state = stateOfLetter[letter]
  const severity = conditionTable.find((row) => row.state === state)?.severity ?? 'ok'
  const { transmitter, ...today } = toChannelState(channel, null)
  const wasReceived = letter === '1' || letter === 'm'
  return {
    ...today,
    transmitter: wasReceived && transmitter !== null ? { ...transmitter, battery: null } : null,
    condition: { state, severity, attention: false, since: time * 1000, since_known: false },
    last_transmitter: null,
  }
}

type Step = Readonly<Record<Exclude<ColumnName, 'state' | 'rows'>, number | null>> & { readonly rows: number }

const unknownStep: Step = {
  rows: 0,
  rf_min: null,
  rf_max: null,
  audio_max: null,
  audio_last: null,
  quality_min: null,
  battery: null,
  minutes: null,
  weak_ms: null,
}

function readStep({ isRecorded, steps }: LevelsAtTime, index: number | undefined): Step {
  if (index === undefined) return unknownStep
  const valueIn = (name: ColumnName) => {
    const value = steps.columns[name][index] ?? noValue
    return value === noValue ? null : value
  }
  const rows = valueIn('rows') ?? 0
  if (!isRecorded) return { ...unknownStep, rows }
  const names = Object.keys(unknownStep) as (keyof Step)[]
  return { ...(Object.fromEntries(names.map((name) => [name, valueIn(name)])) as Step), rows }
}

/** The RF level is the lowest and the audio level the last of the step. */
function toChannelAtTime({ id, channel, slot }: Channel, state: ChannelState, step: Step): Channel {
  const { name, frequency, transmitter, last_transmitter, condition } = state
  const levels = { rf_level: step.rf_min, audio_level: step.audio_last }
  const details = {
    ...(step.quality_min !== null && { quality: step.quality_min }),
    ...(step.audio_max !== null && { audio_peak: step.audio_max }),
  }
  const received = transmitter && {
    ...transmitter,
    ...levels,
    battery: step.battery ?? transmitter.battery,
    ...(step.minutes !== null && { details: { ...transmitter.details, battery_minutes: step.minutes } }),
  }
  return {
    id,
    channel,
    slot,
    name,
    frequency,
    ...levels,
    transmitter: received,
    ...(Object.keys(details).length > 0 && { details }),
    condition: { since_known: true, ...condition, flags: toFlags(step.rows, condition.state) },
    last_transmitter,
    forecast: received && deviceForecast(received),
  }
}

function toFlags(rows: number, state: ConditionState): ConditionFlag[] {
  return recordedRows.filter((flag, index) => (rows & (1 << index)) !== 0 && flag !== state)
}

/** Derived from the recorded channels. Nothing is recorded about a receiver without channels. */
function wasActive({ is_active }: Receiver, channels: readonly Channel[]): boolean {
  return channels.length === 0 ? is_active : channels.some(({ condition }) => condition.state !== 'receiver_offline')
}
