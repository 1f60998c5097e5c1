/**
 * Monitors an individual device over UDP. The device list has one entry, and the subscription reports the whole device.
 * A `DatagramSession` is pure protocol state; this module connects it to a socket and timers.
 */

import type { DeviceProblem } from '../../domain/equipment/health.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { describeConnectionError } from '../../upstream/errors.ts'
import { openUdpSocket } from '../../upstream/udp.ts'
import {
  defineAdapter,
  type Lights,
  type ProtocolAdapter,
  type PushEvent,
  type SpectrumScanner,
  type UpstreamDevice,
  withoutParts,
} from '../plugin.ts'

export interface DatagramSession {
  /** Returns the messages that are due at `now` (milliseconds of the monotonic clock) and marks them as sent. */
  takeDueMessages(now: number): readonly string[]
  /** When the next message is due if nothing is received before (monotonic clock). */
  readonly nextSendAt: number
  /** Returns why a datagram is ignored, or null. */
  receive(text: string, now: number): string | null
  /**
   * Returns the known state of the device, with the levels since the last `markReported`; null until it is identified.
   */
  getReport(): DeviceReport | null
  /** Reported levels are not reported again. */
  markReported(): void
  /** True if all initial requests have been answered or given up. */
  readonly isComplete: boolean
  /** Refused requests and undocumented values. */
  readonly problems?: readonly DeviceProblem[]
  /** Why the device rejects the subscription, or null. */
  readonly rejection: string | null
  /** Returns undefined if the protocol cannot cancel subscriptions. */
  createUnsubscribeMessage(): string | undefined
}

export interface DeviceEndpoint {
  readonly host: string
  readonly ip: string | null
  /** Used if the device reports no name. */
  readonly name: string | null
}

interface DatagramProtocol {
  /** `localIp` is the address of this machine that sends datagrams to the device. */
  createSession(endpoint: DeviceEndpoint, localIp: string): DatagramSession
  /** Prefix of the device ids. */
  readonly idPrefix: string
  /** True if devices reply to the port on which they listen instead of the source port of the request. */
  readonly repliesToFixedPort?: boolean
  /** True if each character of a message stands for one byte. */
  readonly isBinary?: boolean
  readonly lights?: Lights
  readonly scanner?: SpectrumScanner
  /** The device setting that causes refused datagrams. */
  readonly refusedAdvice?: string
  readonly levels: NonNullable<ProtocolAdapter['levels']>
}

interface DatagramDevice extends UpstreamDevice {
  readonly report: DeviceReport
}

/**
 * Receivers and in-ear transmitters send levels several times a second, and chargers at least answer the renewal of
 * their subscriptions every few seconds. After a silence of this length, the device is lost.
 */
const maxSilenceMs = 15_000
/** The time limit, after the first report, for answers to the remaining initial requests. */
const maxInitialWaitMs = 3000
const maxSleepMs = 1000
const noProblems: readonly DeviceProblem[] = []

export function createDatagramAdapter(protocol: DatagramProtocol): ProtocolAdapter {
  return defineAdapter<DatagramDevice>({
    protocol: protocol.idPrefix.replace(':', ''),
    async listDevices(client, signal) {
      for await (const { report } of runSession(client, protocol, signal)) {
        if (report !== null) return { devices: [{ id: report.id, report }], malformed: 0 }
      }
      signal?.throwIfAborted()
      throw new client.errors.ApiError(`${new URL(client.settings.baseUrl).host} did not identify itself`)
    },
    ...withoutParts,
    transformDeviceData: ({ report }) => report,

    levels: protocol.levels,
    transport: 'udp',
    pushesEverything: true,
    startsWithFullReport: true,
    async *subscribe(client, _targets, signal, _onLevels, onProblems): AsyncGenerator<PushEvent> {
      let isOpen = false
      let known: readonly DeviceProblem[] | undefined
      for await (const { report, ignored, problems } of runSession(client, protocol, signal)) {
        if (report === null) continue
        if (problems !== known) onProblems?.(problems)
        known = problems
        if (!isOpen) yield { type: 'open' }
        isOpen = true
        for (const reason of ignored) yield { type: 'ignored', reason }
        yield { type: 'report', report, isComplete: true }
      }
    },
    // Reports of the device itself take precedence over those of a system that reports many devices.
    precedence: 1,
    idPrefix: protocol.idPrefix,
    ...(protocol.lights && { lights: protocol.lights }),
    ...(protocol.scanner && { scanner: protocol.scanner }),
  })
}

interface SessionUpdate {
  /**
   * Null until all initial requests have been answered or given up, or `maxInitialWaitMs` has passed since the first
   * report.
   */
  readonly report: DeviceReport | null
  /** Reasons why datagrams were ignored. */
  readonly ignored: readonly string[]
  /** The same list as in the previous update if unchanged. */
  readonly problems: readonly DeviceProblem[]
}

/**
 * Runs a session and yields after every batch of received datagrams, and at least every second until everything is
 * reported. Returns without an error on abort; throws the manufacturer's ApiError when the device is lost.
 */
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
  let isReady = false
  let senderError: unknown
  try {
    const socket = await openUdpSocket(client, {
      signal: lifetime,
      silentMs: Math.min(maxSilenceMs, streamTimeoutMs),
      closingMessage: () => session?.createUnsubscribeMessage(),
      ...(protocol.repliesToFixedPort && { localPort: Number(port) }),
      ...(protocol.isBinary && { encoding: 'latin1' }),
      ...(protocol.refusedAdvice !== undefined && { refusedAdvice: protocol.refusedAdvice }),
    })
    const { remoteAddress: ip, localAddress } = socket
    const activeSession = protocol.createSession({ host: hostname, ip, name }, localAddress)
    session = activeSession
    const onWake = () => {
      // A device may send nothing as long as it is asked only for what it does not have.
      if (!isReady) socket.nudge()
    }
    const sender = createSender(client, activeSession, { send: (text) => socket.send(text), onWake })
    sender.untilAborted(lifetime).catch((error) => {
      senderError = error
      ended.abort()
    })
    for await (const texts of socket.messages) {
      const reasons = texts.map((text) => activeSession.receive(text, performance.now()))
      if (activeSession.rejection !== null)
        throw new client.errors.ApiError(`${host}: ${activeSession.rejection}`, { failureKind: 'unusable' })
      const report = activeSession.getReport()
      if (report !== null) firstReportAt = Math.min(firstReportAt, performance.now())
      isReady ||= activeSession.isComplete || performance.now() > firstReportAt + maxInitialWaitMs
      if (isReady) activeSession.markReported()
      yield {
        report: isReady ? report : null,
        ignored: reasons.filter((reason) => reason !== null),
        problems: activeSession.problems ?? noProblems,
      }
      sender.wakeIfDue()
    }
    if (senderError !== undefined && !signal?.aborted) throw senderError
  } catch (error) {
    if (!signal?.aborted) throw error
  } finally {
    ended.abort()
  }
}

/** Fails if the device is not identified within the source's timeout. */
function createSender(
  client: UpstreamClient,
  session: DatagramSession,
  { send, onWake }: { send(text: string): Promise<void>; onWake(): void },
) {
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
        onWake()
        if (session.getReport() !== null || performance.now() < giveUpAt) continue
        throw new client.errors.ApiError(
          describeConnectionError({ code: 'DEADLINE' }, new URL(baseUrl).host, timeoutMs),
        )
      }
    },
    /** Sends messages that became due because of received data. */
    wakeIfDue(): void {
      if (session.nextSendAt <= performance.now()) wake()
    },
  }
}
