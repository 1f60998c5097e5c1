/**
 * The audio streams of the installation. One process of an installation receives audio: the one that holds the lease.
 * A stream is received while it is listened to, held or metered.
 */

import type { AudioCommand } from '../config/audio.ts'
import type { Config } from '../config.ts'
import {
  type AudioStream,
  idleStatus,
  type SearchSource,
  type StoredStream,
  type StreamStatus,
} from '../domain/audio/audio-stream.ts'
import type { AudioFinding } from '../domain/audio/faults/finding.ts'
import type { HeldAudio } from '../domain/audio/held-sound.ts'
import { RequestError } from '../domain/errors.ts'
import type { LocalAddress } from '../domain/identity/network.ts'
import { Semaphore } from '../platform/concurrency.ts'
import type { Log } from '../platform/log.ts'
import { Topic } from '../platform/topic.ts'
import { pause } from '../platform/wait.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import { deleteAudioStreams, insertAudioStream, listAudioStreams, updateAudioStream } from '../storage/audio-streams.ts'
import type { Database } from '../storage/database.ts'
import type { Destinations } from '../upstream/destinations.ts'
import { AnnouncedStreams, maxFound } from './announced-streams.ts'
import { AudioThread } from './audio-thread.ts'
import { findInterfaces } from './interfaces.ts'
import { findProgram, storePrograms } from './program-streams.ts'
import { StreamSearch } from './stream-search.ts'
import type {
  ListeningRate,
  ReceivedStatus,
  ReceivedStream,
  SearchProblem,
  SearchStatus,
  WorkerCall,
  WorkerEvent,
} from './worker-messages.ts'

interface Subsystems {
  readonly db: Database
  readonly leaseManager: LeaseManager
  readonly log: Log
  /** The addresses of the interfaces on which devices are sought. */
  readonly localAddresses: readonly LocalAddress[]
  readonly outbound: { readonly destinations: Destinations }
}

type AudioKeys = Pick<Config, 'audio' | 'listening' | 'audio_evidence'>

export interface AudioFrame {
  /** Counts the frames of a listener from 0. */
  readonly sequence: number
  /** Unix milliseconds of the first sample, with a fraction. */
  readonly at: number
  /** 20 ms. */
  readonly samples: Int16Array
}

export interface AudioListener {
  onFrame(frame: AudioFrame): void
  /** Called once when the sound ends without a request of the listener. */
  onEnd(reason: string): void
}

export interface HeldChannel {
  /** Returns the part of this time, in Unix milliseconds, that is in memory; null if none of it is. */
  read(fromMs: number, toMs: number): Promise<HeldAudio | null>
  /** Forgets what is in memory. */
  discard(): void
  /** Stops holding. */
  release(): void
}

/** The search for streams since it began. */
export interface AudioSearch extends Omit<SearchStatus, 'problems'> {
  /** False without a section `audio` in the configuration. */
  readonly searching: boolean
  readonly interfaces: { readonly name: string; readonly address: string }[]
  /** Streams in the list that were found. */
  readonly found: number
  readonly most_found: number
  readonly problems: (SearchProblem & { readonly source: SearchSource })[]
}

/** A listener or a held channel. */
interface Use {
  readonly call: Extract<WorkerCall, { type: 'listen' | 'hold' }>
  /** Null for a held channel. */
  readonly listener: AudioListener | null
  /** Null for a listener. */
  readonly onFindings: OnFindings | null
}

/** Receives what the detectors find in a held channel. */
type OnFindings = (findings: readonly AudioFinding[]) => void

const leaseName = 'audio'
/** How often new and changed announcements are stored. */
const storeEveryMs = 250
const retryMs = 5000
/** Interfaces may get their addresses late. */
const checkInterfacesMs = 10_000
const startMs = 2000

export class AudioStreams {
  /** The list or the status of streams has changed. */
  readonly changed = new Topic<'list' | 'status'>()
  /** Streams that stay in the list when they are no longer announced. */
  mapped: ReadonlySet<number> = new Set()
  /** Edits and announcements are stored one after another. */
  readonly edits = new Semaphore(1)
  readonly #config: AudioKeys
  readonly #subsystems: Subsystems
  readonly #thread: AudioThread
  readonly #streams = new Map<number, StoredStream>()
  readonly #statuses = new Map<number, { readonly status: ReceivedStatus; readonly at: number }>()
  readonly #announced = new AnnouncedStreams(this.#streams)
  readonly #uses = new Map<number, Use>()
  #lastUse = 0
  #isReceiving = false
  /** The process that receives audio instead of this one. */
  #holder: string | null = null
  #interfaces: readonly LocalAddress[] = []
  #sap: SearchStatus = { received: 0, discarded: 0, problems: [] }
  #search: StreamSearch | null = null

  constructor(config: AudioKeys, subsystems: Subsystems) {
    this.#config = config
    this.#subsystems = subsystems
    this.#thread = new AudioThread(subsystems.log)
    this.#thread.started.subscribe(() => this.#threadStarted())
    this.#thread.failed.subscribe(() => this.#threadFailed())
    this.#thread.events.subscribe((event) => this.#receive(event))
  }

  /** True if the configuration has audio, listening or evidence. Otherwise nothing is received. */
  get isOn(): boolean {
    const { audio, listening, audio_evidence } = this.#config
    return audio !== null || listening || audio_evidence
  }

  /** True while this process receives audio. */
  get isReceiving(): boolean {
    return this.#isReceiving
  }

  get #commands(): readonly AudioCommand[] {
    return this.#config.audio?.commands ?? []
  }

  /** Receives audio while this process holds the lease, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const onStandBy = (holder: string) => {
      this.#holder = holder
    }
    const receive = (lease: { readonly signal: AbortSignal }) => this.#receiveWhileHeld(lease.signal)
    await this.#subsystems.leaseManager.runWhileHeld(leaseName, signal, receive, { onStandBy })
  }

  /** Throws a RequestError that names the process that receives audio, if it is another one. */
  requireReceiver(): void {
    if (this.#isReceiving) return
    const subject =
      this.#holder === null ? 'No process receives audio yet.' : `Audio is received by the process ${this.#holder}.`
    throw new RequestError('audio_elsewhere', { subject })
  }

  /** As `requireReceiver`, but waits while the service starts. */
  async whenReceiving(): Promise<void> {
    const until = performance.now() + startMs
    while (!this.#isReceiving && this.#holder === null && performance.now() < until) {
      await pause(20)
    }
    this.requireReceiver()
  }

  list(): readonly AudioStream[] {
    return [...this.#streams.values()].map((stream) => this.#toAudioStream(stream))
  }

  find(id: number): AudioStream | undefined {
    const stream = this.findStored(id)
    return stream && this.#toAudioStream(stream)
  }

  /** Returns the stream without what is known of its reception. */
  findStored(id: number): StoredStream | undefined {
    return this.#streams.get(id)
  }

  search(): AudioSearch {
    const { received, discarded, problems } = this.#sap
    return {
      searching: this.#config.audio !== null,
      interfaces: this.#interfaces.map(({ interfaceName, address }) => ({ name: interfaceName, address })),
      ...{ received, discarded, found: this.#announced.list().length, most_found: maxFound },
      problems: [
        ...problems.map((problem) => ({ ...problem, source: 'sap' as const })),
        ...(this.#search?.problems() ?? []),
      ],
    }
  }

  /** Receives a stream for some seconds, for its levels. */
  meter(id: number): void {
    if (!this.isOn || this.#streams.get(id)?.enabled !== true) return
    this.#thread.start()
    this.#thread.post({ type: 'meter', streamId: id })
  }

  /**
   * Receives the stream while it is used, and passes on frames of one channel, which counts from 1, as mono PCM16.
   * Returns a function that ends listening. Throws a RequestError if there is no such stream or channel.
   */
  listen(streamId: number, channel: number, rate: ListeningRate, listener: AudioListener): () => void {
    const use = this.#use({ type: 'listen', streamId, channel, rate }, listener)
    return () => this.#end(use)
  }

  /** Keeps the last 20 s of a channel in the worker's memory. Throws a RequestError as `listen` does. */
  hold(streamId: number, channel: number, onFindings: OnFindings = () => {}): HeldChannel {
    const use = this.#use({ type: 'hold', streamId, channel }, null, onFindings)
    return {
      read: (fromMs, toMs) => this.#thread.read(use, fromMs, toMs),
      discard: () => this.#thread.post({ type: 'discard', use }),
      release: () => this.#end(use),
    }
  }

  /** Replaces a stream after an edit, or adds one. */
  put(stream: StoredStream): void {
    this.#streams.set(stream.id, stream)
    this.#define(stream)
    for (const [id, { call, listener }] of this.#uses) {
      if (call.streamId !== stream.id || listener === null) continue
      if (!stream.enabled) this.#endListener(id, 'The stream was disabled.')
      else if (call.channel > stream.channels) this.#endListener(id, `The stream has no channel ${call.channel} now.`)
    }
    this.changed.publish('list')
  }

  remove(id: number): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    this.#streams.delete(id)
    this.#statuses.delete(id)
    this.#announced.withdrawn(stream)
    this.#thread.post({ type: 'remove', streamId: id })
    for (const [use, { call, listener }] of this.#uses) {
      if (call.streamId === id && listener !== null) this.#endListener(use, 'The stream was deleted.')
    }
    this.changed.publish('list')
  }

  // --- Uses ----------------------------------------------------------------------------------------------------------

  #use(
    call: Omit<Extract<Use['call'], { type: 'listen' }>, 'use'> | Omit<Extract<Use['call'], { type: 'hold' }>, 'use'>,
    listener: AudioListener | null,
    onFindings: OnFindings | null = null,
  ): number {
    const { streamId, channel } = call
    this.requireReceiver()
    const stream = this.#streams.get(streamId)
    if (stream === undefined) throw new RequestError('not_found', { subject: `audio stream ${streamId}` })
    if (channel < 1 || channel > stream.channels) {
      throw new RequestError('not_found', { subject: `channel ${channel} of audio stream ${streamId}` })
    }
    if (!stream.enabled && listener !== null) {
      throw new RequestError('wrong_state', { subject: `The audio stream ${stream.name} is disabled.` })
    }
    const use = ++this.#lastUse
    const added: Use = { call: { ...call, use }, listener, onFindings }
    this.#uses.set(use, added)
    // A thread that starts receives all uses.
    if (this.#thread.isRunning) this.#thread.post(added.call)
    else this.#thread.start()
    return use
  }

  #end(use: number): void {
    if (this.#uses.delete(use)) this.#thread.post({ type: 'end', use })
  }

  #endListener(use: number, reason: string): void {
    const listener = this.#uses.get(use)?.listener
    this.#end(use)
    listener?.onEnd(reason)
  }

  // --- The thread ----------------------------------------------------------------------------------------------------

  #threadStarted(): void {
    if (this.#config.audio !== null) this.#thread.post({ type: 'discover', interfaces: this.#interfaces })
    for (const stream of this.#streams.values()) this.#define(stream)
    for (const { call } of this.#uses.values()) this.#thread.post(call)
  }

  #threadFailed(): void {
    this.#statuses.clear()
    for (const [use, { listener }] of this.#uses) {
      if (listener !== null) this.#endListener(use, 'Receiving audio failed.')
    }
  }

  #define(stream: StoredStream): void {
    const { id, enabled, source, encoding, sample_rate: rate, channels, payload_type: payloadType, legs } = stream
    const command = findProgram(this.#commands, stream)
    if (!enabled || (source === 'command' && command === undefined)) {
      this.#thread.post({ type: 'remove', streamId: id })
      return
    }
    const format = command?.format ?? encoding
    const defined: ReceivedStream = {
      ...{ id, format, rate, channels, payloadType, legs },
      interfaces: this.#interfacesOf(stream),
      argv: command?.argv ?? null,
    }
    this.#thread.post({ type: 'stream', stream: defined })
  }

  #interfacesOf(stream: StoredStream): readonly string[] {
    if (stream.interface === null) return this.#interfaces.map(({ address }) => address)
    const found = findInterfaces([stream.interface])
    return found.length === 0 ? [stream.interface] : found.map(({ address }) => address)
  }

  #receive(event: Exclude<WorkerEvent, { type: 'read' | 'warning' }>): void {
    if (event.type === 'frame') {
      const { use, sequence, at, samples } = event
      this.#uses.get(use)?.listener?.onFrame({ sequence, at, samples })
    } else if (event.type === 'findings') this.#uses.get(event.use)?.onFindings?.(event.findings)
    else if (event.type === 'statuses') {
      const at = performance.now()
      for (const status of event.statuses) this.#statuses.set(status.streamId, { status, at })
      this.changed.publish('status')
    } else if (event.type === 'searched') this.#sap = event.status
    else this.#announced.announced(event.announcement)
  }

  // --- The list ------------------------------------------------------------------------------------------------------

  async #receiveWhileHeld(signal: AbortSignal): Promise<void> {
    while (!(await this.#load())) if (!(await pause(retryMs, signal))) return
    this.#holder = null
    this.#isReceiving = true
    this.#findInterfaces()
    if (this.#config.audio !== null) this.#thread.start()
    this.changed.publish('list')
    const searching = this.#searchStreams(signal)
    let checkedAt = performance.now()
    while (await pause(storeEveryMs, signal)) {
      await this.edits.run(() => this.#storeAnnouncements())
      if (performance.now() - checkedAt < checkInterfacesMs) continue
      checkedAt = performance.now()
      if (this.#findInterfaces() && this.#thread.isRunning) this.#threadStarted()
    }
    this.#isReceiving = false
    await searching
    for (const use of this.#uses.keys()) this.#endListener(use, 'This process no longer receives audio.')
    await this.#thread.close()
    this.#streams.clear()
    this.#statuses.clear()
    this.#announced.clear()
    this.changed.publish('list')
  }

  async #searchStreams(signal: AbortSignal): Promise<void> {
    const { audio } = this.#config
    if (audio === null) return
    this.#search = new StreamSearch({
      rtsp: audio.rtsp,
      nmos: audio.nmos,
      destinations: this.#subsystems.outbound.destinations,
      interfaces: () => this.#interfaces,
      onAnnouncement: (announcement) => this.#announced.announced(announcement),
    })
    await this.#search.run(signal)
  }

  async #load(): Promise<boolean> {
    const { db, log } = this.#subsystems
    try {
      const stored = await listAudioStreams(db.read)
      const programs = await db.transaction((tx) => storePrograms(tx, this.#commands, stored))
      for (const stream of [...stored.filter(({ source }) => source !== 'command'), ...programs]) {
        this.#streams.set(stream.id, stream)
        this.#announced.listed(stream)
      }
      return true
    } catch (error) {
      log.warn({ error: String(error) }, 'audio streams could not be read from the database')
      return false
    }
  }

  /** Returns whether they have changed. */
  #findInterfaces(): boolean {
    const chosen = this.#config.audio?.interfaces ?? []
    const interfaces = chosen.length > 0 ? findInterfaces(chosen) : this.#subsystems.localAddresses
    const isChanged = JSON.stringify(interfaces) !== JSON.stringify(this.#interfaces)
    this.#interfaces = interfaces
    return isChanged
  }

  /** Stores what was announced since the last call, and deletes what is no longer announced. */
  async #storeAnnouncements(): Promise<void> {
    const { db, log } = this.#subsystems
    const { added, changed, removed } = this.#announced.takeChanges((stream) => this.#isKept(stream))
    if (added.length + changed.length + removed.length === 0) return
    try {
      const stored = await db.transaction(async (tx) => {
        await deleteAudioStreams(
          tx,
          removed.map(({ id }) => id),
        )
        for (const stream of changed) await updateAudioStream(tx, stream)
        const inserted: StoredStream[] = []
        for (const stream of added) inserted.push(await insertAudioStream(tx, stream))
        return inserted
      })
      for (const { id } of removed) this.remove(id)
      for (const stream of [...changed, ...stored]) {
        this.#announced.listed(stream)
        this.put(stream)
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'announced audio streams could not be stored')
    }
  }

  /** True for streams that are mapped or in use. */
  #isKept({ id }: StoredStream): boolean {
    return this.mapped.has(id) || [...this.#uses.values()].some(({ call }) => call.streamId === id)
  }

  #toAudioStream(stream: StoredStream): AudioStream {
    const [leg] = stream.legs
    return {
      ...stream,
      address: leg?.address ?? null,
      port: leg?.port ?? null,
      announced: this.#announced.isAnnounced(stream),
      status: this.#statusOf(stream),
    }
  }

  #statusOf({ id, enabled }: StoredStream): StreamStatus {
    const received = this.#statuses.get(id)
    if (received === undefined) return idleStatus
    const { status, at } = received
    const { packets, lost, reordered, restarts, jitterMs, lastPacketAgeMs, levels, error } = status
    const age = lastPacketAgeMs === null ? null : (lastPacketAgeMs + performance.now() - at) / 1000
    return {
      ...{ packets, lost, reordered, restarts },
      jitter_ms: Math.round(jitterMs * 1000) / 1000,
      last_packet_age: age === null ? null : Math.round(age * 100) / 100,
      levels: enabled ? levels : null,
      error: enabled ? error : null,
    }
  }
}
