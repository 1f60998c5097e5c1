/**
 * A device that speaks by datagrams, as a source: its list is the one device, and its subscription tells everything. What
 * is said when, and what comes of the answers, is a dialogue without socket or clock; here it is held.
 */

import type { DeviceReport } from '../../model/receiver.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { describeConnectionError } from '../../upstream/error-messages.ts'
import { openUdpSocket } from '../../upstream/udp.ts'
import { defineAdapter, type ProtocolAdapter, type PushEvent, type UpstreamDevice, withoutParts } from '../plugin.ts'

export interface DatagramSession {
  /** What is to be said at this time (of a clock that nobody sets). */
  takeDueMessages(now: number): readonly string[]
  /** When `turn` is to be asked again, though nothing was heard. */
  readonly nextSendAt: number
  /** Null where the datagram told something; else why it means nothing. */
  receive(text: string, now: number): string | null
  /** The device so far; null before it is known who it is. */
  getReport(): DeviceReport | null
  /** Everything that is asked for at the beginning has been answered, or refused. */
  readonly isComplete: boolean
  /** The device does not want to talk to us, as a sentence; null when it does. */
  readonly rejection: string | null
  /** Ends what was subscribed. */
  createUnsubscribeMessage(): string
}

/** Whom we talk to. */
export interface DeviceEndpoint {
  readonly host: string
  readonly ip: string | null
  /** What people call it; for one that tells no name of its own. */
  readonly name: string | null
}

interface DatagramProtocol {
  createSession(endpoint: DeviceEndpoint): DatagramSession
  /** How its devices' ids begin. */
  readonly idPrefix: string
  /** It answers to our port of the same number, not to the one it was asked from. */
  readonly repliesToFixedPort?: boolean
}

interface DatagramDevice extends UpstreamDevice {
  readonly report: DeviceReport
}

/** Field experience with all of them: levels come several times a second, and so long without any is a loss. */
const maxSilenceMs = 15_000
/** What a device has not told so long after it began is not waited for. */
const maxInitialWaitMs = 3000
const maxSleepMs = 1000

export function createDatagramAdapter(protocol: DatagramProtocol): ProtocolAdapter {
  return defineAdapter<DatagramDevice>({
    async listDevices(client, signal) {
      for await (const { report } of runSession(client, protocol, signal)) {
        if (report !== null) return { devices: [{ id: report.id, report }], malformed: 0 }
      }
      signal?.throwIfAborted()
      throw new client.errors.ApiError(`${new URL(client.settings.baseUrl).host} tells nothing`)
    },
    ...withoutParts,
    transformDeviceData: ({ report }) => report,

    transport: 'udp',
    pushesEverything: true,
    async *subscribe(client, _interest, signal): AsyncGenerator<PushEvent> {
      let isOpen = false
      for await (const { report, ignored } of runSession(client, protocol, signal)) {
        if (report === null) continue
        if (!isOpen) yield { type: 'open' }
        isOpen = true
        for (const reason of ignored) yield { type: 'ignored', reason }
        yield { type: 'told', report, isComplete: true }
      }
    },
    // The device's own word, before that of a system that speaks for many.
    precedence: 1,
    idPrefix: protocol.idPrefix,
  })
}

interface SessionUpdate {
  /** The whole device; null while what is asked for at the beginning is not answered. */
  readonly report: DeviceReport | null
  /** Why datagrams mean nothing. */
  readonly ignored: readonly string[]
}

/** Whenever something was heard. Ends quietly on abort, throws the manufacturer's ApiError when the device is lost. */
async function* runSession(
  client: UpstreamClient,
  protocol: DatagramProtocol,
  signal: AbortSignal | undefined,
): AsyncGenerator<SessionUpdate> {
  const { host, hostname, port } = new URL(client.settings.baseUrl)
  const { name = null, streamTimeoutMs = maxSilenceMs } = client.settings
  const ended = new AbortController()
  const lifetime = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal])
  let session: DatagramSession | undefined
  let firstReportAt = Number.POSITIVE_INFINITY
  let senderError: unknown
  try {
    const socket = await openUdpSocket(client, {
      signal: lifetime,
      silentMs: Math.min(maxSilenceMs, streamTimeoutMs),
      farewell: () => session?.createUnsubscribeMessage(),
      ...(protocol.repliesToFixedPort && { localPort: Number(port) }),
    })
    const activeSession = protocol.createSession({ host: hostname, ip: socket.remoteAddress, name })
    session = activeSession
    const sender = createSender(client, activeSession, (text) => socket.send(text))
    sender.untilAborted(lifetime).catch((error) => {
      senderError = error
      ended.abort()
    })
    for await (const texts of socket.messages) {
      const reasons = texts.map((text) => activeSession.receive(text, performance.now()))
      if (activeSession.rejection !== null)
        throw new client.errors.ApiError(`${host}: ${activeSession.rejection}`, { answer: 'unusable' })
      const report = activeSession.getReport()
      if (report !== null) firstReportAt = Math.min(firstReportAt, performance.now())
      const isReady = activeSession.isComplete || performance.now() > firstReportAt + maxInitialWaitMs
      yield { report: isReady ? report : null, ignored: reasons.filter((reason) => reason !== null) }
      sender.look()
    }
    if (senderError !== undefined && !signal?.aborted) throw senderError
  } catch (error) {
    if (!signal?.aborted) throw error
  } finally {
    ended.abort()
  }
}

/** Says what is to be said when it is time; gives up a device that has not told who it is within the link's patience. */
function createSender(client: UpstreamClient, session: DatagramSession, send: (text: string) => Promise<void>) {
  const { baseUrl, timeoutMs } = client.settings
  let wake = () => {}
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => wake(), Math.max(0, ms))
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    async untilAborted(signal: AbortSignal): Promise<void> {
      const giveUpAt = performance.now() + timeoutMs
      signal.addEventListener('abort', () => wake(), { once: true })
      while (!signal.aborted) {
        for (const text of session.takeDueMessages(performance.now())) await send(text)
        await sleep(Math.min(session.nextSendAt - performance.now(), maxSleepMs))
        if (session.getReport() !== null || performance.now() < giveUpAt) continue
        throw new client.errors.ApiError(
          describeConnectionError({ code: 'DEADLINE' }, new URL(baseUrl).host, timeoutMs),
        )
      }
    },
    /** Something was heard: perhaps it is time to answer. */
    look(): void {
      if (session.nextSendAt <= performance.now()) wake()
    },
  }
}
