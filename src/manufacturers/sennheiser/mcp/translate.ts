/** What an ew G3, G4 or 2000 series device told -> the common format. Pure. */

import type { ChannelReading, Observation } from '../../../model/receiver.ts'
import type { Partner } from '../dialogue.ts'
import { afDbfs, type McpFacts, rfDbm } from './codec.ts'

/** It knows neither serial nor MAC nor model: its address is all there is to tell it by. */
export function toObservation(facts: Partial<McpFacts>, { host, ip, name: given }: Partner): Observation {
  const { kind, name, firmware, configIndex } = facts
  const hasSpoken = configIndex !== undefined || name !== undefined
  return {
    id: `mcp:${host}`,
    kind: 'receiver',
    name: name || given || host,
    device_type: kind === 'SR' ? 'ew-iem' : 'ew',
    model_name: null,
    online: hasSpoken,
    ip,
    ...(firmware !== undefined && { firmware_version: firmware }),
    channels: [toChannel(facts)],
  }
}

function toChannel(facts: Partial<McpFacts>): ChannelReading {
  const { name, frequencyKhz, rfPercent, afPercent, afPeakPercent, antenna1, antenna2, activeAntenna, isMuted } = facts
  return {
    channel: 1,
    ...(name !== undefined && { name: name || null }),
    ...(frequencyKhz !== undefined && { frequency: (frequencyKhz / 1000).toFixed(3) }),
    ...(rfPercent !== undefined && { rf_level: toRfLevel(rfPercent) }),
    ...(afPercent !== undefined && { audio_level: toAudioLevel(afPercent) }),
    ...toTransmitter(facts),
    details: {
      ...(antenna1 && { rf_a: toRfLevel(antenna1.maxPercent) }),
      ...(antenna2 && { rf_b: toRfLevel(antenna2.maxPercent) }),
      ...(activeAntenna && { antennas: activeAntenna === 1 ? 'A' : 'B' }),
      ...(afPeakPercent !== undefined && { audio_peak: toAudioLevel(afPeakPercent) }),
      ...(isMuted !== undefined && { muted: isMuted }),
    },
  }
}

function toRfLevel(percent: number): number {
  return Math.round(rfDbm(percent))
}

function toAudioLevel(percent: number): number {
  return Math.min(0, Math.round(afDbfs(percent)))
}

/** A battery's telegram or a pilot tone says that somebody sends; an SR hears nobody. */
function toTransmitter(facts: Partial<McpFacts>): Pick<ChannelReading, 'transmitter'> {
  const { kind, batteryPercent, hasPilot, mutes } = facts
  if (kind !== 'EM' || batteryPercent === undefined) return {}
  const isPresent = batteryPercent !== null || hasPilot === true
  return { transmitter: isPresent ? { battery: batteryPercent, ...(mutes && { details: { muted: mutes.tx } }) } : null }
}
