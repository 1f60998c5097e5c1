/** Session with an ew G3, G4 or 2000 series device. Pure. */

import { createMisfits } from '../../../upstream/field-table.ts'
import { createDatagramAdapter, type DatagramSession, type DeviceEndpoint } from '../datagram-session.ts'
import { formatLine, formatPushLine, keywordOf, type McpFacts, type McpMessage, parseDatagram } from './codec.ts'
import { fields } from './fields.ts'
import { idPrefix, toDeviceReport } from './translate.ts'

/**
 * Some firmware drops a subscription long before its end while RF is muted. It is therefore renewed at this interval,
 * and once in each silence, before the levels count as lost.
 */
const renewEveryMs = 8000
const renewAfterSilenceMs = 2500
/** Interval of requests until the first response. Datagrams may be lost, but a silent device must not be flooded. */
const retryEveryMs = 2500
/**
 * The lifetime allows for one lost renewal. It is short, so that the device stops sending soon after Micwatch stops.
 */
const subscription = { timeoutS: 20, cycleMs: 500, withConfiguration: true }
const sampled = { kind: 'sampled', intervalMs: subscription.cycleMs } as const

/** These devices reply to their own port number instead of the source port of the request. */
export const mcp = createDatagramAdapter({
  createSession: createMcpSession,
  idPrefix,
  repliesToFixedPort: true,
  levels: (deviceType) => ({ rf: deviceType === 'ew' ? sampled : null, audio: sampled }),
})

export function createMcpSession(endpoint: DeviceEndpoint): DatagramSession {
  let facts: Partial<McpFacts> = {}
  let nextRequestAt = Number.NEGATIVE_INFINITY
  let requestedAt = Number.NEGATIVE_INFINITY
  /** When the device counts as silent; infinity if it has been queried since. */
  let silentAt = Number.POSITIVE_INFINITY
  const misfits = createMisfits(endpoint.host, fields)
  const refused = new Map<string, string>()
  let problems = misfits.list()

  function updateProblems({ keywords, errors, ignored }: McpMessage): void {
    for (const keyword of keywords) refused.delete(keyword)
    for (const { code, text, command } of errors) refused.set(keywordOf(command) || 'a command', `${code} ${text}`)
    const changes = [
      misfits.setRefused(refused),
      misfits.check(keywords.map((keyword) => [`${keyword} 1`, null, keyword])),
      // A malformed line is reported under its keyword.
      misfits.check(ignored.map((line) => [keywordOf(line).replace(/\d/, '*'), line, keywordOf(line)])),
    ]
    if (changes.includes(true)) problems = misfits.list()
  }

  return {
    get problems() {
      return problems
    },
    get nextSendAt() {
      return Math.min(nextRequestAt, silentAt)
    },
    takeDueMessages(now) {
      if (now < nextRequestAt && now < silentAt) return []
      requestedAt = now
      silentAt = Number.POSITIVE_INFINITY
      nextRequestAt = now + (facts.configIndex === undefined ? retryEveryMs : renewEveryMs)
      const push = formatPushLine(subscription)
      return facts.firmware === undefined ? [push, formatLine('FirmwareRevision')] : [push]
    },
    receive(text, now) {
      const message = parseDatagram(text)
      const isConfigurationChanged =
        facts.configIndex !== undefined && (message.facts.configIndex ?? facts.configIndex) !== facts.configIndex
      facts = { ...facts, ...message.facts }
      updateProblems(message)
      if (message.facts.afPercent !== undefined) silentAt = now + renewAfterSilenceMs
      // Requests the configuration again in case the datagram with the change was lost.
      if (isConfigurationChanged) nextRequestAt = Math.max(now, requestedAt + 1000)
      const [error] = message.errors
      if (Object.keys(message.facts).length > 0) return null
      if (error !== undefined) return `rejected: ${error.code} ${error.text} (${error.command})`
      return message.ignored.length > 0 ? 'a line could not be parsed' : null
    },
    getReport: () => (facts.configIndex === undefined ? null : toDeviceReport(facts, endpoint)),
    markReported() {
      facts = withoutLevels(facts)
    },
    get isComplete() {
      const { configIndex, name, frequencyKhz, firmware } = facts
      return [configIndex, name, frequencyKhz, firmware].every((fact) => fact !== undefined)
    },
    get rejection() {
      const reason = facts.configIndex === undefined ? refused.get('Push') : undefined
      return reason === undefined ? null : `the device rejects the subscription (${reason})`
    },
    createUnsubscribeMessage: () => formatPushLine({ timeoutS: 0, cycleMs: 0, withConfiguration: false }),
  }
}

function withoutLevels(facts: Partial<McpFacts>): Partial<McpFacts> {
  const { rfPercent, rf1Percent, rf2Percent, activeAntenna, afPercent, afPeakPercent, ...others } = facts
  return others
}
