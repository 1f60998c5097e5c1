/** What an ew G3, G4 or 2000 series device told -> the common format. Pure. */

import type { ChannelReading, Observation } from '../../../model/receiver.ts'
import { afDbfs, type McpFacts, rfDbm } from './codec.ts'

/** It knows neither serial nor MAC nor model: its address is all there is to tell it by. */
export function toObservation(facts: Partial<McpFacts>, host: string, ip: string | null): Observation {
  const { kind, name, firmware, configIndex } = facts
  const hasSpoken = configIndex !== undefined || name !== undefined
  return {
    id: `mcp:${host}`,
    kind: 'receiver',
    name: name || host,
    device_type: kind === 'SR' ? 'ew-iem' : 'ew',
    model_name: null,
    online: hasSpoken,
    ip,
    ...(firmware !== undefined && { firmware_version: firmware }),
    channels: [toChannel(facts)],
  }
}

function toChannel(facts: Partial<McpFacts>): ChannelReading {
  const { name, frequencyKhz, rfPercent, afPercent } = facts
  return {
    channel: 1,
    ...(name !== undefined && { name: name || null }),
    ...(frequencyKhz !== undefined && { frequency: (frequencyKhz / 1000).toFixed(3) }),
    ...(rfPercent !== undefined && { rf_level: Math.round(rfDbm(rfPercent)) }),
    ...(afPercent !== undefined && { audio_level: Math.min(0, Math.round(afDbfs(afPercent))) }),
    ...toTransmitter(facts),
  }
}

/** A battery's telegram or a pilot tone says that somebody sends; an SR hears nobody. */
function toTransmitter({ kind, batteryPercent, hasPilot }: Partial<McpFacts>): Pick<ChannelReading, 'transmitter'> {
  if (kind !== 'EM' || batteryPercent === undefined) return {}
  const isPresent = batteryPercent !== null || hasPilot === true
  return { transmitter: isPresent ? { battery: batteryPercent } : null }
}
