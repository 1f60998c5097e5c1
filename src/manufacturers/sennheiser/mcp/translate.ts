/** Converts the state of an ew G3, G4 or 2000 series device to the common format. Pure. */

import type {
  ChannelDetails,
  ChannelReading,
  DeviceReport,
  TransmitterDetails,
} from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import type { DeviceEndpoint } from '../datagram-session.ts'
import { toMhz } from '../values.ts'
import type { McpFacts } from './codec.ts'
import { fields } from './fields.ts'

export const idPrefix = 'mcp:'

/** These devices report no serial number, MAC address or model, so the address identifies them. */
export function toDeviceReport(
  facts: Partial<McpFacts>,
  { host, ip, name: configuredName }: DeviceEndpoint,
): DeviceReport {
  const { kind, name, firmware } = facts
  return {
    id: idPrefix + host,
    kind: 'receiver',
    name: name || configuredName || host,
    device_type: kind === 'SR' ? 'ew-iem' : 'ew',
    model_name: null,
    online: true,
    ip,
    ...(firmware !== undefined && { firmware_version: firmware }),
    channels: [toChannel(facts)],
  }
}

function toChannel(facts: Partial<McpFacts>): ChannelReading {
  const { name, frequencyKhz, rfPercent, afPercent, afPeakPercent, rf1Percent, rf2Percent, activeAntenna } = facts
  const muted = facts.kind === 'SR' ? (facts.isRfOff ?? facts.isMuted) : (facts.mutes?.rx ?? facts.isMuted)
  return withoutUndefined({
    channel: 1,
    name: fields.name.read(name),
    frequency: toMhz(fields.frequency.read(frequencyKhz)),
    rf_level: fields.rf.read(rfPercent),
    audio_level: fields.audio.read(afPercent),
    ...toTransmitter(facts),
    details: withoutUndefined({
      rf_a: fields.rfOfAntenna.read(rf1Percent),
      rf_b: fields.rfOfAntenna.read(rf2Percent),
      antennas: fields.antenna.read(activeAntenna),
      audio_peak: fields.audioPeak.read(afPeakPercent),
      muted,
      ...toWarnings(facts),
    }),
  })
}

/** An SR receives no RF, so `rf_low` does not apply. */
function toWarnings({ kind, warnings }: Partial<McpFacts>): Pick<ChannelDetails, 'overload' | 'rf_low'> {
  if (warnings === undefined) return {}
  return {
    overload: warnings.includes('AF_Peak'),
    ...(kind === 'EM' && { rf_low: warnings.includes('Low_RF_Signal') }),
  }
}

/**
 * Converts the transmitter of an EM. A battery telegram or a pilot tone shows that one is present. An SR is not a
 * receiver, so it has no transmitter.
 */
function toTransmitter(facts: Partial<McpFacts>): Pick<ChannelReading, 'transmitter'> {
  const { kind, batteryPercent, hasPilot, mutes, warnings } = facts
  if (kind !== 'EM' || batteryPercent === undefined) return {}
  if (batteryPercent === null && hasPilot !== true) return { transmitter: null }
  const muted = mutes && (mutes.tx || warnings?.includes('TX_Mute') === true)
  const details: TransmitterDetails = {
    ...(muted !== undefined && { muted }),
    ...(warnings && { battery_low: warnings.includes('Low_Battery') }),
  }
  return { transmitter: { battery: batteryPercent, ...(Object.keys(details).length > 0 && { details }) } }
}
