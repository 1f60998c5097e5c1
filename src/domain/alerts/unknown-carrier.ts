import type { Receiver } from '../equipment/receiver.ts'
import { formatMhz } from '../frequencies/carrier.ts'
import type { Alert } from './alert.ts'
import { toCauseOf } from './channel-alerts.ts'
import type { Cause } from './compare-causes.ts'
import type { AlertEnding } from './describe-alert.ts'

/** The strongest unknown signal near a channel. */
export interface NearCarrier {
  readonly khz: number
  readonly dbm: number
  /** The frequency of the channel. */
  readonly nearKhz: number
  readonly source: string
  readonly sweepSeconds: number | null
}

export interface CarrierContext {
  carrierNear(channelId: number): NearCarrier | null
  /** True until it is known whether a signal from before a restart is still there. */
  readonly isSettling: boolean
  readonly isInhibited: boolean
}

export function listCarrierCauses(receiver: Receiver, context: CarrierContext): readonly Cause[] {
  return receiver.channels.flatMap((channel): Cause[] => {
    const near = context.carrierNear(channel.id)
    if (near === null) return []
    return [
      toCauseOf('unknown_carrier', receiver, channel, context.isInhibited, {
        carrier_mhz: formatMhz(near.khz),
        carrier_dbm: near.dbm,
        near_mhz: formatMhz(near.nearKhz),
        sweep_source: near.source,
        ...(near.sweepSeconds !== null && { sweep_seconds: Math.round(near.sweepSeconds * 10) / 10 }),
      }),
    ]
  })
}

export function carrierAlertEnding(
  receiver: Receiver,
  { channel_id }: Alert,
  { isSettling, isInhibited }: CarrierContext,
): AlertEnding | null {
  if (!receiver.channels.some(({ id }) => id === channel_id)) return 'unmonitored'
  return isInhibited || isSettling ? null : 'resolved'
}
