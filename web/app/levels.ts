/** Levels change too often to be part of the state. The painter and the history read them here. */

import type { ChannelBody } from '../../src/contract/channels.ts'
import type { LiveMessage } from '../../src/contract/live-messages.ts'
import type { ChannelDetails } from '../../src/domain/equipment/receiver.ts'

const entryLevels = ['quality', 'rf_a', 'rf_b', 'rf_c', 'rf_d', 'antennas', 'audio_peak'] as const

type DetailLevels = Pick<ChannelDetails, 'rf_percent' | 'audio_rms' | (typeof entryLevels)[number]>
type Entry = readonly (number | string | null)[]

/** Levels of the transmitter while there is one, otherwise the channel's own. */
export interface ChannelLevels {
  readonly rf: number | null
  readonly audio: number | null
  readonly details: DetailLevels
  readonly receivedAt: number
}

export interface LevelTable {
  get(channelId: number): ChannelLevels | undefined
  /** Returns the ids of the channels in a `levels` message, and none for other types. */
  read(message: LiveMessage, at: number): readonly number[]
  set(channel: ChannelBody, at: number): void
}

/** The connection uses `levels=full`, so entries contain all levels. */
export function createLevelTable(): LevelTable {
  const table = new Map<number, ChannelLevels>()

  function set({ id, transmitter, rf_level, audio_level, details = {} }: ChannelBody, at: number) {
    const levels = transmitter ?? { rf_level, audio_level }
    table.set(id, { rf: levels.rf_level, audio: levels.audio_level, details, receivedAt: at })
  }

  function readChannel(message: Extract<LiveMessage, { type: 'channel' }>, at: number) {
    const known = table.get(message.id) ?? { rf: null, audio: null, details: {}, receivedAt: at }
    const { transmitter, details, rf_level = known.rf, audio_level = known.audio } = message
    const levels = transmitter ?? { rf_level, audio_level }
    const hasLevels = [transmitter, details, message.rf_level, message.audio_level].some((value) => value !== undefined)
    table.set(message.id, {
      rf: levels.rf_level,
      audio: levels.audio_level,
      details: details === undefined ? known.details : (details ?? {}),
      receivedAt: hasLevels ? at : known.receivedAt,
    })
  }

  function readEntry(entry: Entry, at: number): number {
    const id = Number(entry[0])
    const details = withLevels(table.get(id)?.details ?? {}, entry)
    table.set(id, { rf: toNumber(entry[1]), audio: toNumber(entry[2]), details, receivedAt: at })
    return id
  }

  return {
    get: (channelId) => table.get(channelId),
    set,
    read(message, at) {
      switch (message.type) {
        case 'snapshot':
          table.clear()
          for (const { channels } of message.data.receivers) for (const channel of channels) set(channel, at)
          return []
        case 'receiver_added':
          for (const channel of message.receiver.channels) set(channel, at)
          return []
        case 'channel':
          readChannel(message, at)
          return []
        case 'channel_removed':
          table.delete(message.id)
          return []
        case 'levels':
          return message.values.map((entry) => readEntry(entry, at))
        default:
          return []
      }
    },
  }
}

/** A level that was never reported stays absent. */
function withLevels(before: DetailLevels, entry: Entry): DetailLevels {
  const details: Record<string, unknown> = { ...before }
  for (const [index, key] of entryLevels.entries()) {
    const value = entry[index + 3] ?? null
    if (value !== null || key in before) details[key] = value
  }
  // Equipment with an RMS level reports it as the audio level too, so entries contain it once.
  if ('audio_rms' in before) details.audio_rms = entry[2] ?? null
  return details as DetailLevels
}

function toNumber(value: number | string | null | undefined): number | null {
  return typeof value === 'number' ? value : null
}
