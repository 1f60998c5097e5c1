/**
 * A device that speaks by datagrams, as a source: its list is the one device, and its subscription tells everything. What
 * is said when, and what comes of the answers, is a dialogue without socket or clock; here it is held.
 */

import type { Observation } from '../../model/receiver.ts'
import { openDatagrams } from '../../upstream/datagrams.ts'
import type { Link } from '../../upstream/link.ts'
import { connectionTrouble } from '../../upstream/trouble.ts'
import { defineForm, type Form, type PushEvent, toldAtOnce, type UpstreamDevice } from '../plugin.ts'

export interface Dialogue {
  /** What is to be said at this time (of a clock that nobody sets). */
  turn(now: number): readonly string[]
  /** When `turn` is to be asked again, though nothing was heard. */
  readonly nextTurnAt: number
  /** Null where the datagram told something; else why it means nothing. */
  hear(text: string, now: number): string | null
  /** The device so far; null before it is known who it is. */
  observe(): Observation | null
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
  readonly observation: Observation
}

/** Field experience with all of them: levels come several times a second, and so long without any is a loss. */
const mostSilentMs = 15_000
/** What a device has not told so long after it began is not waited for. */
const completeMs = 3000
const tickMs = 1000

export function datagramForm(manners: Manners): Form {
  return defineForm<DatagramDevice>({
    async listDevices(link, signal) {
      for await (const { observation } of hold(link, manners, signal)) {
        if (observation !== null) return { devices: [{ id: observation.id, observation }], malformed: 0 }
      }
      signal?.throwIfAborted()
      throw new link.errors.ApiError(`${new URL(link.settings.baseUrl).host} tells nothing`)
    },
    ...toldAtOnce,
    transformDeviceData: ({ observation }) => observation,

    transport: 'udp',
    tellsAll: true,
    async *subscribe(link, _interest, signal): AsyncGenerator<PushEvent> {
      let isOpen = false
      for await (const { observation, ignored } of hold(link, manners, signal)) {
        if (observation === null) continue
        if (!isOpen) yield { type: 'open' }
        isOpen = true
        for (const reason of ignored) yield { type: 'ignored', reason }
        yield { type: 'told', observation, isWhole: true }
      }
    },
    // The device's own word, before that of a system that speaks for many.
    rank: 1,
    idPrefix: manners.idPrefix,
  })
}

interface Heard {
  /** The whole device; null while what is asked for at the beginning is not answered. */
  readonly observation: Observation | null
  /** Why datagrams mean nothing. */
  readonly ignored: readonly string[]
}

/** Whenever something was heard. Ends quietly on abort, throws the manufacturer's ApiError when the device is lost. */
async function* hold(link: Link, manners: Manners, signal: AbortSignal | undefined): AsyncGenerator<Heard> {
  const { host, hostname, port } = new URL(link.settings.baseUrl)
  const { name = null, silentStreamMs = mostSilentMs } = link.settings
  const ended = new AbortController()
  const lifetime = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal])
  let dialogue: Dialogue | undefined
  let heardAt = Number.POSITIVE_INFINITY
  let trouble: unknown
  try {
    const talk = await openDatagrams(link, {
      signal: lifetime,
      silentMs: Math.min(mostSilentMs, silentStreamMs),
      farewell: () => dialogue?.farewell(),
      ...(manners.answersToItsOwnPort && { localPort: Number(port) }),
    })
    const holding = manners.start({ host: hostname, ip: talk.remoteAddress, name })
    dialogue = holding
    const speaking = createSpeaker(link, holding, (text) => talk.send(text))
    speaking.untilAborted(lifetime).catch((error) => {
      trouble = error
      ended.abort()
    })
    for await (const texts of talk.messages) {
      const reasons = texts.map((text) => holding.hear(text, performance.now()))
      if (holding.refusal !== null)
        throw new link.errors.ApiError(`${host}: ${holding.refusal}`, { answer: 'unusable' })
      const observation = holding.observe()
      if (observation !== null) heardAt = Math.min(heardAt, performance.now())
      const isReady = holding.isComplete || performance.now() > heardAt + completeMs
      yield { observation: isReady ? observation : null, ignored: reasons.filter((reason) => reason !== null) }
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
function createSpeaker(link: Link, dialogue: Dialogue, send: (text: string) => Promise<void>) {
  const { baseUrl, timeoutMs } = link.settings
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
        throw new link.errors.ApiError(connectionTrouble({ code: 'DEADLINE' }, new URL(baseUrl).host, timeoutMs))
      }
    },
    /** Something was heard: perhaps it is time to answer. */
    look(): void {
      if (dialogue.nextTurnAt <= performance.now()) wake()
    },
  }
}
