/** Converts the state of an ew G3, G4 or 2000 series device to the common format. Pure. */

import type { ChannelDetails, TransmitterDetails } from '../../../domain/equipment/details.ts'
import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import type { DeviceEndpoint } from '../datagram-session.ts'
import { type McpFacts, percentToDbfs, percentToDbm } from './codec.ts'

export const idPrefix = 'mcp:'

/** Converts what is known. These devices report no serial number, MAC address or model: the address identifies them. */
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
  return {
    channel: 1,
    ...(name !== undefined && { name: name || null }),
    ...(frequencyKhz !== undefined && { frequency: (frequencyKhz / 1000).toFixed(3) }),
    ...(rfPercent !== undefined && { rf_level: toRfLevel(rfPercent) }),
    ...(afPercent !== undefined && { audio_level: toAudioLevel(afPercent) }),
    ...toTransmitter(facts),
    details: {
      ...(rf1Percent !== undefined && { rf_a: toRfLevel(rf1Percent) }),
      ...(rf2Percent !== undefined && { rf_b: toRfLevel(rf2Percent) }),
      ...(activeAntenna && { antennas: activeAntenna === 1 ? 'A' : 'B' }),
      ...(afPeakPercent !== undefined && { audio_peak: toAudioLevel(afPeakPercent) }),
      ...(muted !== undefined && { muted }),
      ...toWarnings(facts),
    },
  }
}

/** Converts the warnings. An SR receives no RF, so `rf_low` does not apply. */
function toWarnings({ kind, warnings }: Partial<McpFacts>): Pick<ChannelDetails, 'overload' | 'rf_low'> {
  if (warnings === undefined) return {}
  return {
    overload: warnings.includes('AF_Peak'),
    ...(kind === 'EM' && { rf_low: warnings.includes('Low_RF_Signal') }),
  }
}

function toRfLevel(percent: number): number {
  return Math.round(percentToDbm(percent))
}

function toAudioLevel(percent: number): number {
  return Math.min(0, Math.round(percentToDbfs(percent)))
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
