/** A show that systems report only partially. */

import type { DeviceState, Show, ShowChannel } from './show.ts'
import { isSilenced, type Silence } from './silence.ts'

export interface SilencedShow extends Show {
  setSilence(silence: Silence | null): void
}

export function createSilencedShow(show: Show): SilencedShow {
  let silence: Silence | null = null
  const toReported = (state: DeviceState): DeviceState =>
    silence === null ? state : { ...state, channels: state.channels.map((channel) => silenceChannel(channel, silence)) }
  return {
    ...show,
    devicesAt: (...parameters) => show.devicesAt(...parameters).map(toReported),
    deviceAt(...parameters) {
      const state = show.deviceAt(...parameters)
      return state && toReported(state)
    },
    setSilence(next) {
      silence = next
    },
  }
}

/** Omits the silenced fields, except the channel's number. */
function silenceChannel(state: ShowChannel, silence: Silence | null): ShowChannel {
  const { channel, transmitter, ...fields } = state
  const keep = <Fields extends object>(reported: Fields) =>
    Object.fromEntries(
      Object.entries(reported).filter(
        ([name]) => !isSilenced(silence, { isLevel: /^(?:rf|audio)_level$/.test(name), channel }),
      ),
    ) as Fields
  return { channel, transmitter: transmitter && keep(transmitter), ...keep(fields) }
}
