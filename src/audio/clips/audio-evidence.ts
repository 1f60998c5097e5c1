/**
 * Holds the sound of mapped channels in memory, and keeps clips of it around events. Only while a show is running, or
 * always by setting; never while a channel is muted or "Not now" is set for it.
 */

import { type Clip, clipIntervalMs } from '../../domain/audio/clip.ts'
import { type AudioMapping, findWithheldReason, haveMappedChannel, soundOf } from '../../domain/audio/mapping.ts'
import type { EventChange, EventRecord } from '../../domain/events/event.ts'
import { splitList } from '../../domain/settings.ts'
import type { EventLog } from '../../history/event-log.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../../lists/effective-settings.ts'
import type { StoredLists } from '../../lists/stored-lists.ts'
import { now } from '../../platform/clock.ts'
import { Semaphore } from '../../platform/concurrency.ts'
import type { Log } from '../../platform/log.ts'
import type { AudioStreams, HeldChannel } from '../audio-streams.ts'
import type { FaultMonitor } from '../fault-monitor.ts'
import { ClipRecording } from './clip-recording.ts'
import type { ClipStore } from './clip-store.ts'

interface Subsystems {
  readonly audioStreams: AudioStreams
  readonly faultMonitor: FaultMonitor
  readonly clips: ClipStore
  readonly receiverStore: ReceiverStore
  readonly lists: StoredLists
  readonly settings: EffectiveSettings
  readonly events: EventLog
  readonly log: Log
}

interface Held {
  readonly mapping: AudioMapping
  readonly channel: HeldChannel
  recording: ClipRecording | null
}

const tickMs = 1000
/** An event that arrives later has no sound in memory. */
const maxEventAgeMs = 15_000

export class AudioEvidence {
  /** False: nothing is ever held or kept. */
  readonly isEnabled: boolean
  readonly #subsystems: Subsystems
  readonly #held = new Map<number, Held>()
  /** The times of the events for which the last clips of the channels began. */
  readonly #beganAt = new Map<number, number>()
  readonly #lastClips = new Map<number, Clip>()
  /** Serializes what writes files. */
  readonly #writing = new Semaphore(1)
  #timer: NodeJS.Timeout | undefined

  constructor({ audio_evidence }: { readonly audio_evidence: boolean }, subsystems: Subsystems) {
    this.isEnabled = audio_evidence
    this.#subsystems = subsystems
  }

  start(): void {
    if (!this.isEnabled) return
    const { receiverStore, events, lists, faultMonitor } = this.#subsystems
    faultMonitor.start()
    receiverStore.changed.subscribe(({ before, after }) => {
      if (this.#held.size === 0 || before?.channels === after?.channels) return
      if (haveMappedChannel([before, after], lists.current.audioMappings)) this.#releaseUnwanted(this.#wanted())
    })
    events.changed.subscribe((change) => this.#eventChanged(change))
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#timer.unref()
  }

  /** Mappings, shows, streams or settings have changed. */
  listsChanged(): void {
    if (this.#timer !== undefined) this.#update()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const channelId of [...this.#held.keys()]) this.#release(channelId)
    await this.#writing.run(async () => {})
    this.#subsystems.faultMonitor.close()
  }

  #tick(): void {
    this.#update()
    if ([...this.#held.values()].some(({ recording }) => recording !== null))
      void this.#writing.run(() => this.#advance())
  }

  /** Holds what is wanted, and releases the rest. */
  #update(): void {
    const wanted = this.#wanted()
    this.#releaseUnwanted(wanted)
    for (const mapping of wanted) if (!this.#held.has(mapping.channel_id)) this.#hold(mapping)
  }

  #releaseUnwanted(wanted: readonly AudioMapping[]): void {
    for (const [channelId, { mapping }] of this.#held) {
      const isSame = (other: AudioMapping) => other.channel_id === channelId && soundOf(other) === soundOf(mapping)
      if (!wanted.some(isSame)) this.#release(channelId)
    }
  }

  #wanted(): readonly AudioMapping[] {
    const { audioStreams, lists, settings, receiverStore } = this.#subsystems
    const isOn = settings.get(null).AUDIO_EVIDENCE_ALWAYS || lists.runningShows().length > 0
    const { audioMappings } = lists.current
    if (!isOn || audioMappings.length === 0 || !audioStreams.isReceiving) return []
    const withheld = new Set<number>()
    const known = new Set<number>()
    for (const receiver of receiverStore.listFacts()) {
      for (const channel of receiver.channels) {
        known.add(channel.id)
        if (findWithheldReason(channel) !== null) withheld.add(channel.id)
      }
    }
    // A channel silences every other one that is mapped to the same sound.
    const silenced = new Set(audioMappings.filter(({ channel_id }) => withheld.has(channel_id)).map(soundOf))
    return audioMappings.filter(
      (mapping) =>
        known.has(mapping.channel_id) &&
        !silenced.has(soundOf(mapping)) &&
        audioStreams.find(mapping.stream_id)?.enabled === true,
    )
  }

  #hold(mapping: AudioMapping): void {
    const { audioStreams, faultMonitor, log } = this.#subsystems
    const { channel_id, stream_id, channel } = mapping
    try {
      faultMonitor.watch(channel_id)
      const held = audioStreams.hold(stream_id, channel, (findings) => faultMonitor.add(channel_id, findings))
      this.#held.set(channel_id, { mapping, channel: held, recording: null })
    } catch (error) {
      faultMonitor.unwatch(channel_id)
      log.debug({ channel: channel_id, error: String(error) }, 'the sound of a channel cannot be held')
    }
  }

  /** Forgets the sound in memory. A clip ends with what was written before. */
  #release(channelId: number): void {
    const held = this.#held.get(channelId)
    if (held === undefined) return
    this.#held.delete(channelId)
    held.channel.discard()
    held.channel.release()
    const { recording } = held
    if (recording !== null) void this.#writing.run(() => this.#finish(recording))
    void this.#writing.run(async () => this.#subsystems.faultMonitor.unwatch(channelId))
  }

  #eventChanged(change: EventChange): void {
    if (change.type === 'event_deleted') return
    const { event } = change
    const held = event.channel_id === null || event.site !== null ? undefined : this.#held.get(event.channel_id)
    if (held === undefined || !this.#isChosen(event)) return
    const { recording } = held
    if (recording !== null && (recording.has(event) || recording.span.contains(event))) recording.note(event)
    else if (change.type === 'event') this.#begin(held, event)
  }

  #isChosen({ kind }: EventRecord): boolean {
    return splitList(this.#subsystems.settings.get(null).AUDIO_EVIDENCE_KINDS).includes(kind)
  }

  #begin(held: Held, event: EventRecord): void {
    const { channel_id: channelId } = held.mapping
    const last = this.#lastClips.get(channelId)
    if (last !== undefined && event.time >= last.from && event.time <= last.to) {
      void this.#writing.run(() => this.#addEvent(last, event))
      return
    }
    const sinceLast = event.time - (this.#beganAt.get(channelId) ?? Number.NEGATIVE_INFINITY)
    const age = now() - event.time
    if (held.recording !== null || sinceLast < clipIntervalMs || age > maxEventAgeMs || age < -tickMs) return
    this.#beganAt.set(channelId, event.time)
    const recording = new ClipRecording(this.#subsystems.clips, held.channel, channelId, event)
    held.recording = recording
    void this.#writing.run(() => this.#advanceOne(held, recording))
  }

  async #addEvent({ id }: Clip, event: EventRecord): Promise<void> {
    await this.#subsystems.clips.addEvent(id, event.id).catch((error) => this.#warn(event.channel_id, error))
  }

  async #advance(): Promise<void> {
    for (const held of [...this.#held.values()]) {
      if (held.recording !== null) await this.#advanceOne(held, held.recording)
    }
  }

  async #advanceOne(held: Held, recording: ClipRecording): Promise<void> {
    const { clips } = this.#subsystems
    // It may have been released meanwhile, and its memory with it.
    if (held.recording !== recording || this.#held.get(recording.channelId) !== held) return
    try {
      if (!(await clips.hasSpace())) throw new Error('Too little disk space is free.')
      await recording.advance(now())
    } catch (error) {
      held.recording = null
      this.#warn(recording.channelId, error)
      await recording.discard()
      return
    }
    if (!recording.isComplete(now()) || held.recording !== recording) return
    held.recording = null
    await this.#finish(recording)
  }

  async #finish(recording: ClipRecording): Promise<void> {
    const { channelId } = recording
    try {
      const clip = await recording.finish((from, to) => this.#subsystems.faultMonitor.faultsIn(channelId, from, to))
      if (clip !== null) this.#lastClips.set(channelId, clip)
    } catch (error) {
      this.#warn(channelId, error)
      await recording.discard()
    }
  }

  #warn(channelId: number | null, error: unknown): void {
    this.#subsystems.log.warn({ channel: channelId, error: String(error) }, 'a clip could not be kept')
  }
}
