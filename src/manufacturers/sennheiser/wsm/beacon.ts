/**
 * Finds ew G3 and G4 devices by their answer to a request of Wireless Systems Manager, which they also send every few
 * seconds without a request. Sources: as in `codec.ts`, and the search of two public projects that found G3 and G4.
 */

import type { Beacon } from '../../plugin.ts'
import { idPrefix as mcpIdPrefix } from '../mcp/translate.ts'
import { identityRequest, parseWsmMessage, toModelName } from './codec.ts'
import { idPrefix } from './session.ts'

export const wsmPort = 8133

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
