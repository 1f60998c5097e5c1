/**
 * A device that speaks by datagrams, as a source: its list is the one device, and its subscription tells everything. What
 * is said when, and what comes of the answers, is a dialogue without socket or clock; here it is held.
 */

import type { DeviceReport } from '../../model/receiver.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import { describeConnectionError } from '../../upstream/error-messages.ts'
import { openUdpSocket } from '../../upstream/udp.ts'
import { defineAdapter, type ProtocolAdapter, type PushEvent, type UpstreamDevice, withoutParts } from '../plugin.ts'

export interface Dialogue {
  /** What is to be said at this time (of a clock that nobody sets). */
  turn(now: number): readonly string[]
  /** When `turn` is to be asked again, though nothing was heard. */
  readonly nextTurnAt: number
  /** Null where the datagram told something; else why it means nothing. */
  hear(text: string, now: number): string | null
  /** The device so far; null before it is known who it is. */
  observe(): DeviceReport | null
  /** Everything that is asked for at the beginning has been answered, or refused. */
  readonly isComplete: boolean
  /** The device does not want to talk to us, as a sentence; null when it does. */
  readonly refusal: string | null
  /** Ends what was subscribed. */
  farewell(): string
}

/** Whom we talk to. */
export interface Partner {
  readonly host: string
  readonly ip: string | null
  /** What people call it; for one that tells no name of its own. */
  readonly name: string | null
}

interface Manners {
  start(partner: Partner): Dialogue
  /** How its devices' ids begin. */
  readonly idPrefix: string
  /** It answers to our port of the same number, not to the one it was asked from. */
  readonly answersToItsOwnPort?: boolean
}

interface DatagramDevice extends UpstreamDevice {
  readonly report: DeviceReport
}

/** Field experience with all of them: levels come several times a second, and so long without any is a loss. */
const mostSilentMs = 15_000
/** What a device has not told so long after it began is not waited for. */
const completeMs = 3000
const tickMs = 1000

export function datagramForm(manners: Manners): ProtocolAdapter {
  return defineAdapter<DatagramDevice>({
    async listDevices(client, signal) {
      for await (const { report } of hold(client, manners, signal)) {
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
      for await (const { report, ignored } of hold(client, manners, signal)) {
        if (report === null) continue
        if (!isOpen) yield { type: 'open' }
        isOpen = true
        for (const reason of ignored) yield { type: 'ignored', reason }
        yield { type: 'told', report, isComplete: true }
      }
    },
    // The device's own word, before that of a system that speaks for many.
    precedence: 1,
    idPrefix: manners.idPrefix,
  })
}

interface Heard {
  /** The whole device; null while what is asked for at the beginning is not answered. */
  readonly report: DeviceReport | null
  /** Why datagrams mean nothing. */
  readonly ignored: readonly string[]
}

/** Whenever something was heard. Ends quietly on abort, throws the manufacturer's ApiError when the device is lost. */
async function* hold(client: UpstreamClient, manners: Manners, signal: AbortSignal | undefined): AsyncGenerator<Heard> {
  const { host, hostname, port } = new URL(client.settings.baseUrl)
  const { name = null, streamTimeoutMs = mostSilentMs } = client.settings
  const ended = new AbortController()
  const lifetime = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal])
  let dialogue: Dialogue | undefined
  let heardAt = Number.POSITIVE_INFINITY
  let trouble: unknown
  try {
    const talk = await openUdpSocket(client, {
      signal: lifetime,
      silentMs: Math.min(mostSilentMs, streamTimeoutMs),
      farewell: () => dialogue?.farewell(),
      ...(manners.answersToItsOwnPort && { localPort: Number(port) }),
    })
    const holding = manners.start({ host: hostname, ip: talk.remoteAddress, name })
    dialogue = holding
    const speaking = createSpeaker(client, holding, (text) => talk.send(text))
    speaking.untilAborted(lifetime).catch((error) => {
      trouble = error
      ended.abort()
    })
    for await (const texts of talk.messages) {
      const reasons = texts.map((text) => holding.hear(text, performance.now()))
      if (holding.refusal !== null)
        throw new client.errors.ApiError(`${host}: ${holding.refusal}`, { failureKind: 'unusable' })
      const report = holding.observe()
      if (report !== null) heardAt = Math.min(heardAt, performance.now())
      const isReady = holding.isComplete || performance.now() > heardAt + completeMs
      yield { report: isReady ? report : null, ignored: reasons.filter((reason) => reason !== null) }
      speaking.look()
    }
    if (trouble !== undefined && !signal?.aborted) throw trouble
  } catch (error) {
    if (!signal?.aborted) throw error
  } finally {
    ended.abort()
  }
}

/** Says what is to be said when it is time; gives up a device that has not told who it is within the link's patience. */
function createSpeaker(client: UpstreamClient, dialogue: Dialogue, send: (text: string) => Promise<void>) {
  const { baseUrl, timeoutMs } = client.settings
  let wake = () => {}
  const rest = (ms: number) =>
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
        for (const text of dialogue.turn(performance.now())) await send(text)
        await rest(Math.min(dialogue.nextTurnAt - performance.now(), tickMs))
        if (dialogue.observe() !== null || performance.now() < giveUpAt) continue
        throw new client.errors.ApiError(
          describeConnectionError({ code: 'DEADLINE' }, new URL(baseUrl).host, timeoutMs),
        )
      }
    },
    /** Something was heard: perhaps it is time to answer. */
    look(): void {
      if (dialogue.nextTurnAt <= performance.now()) wake()
    },
  }
}
