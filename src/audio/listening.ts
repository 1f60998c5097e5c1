/** Who listens to which channel. Only the process that receives audio plays it; all processes know who listens. */

import type { AudioListenerBody } from '../contract/listening.ts'
import type { GrantedPermission } from '../contract/values.ts'
import type { Actor } from '../domain/access/access.ts'
import {
  type AudioMapping,
  findWithheldReason,
  haveMappedChannel,
  type WithheldReason,
} from '../domain/audio/mapping.ts'
import { type Channel, findReceiverOf } from '../domain/equipment/receiver.ts'
import { RequestError } from '../domain/errors.ts'
import { toTimestamp } from '../domain/timestamp.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import { writeAudit } from '../storage/audit.ts'
import type { Database } from '../storage/database.ts'
import type { AudioFrame, AudioStreams } from './audio-streams.ts'
import { SharedListeners } from './shared-listeners.ts'
import type { ListeningRate } from './worker-messages.ts'

interface ListeningConfig {
  readonly listening: boolean
  readonly listening_without_tls: boolean
}

interface Subsystems {
  readonly db: Database
  readonly log: Log
  readonly nodeId: string
  readonly receiverStore: ReceiverStore
  readonly lists: StoredLists
  readonly settings: EffectiveSettings
  readonly audioStreams: AudioStreams
}

export interface ListeningClient {
  readonly actor: Actor
  readonly granted: readonly GrantedPermission[]
  /** Also true on this machine. */
  readonly isTls: boolean
}

export type ListeningTarget = { readonly channel: number } | { readonly stream: number; readonly ch: number }

export interface ListeningSink {
  frame(frame: AudioFrame): void
  /** Called once, unless the listener stops. */
  ended(reason: string): void
}

/** The channel of a stream, and the channel by which it was chosen; null if it was chosen directly. */
interface Resolved {
  readonly channelId: number | null
  readonly streamId: number
  readonly ch: number
}

export class Listening {
  /** Someone has begun or stopped listening. */
  readonly changed = new Topic()
  readonly isEnabled: boolean
  readonly #isTlsNeeded: boolean
  readonly #subsystems: Subsystems
  readonly #listeners = new Set<Listener>()
  readonly #shared: SharedListeners
  #lastId = 0
  #writing: Promise<void> = Promise.resolve()

  constructor({ listening, listening_without_tls }: ListeningConfig, subsystems: Subsystems) {
    this.isEnabled = listening
    this.#isTlsNeeded = !listening_without_tls
    this.#subsystems = subsystems
    this.#shared = new SharedListeners(subsystems)
    this.#shared.changed.subscribe(() => this.changed.publish())
    subsystems.receiverStore.changed.subscribe(({ before, after }) => {
      if (this.#listeners.size === 0 || before?.channels === after?.channels) return
      if (haveMappedChannel([before, after], this.#mappings())) this.#endRefused()
    })
  }

  /** Those of all processes. */
  list(): AudioListenerBody[] {
    return [...this.#listOwn(), ...this.#shared.others]
  }

  /** The listeners of this process. */
  get count(): number {
    return this.#listeners.size
  }

  /** Loads who listens in other processes. */
  async load(): Promise<void> {
    if (this.isEnabled) await this.#shared.load(this.#subsystems.audioStreams.isReceiving)
  }

  /** Throws a RequestError if listening is off. */
  requireEnabled(): void {
    if (!this.isEnabled) throw new RequestError('listening_off')
  }

  /** Throws a RequestError if the client may not listen to anything. */
  requireAllowed(client: Omit<ListeningClient, 'actor'>): void {
    this.requireEnabled()
    this.requireGranted(client)
  }

  /** Throws a RequestError if the client may not listen to sound, neither live nor kept. */
  requireGranted({ granted, isTls }: Omit<ListeningClient, 'actor'>): void {
    if (!granted.includes('listen')) throw new RequestError('listen_not_granted')
    if (this.#isTlsNeeded && !isTls) throw new RequestError('listening_needs_tls')
  }

  /** Throws a RequestError if the client may not listen to this now. */
  async check(client: ListeningClient, target: ListeningTarget): Promise<void> {
    await this.#whenReady(client)
    this.#prepare(client.actor, target)
  }

  /** Throws as `check` does. The sound begins with `start`, and is already in the audit log then. */
  async open(client: ListeningClient, target: ListeningTarget): Promise<Listener> {
    await this.#whenReady(client)
    // From here to the list of listeners, nothing waits, so that requests at once cannot exceed the limits.
    const resolved = this.#prepare(client.actor, target)
    const listener = new Listener(this, this.#subsystems.audioStreams, {
      id: ++this.#lastId,
      actor: client.actor,
      ...resolved,
    })
    this.#listeners.add(listener)
    try {
      await this.#audit(listener, 'listen.start', {})
    } catch (error) {
      this.#listeners.delete(listener)
      throw error
    }
    this.#ownChanged()
    return listener
  }

  /** Called by a listener. */
  stopped(listener: Listener, reason: string): void {
    if (!this.#listeners.delete(listener)) return
    const seconds = Math.round((now() - listener.since) / 1000)
    const written = this.#audit(listener, 'listen.stop', { reason, seconds }).catch((error) =>
      this.#subsystems.log.error(
        { error: String(error) },
        'the end of listening could not be written to the audit log',
      ),
    )
    this.#track(written)
    this.#ownChanged()
  }

  /** Mappings or streams have changed. */
  listsChanged(): void {
    this.#endRefused()
  }

  async close(): Promise<void> {
    for (const listener of [...this.#listeners]) listener.end('stopping')
    await this.#writing
  }

  #listOwn(): AudioListenerBody[] {
    return [...this.#listeners].map((listener) => listener.toBody())
  }

  #ownChanged(): void {
    this.#track(this.#shared.save(this.#listOwn()))
    this.changed.publish()
  }

  #track(written: Promise<void>): void {
    this.#writing = Promise.all([this.#writing, written]).then(() => {})
  }

  async #whenReady(client: ListeningClient): Promise<void> {
    this.requireAllowed(client)
    await this.#subsystems.audioStreams.whenReceiving()
  }

  #prepare(actor: Actor, target: ListeningTarget): Resolved {
    const resolved = this.#resolve(target)
    const reason = this.#withheldFor(resolved)
    if (reason !== null) throw refusalOf(reason)
    this.#requireRoom(actor)
    return resolved
  }

  #resolve(target: ListeningTarget): Resolved {
    if ('stream' in target) {
      const { stream, ch } = target
      const found = this.#subsystems.audioStreams.find(stream)
      if (found === undefined) throw new RequestError('not_found', { subject: `audio stream ${stream}` })
      if (ch > found.channels) {
        throw new RequestError('not_found', { subject: `channel ${ch} of audio stream ${stream}` })
      }
      return { channelId: null, streamId: stream, ch }
    }
    const { channel: id } = target
    if (this.#findChannel(id) === undefined) throw new RequestError('not_found', { subject: `channel ${id}` })
    const mapping = this.#mappings().find(({ channel_id }) => channel_id === id)
    if (mapping === undefined || this.#subsystems.audioStreams.find(mapping.stream_id) === undefined) {
      throw new RequestError('wrong_state', { subject: `Channel ${id} is not mapped to an audio stream.` })
    }
    return { channelId: id, streamId: mapping.stream_id, ch: mapping.channel }
  }

  #mappings(): readonly AudioMapping[] {
    return this.#subsystems.lists.current.audioMappings
  }

  #findChannel(id: number): Channel | undefined {
    const receiver = findReceiverOf(this.#subsystems.receiverStore.listAllFacts(), id)
    return receiver?.channels.find((channel) => channel.id === id)
  }

  /** A stream channel is silenced by each channel that is mapped to it. */
  #withheldFor({ streamId, ch }: Resolved): { readonly reason: WithheldReason; readonly channel: Channel } | null {
    for (const { channel_id, stream_id, channel: number } of this.#mappings()) {
      if (stream_id !== streamId || number !== ch) continue
      const channel = this.#findChannel(channel_id)
      const reason = channel === undefined ? null : findWithheldReason(channel)
      if (channel !== undefined && reason !== null) return { reason, channel }
    }
    return null
  }

  #requireRoom(actor: Actor): void {
    const { MAX_LISTENERS: max, MAX_LISTENERS_PER_PERSON: maxOfPerson } = this.#subsystems.settings.get(null)
    const own = [...this.#listeners].filter(({ actor: other }) => other.kind === actor.kind && other.id === actor.id)
    if (own.length >= maxOfPerson) {
      throw new RequestError('listeners_of_person', { details: `at most ${maxOfPerson} for each person` })
    }
    if (this.#listeners.size >= max) throw new RequestError('listeners_full', { details: `at most ${max} at a time` })
  }

  /** Ends what a listener could no longer begin. */
  #endRefused(): void {
    for (const listener of [...this.#listeners]) {
      const { channelId, streamId, ch } = listener
      const reason = this.#withheldFor(listener)?.reason
      if (reason !== undefined) listener.end(reason)
      else if (channelId !== null && this.#findChannel(channelId) === undefined) listener.end('removed')
      else if (channelId !== null && !this.#isMapped(channelId, streamId, ch)) listener.end('unmapped')
    }
  }

  #isMapped(channelId: number, streamId: number, ch: number): boolean {
    return this.#mappings().some(
      ({ channel_id, stream_id, channel }) => channel_id === channelId && stream_id === streamId && channel === ch,
    )
  }

  #audit(listener: Listener, action: 'listen.start' | 'listen.stop', more: object): Promise<void> {
    const { actor, channelId, streamId, ch } = listener
    const target = channelId === null ? `stream ${streamId} channel ${ch}` : `channel ${channelId}`
    const details = { stream_id: streamId, ch, ...more }
    return this.#subsystems.db.transaction((tx) => writeAudit(tx, { actor, action, target, result: 'ok', details }))
  }
}

interface ListenerFields extends Resolved {
  readonly id: number
  readonly actor: Actor
}

export class Listener {
  readonly id: number
  readonly actor: Actor
  readonly channelId: number | null
  readonly streamId: number
  readonly ch: number
  readonly since = now()
  readonly #listening: Listening
  readonly #streams: AudioStreams
  #sink: ListeningSink | null = null
  #stopStream: (() => void) | null = null
  #reason: string | null = null

  constructor(listening: Listening, streams: AudioStreams, { id, actor, channelId, streamId, ch }: ListenerFields) {
    this.#listening = listening
    this.#streams = streams
    this.id = id
    this.actor = actor
    this.channelId = channelId
    this.streamId = streamId
    this.ch = ch
  }

  /** Sound that was refused since `open` ends at once. */
  start(rate: ListeningRate, sink: ListeningSink): void {
    if (this.#reason !== null) {
      sink.ended(this.#reason)
      return
    }
    this.#sink = sink
    try {
      this.#stopStream = this.#streams.listen(this.streamId, this.ch, rate, {
        onFrame: (frame) => {
          if (this.#reason === null) sink.frame(frame)
        },
        onEnd: (reason) => this.end(reason),
      })
      // It may have ended before this function was known.
      if (this.#reason !== null) this.#stopStream()
    } catch (error) {
      this.end(error instanceof RequestError ? error.message : 'failed')
    }
  }

  /** Ends the sound, and says why. */
  end(reason: string): void {
    const sink = this.#sink
    if (this.#stop(reason)) sink?.ended(reason)
  }

  /** The client has left. */
  stop(): void {
    this.#stop('closed')
  }

  toBody(): AudioListenerBody {
    const { id, actor, channelId: channel_id, streamId: stream_id, ch, since } = this
    return { id, by: actor.name, channel_id, stream_id, ch, since: toTimestamp(since) }
  }

  #stop(reason: string): boolean {
    if (this.#reason !== null) return false
    this.#reason = reason
    this.#stopStream?.()
    this.#listening.stopped(this, reason)
    return true
  }
}

function refusalOf({ reason, channel }: { readonly reason: WithheldReason; readonly channel: Channel }): RequestError {
  const { id, not_now } = channel
  const subject =
    reason === 'muted'
      ? `Channel ${id} is muted.`
      : `"Not now" is set for channel ${id} by ${not_now?.by ?? 'an operator'}.`
  return new RequestError('wrong_state', { subject })
}
