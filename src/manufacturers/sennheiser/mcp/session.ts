/** What is said to an ew G3, G4 or 2000 series device, and when. Pure. */

import { createDatagramAdapter, type DatagramSession, type DeviceEndpoint } from '../datagram-session.ts'
import { formatLine, formatPushLine, type McpFacts, parseDatagram } from './codec.ts'
import { idPrefix, toDeviceReport } from './translate.ts'

/** Some firmware forgets a subscription long before its end while RF is muted: asked for again this often. */
const renewEveryMs = 8000
/** A first question may be lost on its way; silent devices are not to be asked often. */
const retryEveryMs = 2500
/** Two renewals may be lost; who is gone is not sent to for long. */
const subscription = { timeoutS: 20, cycleMs: 500, withConfiguration: true }

/** Bound to its own port, which is where these devices answer whoever asks. */
export const mcp = createDatagramAdapter({ createSession: createMcpSession, idPrefix, repliesToFixedPort: true })

export function createMcpSession(endpoint: DeviceEndpoint): DatagramSession {
  let facts: Partial<McpFacts> = {}
  let nextRequestAt = Number.NEGATIVE_INFINITY
  let requestedAt = Number.NEGATIVE_INFINITY
  return {
    get nextSendAt() {
      return nextRequestAt
    },
    takeDueMessages(now) {
      if (now < nextRequestAt) return []
      requestedAt = now
      nextRequestAt = now + (facts.configIndex === undefined ? retryEveryMs : renewEveryMs)
      const push = formatPushLine(subscription)
      return facts.firmware === undefined ? [push, formatLine('FirmwareRevision')] : [push]
    },
    receive(text, now) {
      const message = parseDatagram(text)
      const isConfigurationChanged =
        facts.configIndex !== undefined && (message.facts.configIndex ?? facts.configIndex) !== facts.configIndex
      facts = { ...facts, ...message.facts }
      // What changed was told already, unless it was lost.
      if (isConfigurationChanged) nextRequestAt = Math.max(now, requestedAt + 1000)
      const [error] = message.errors
      if (Object.keys(message.facts).length > 0) return null
      if (error !== undefined) return `refused: ${error.code} ${error.text} (${error.command})`
      return message.ignored.length > 0 ? 'a line that means nothing' : null
    },
    getReport: () => (facts.configIndex === undefined ? null : toDeviceReport(facts, endpoint)),
    get isComplete() {
      const { configIndex, name, frequencyKhz, firmware } = facts
      return [configIndex, name, frequencyKhz, firmware].every((fact) => fact !== undefined)
    },
    rejection: null,
    createUnsubscribeMessage: () => formatPushLine({ timeoutS: 0, cycleMs: 0, withConfiguration: false }),
  }
}
