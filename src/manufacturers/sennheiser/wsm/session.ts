/** Session with an ew G3 receiver whose firmware is older than 1.7 and does not support MCP. Pure. */

import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import type { Beacon } from '../../plugin.ts'
import { createDatagramAdapter, type DatagramSession, type DeviceEndpoint } from '../datagram-session.ts'
import { idPrefix as mcpIdPrefix } from '../mcp/translate.ts'
import { toMhz } from '../values.ts'
import {
  formatConfigurationRequest,
  formatRegistration,
  identityRequest,
  parseWsmMessage,
  toModelName,
  type WsmConfiguration,
  type WsmIdentity,
  type WsmMeters,
} from './codec.ts'
import { fields } from './fields.ts'

const idPrefix = 'wsm:'

/** The device forgets a client after about five seconds. */
const registerEveryMs = 2000
/** The device pushes changes. The request is repeated in case such a datagram was lost. */
const requestConfigurationEveryMs = 30_000

/** The last report of each kind. */
type Facts = Partial<Readonly<{ identity: WsmIdentity; configuration: WsmConfiguration; meters: WsmMeters }>>

export const wsm = createDatagramAdapter({
  createSession: createWsmSession,
  idPrefix,
  repliesToFixedPort: true,
  isBinary: true,
  // Its meters contain no levels that are read.
  levels: () => ({ rf: null, audio: null }),
})

export function createWsmSession(endpoint: DeviceEndpoint, localIp: string): DatagramSession {
  let facts: Facts = {}
  let registeredAt = Number.NEGATIVE_INFINITY
  let configuredAt = Number.NEGATIVE_INFINITY
  return {
    get nextSendAt() {
      return registeredAt + registerEveryMs
    },
    takeDueMessages(now) {
      if (now < registeredAt + registerEveryMs) return []
      registeredAt = now
      const registration = formatRegistration(localIp)
      const isConfigured = facts.configuration !== undefined && now < configuredAt + requestConfigurationEveryMs
      return isConfigured ? [registration] : [registration, formatConfigurationRequest(localIp)]
    },
    receive(text, now) {
      const message = parseWsmMessage(text)
      if (message === null) return 'a datagram could not be parsed'
      if (message.type === 'configuration') configuredAt = now
      if (message.type !== 'other') facts = { ...facts, [message.type]: message }
      return null
    },
    getReport: () => toDeviceReport(facts, endpoint),
    markReported() {},
    get isComplete() {
      return facts.configuration !== undefined && facts.meters !== undefined
    },
    rejection: null,
    // The device forgets a client that no longer registers.
    createUnsubscribeMessage: () => undefined,
  }
}

/** Returns null until the configuration is known. */
function toDeviceReport({ identity, configuration, meters }: Facts, endpoint: DeviceEndpoint): DeviceReport | null {
  if (configuration === undefined) return null
  const { mac, name } = configuration
  return withoutUndefined({
    id: idPrefix + (mac ?? endpoint.host),
    kind: 'receiver' as const,
    name: name || endpoint.name || endpoint.host,
    device_type: 'ew',
    model_name: identity && toModelName(identity.model),
    mac_address: mac ?? undefined,
    online: true,
    ip: endpoint.ip,
    channels: [toChannel(configuration, meters)],
  })
}

function toChannel({ name, frequencyKhz, isMuted }: WsmConfiguration, meters: WsmMeters | undefined): ChannelReading {
  return withoutUndefined({
    channel: 1,
    name: name || null,
    frequency: toMhz(frequencyKhz),
    transmitter: meters && toTransmitter(meters),
    details: {
      muted: isMuted,
      ...(meters && { antennas: fields.antenna.read(meters.antenna) ?? null }),
    },
  })
}

/** The battery also shows the presence of a transmitter. */
function toTransmitter({ battery }: WsmMeters): ChannelReading['transmitter'] {
  return battery === 0 ? null : { battery: fields.battery.read(battery) ?? null }
}

export const wsmPort = 8133

/**
 * Finds ew G3 and G4 devices by their answer to a request of Wireless Systems Manager, which they also send every few
 * seconds without a request. Sources: as in `codec.ts`, and the search of two public projects that found G3 and G4.
 */
export const beacon: Beacon = {
  // The group is that of mDNS, but the port and the messages differ.
  group: { address: '224.0.0.251', port: wsmPort },
  request: identityRequest,
  ports: { 'wsm:': wsmPort },
  read(datagram, ip) {
    const message = parseWsmMessage(datagram.toString('latin1'))
    if (message?.type !== 'identity') return null
    const { model, mac } = message
    // The answer does not contain the firmware version. A G3 receiver that also answers over MCP is listed with MCP.
    const scheme = /^EM\d+G3$/.test(model) ? 'wsm:' : 'mcp:'
    return {
      scheme,
      id: scheme === 'wsm:' ? idPrefix + (mac ?? ip) : mcpIdPrefix + ip,
      device_type: /^EM/.test(model) ? 'ew' : 'ew-iem',
      model: toModelName(model),
      mac_address: mac,
      channels: 1,
    }
  },
}
