/** Converts receivers to the shape of micboard's `data.json`. */

import type { MicboardBody, MicboardChannel } from '../contract/data.ts'
import type { Group } from '../contract/groups.ts'
import type { MicboardStatus } from '../contract/values.ts'
import type { ConditionState } from './conditions/condition.ts'
import { type Channel, frequencyOf, type Receiver, reportedName } from './equipment/receiver.ts'
import type { TitleOf } from './equipment/slot-record.ts'

interface MicboardContext {
  readonly groups: readonly Group[]
  readonly titleOf: TitleOf
  /** The public URL of the service, or empty. */
  readonly url: string
}

export function toMicboard(receivers: readonly Receiver[], { groups, titleOf, url }: MicboardContext): MicboardBody {
  return {
    receivers: receivers.map((receiver) => ({
      ip: receiver.ip ?? '',
      type: receiver.device_type,
      status: receiver.is_active ? 'CONNECTED' : 'DISCONNECTED',
      raw: {},
      tx: receiver.channels.map((channel) =>
        toMicboardChannel(channel, receiver.device_type, titleOf(receiver, channel).title),
      ),
    })),
    url,
    gif: [],
    jpg: [],
    mp4: [],
    config: {
      slots: receivers.flatMap(({ ip, device_type: type, channels }) =>
        channels.map(({ slot, channel }) => ({ slot, ip: ip ?? '', type, channel })),
      ),
      groups: groups.map(({ id: group, title, slots, hide_charts }) => ({ group, title, slots, hide_charts })),
    },
    discovered: [],
  }
}

/** Stands for an unknown number. */
const unknown = 255

function toMicboardChannel(channel: Channel, type: string, title: string | null): MicboardChannel {
  const { id, channel: number, slot, transmitter, details, condition } = channel
  return {
    id: String(id),
    channel: number,
    slot,
    name: title ?? '',
    name_raw: reportedName(channel) ?? '',
    type,
    status: statuses[condition.state] ?? 'GOOD',
    battery: toBars(transmitter?.battery),
    rf_level: toPercent(transmitter?.rf_level ?? channel.rf_level, -100, -20),
    audio_level: toPercent(transmitter?.audio_level ?? channel.audio_level, -60, 0),
    quality: toBars(details?.quality),
    antenna: ['A', 'B'].map((letter) => (details?.antennas?.includes(letter) ? letter : 'X')).join(''),
    frequency: frequencyOf(channel) ?? '',
    tx_offset: transmitter?.details?.gain_db ?? unknown,
    raw: {},
  }
}

const statuses: Partial<Record<ConditionState, MicboardStatus>> = {
  battery_critical: 'CRITICAL',
  battery_died: 'CRITICAL',
  battery_low: 'REPLACE',
  receiver_offline: 'RX_COM_ERROR',
  stale: 'RX_COM_ERROR',
  charging: 'TX_COM_ERROR',
  tx_off: 'TX_COM_ERROR',
}

function toBars(percent: number | null | undefined): number {
  return percent == null ? unknown : Math.ceil(percent / 20)
}

/** Scales a level to 0 to 100. */
function toPercent(level: number | null, lowest: number, highest: number): number {
  if (level === null) return 0
  return Math.round(Math.min(100, Math.max(0, ((level - lowest) * 100) / (highest - lowest))))
}
