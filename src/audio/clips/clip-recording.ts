/** One clip while it is recorded: its file grows with the sound that the worker holds in memory. */

import type { FileHandle } from 'node:fs/promises'
import { type Clip, ClipSpan } from '../../domain/audio/clip.ts'
import type { AudioFault } from '../../domain/audio/faults/finding.ts'
import { toWavBytes, toWavHeader, wavHeaderBytes, wavRate } from '../../domain/audio/wav.ts'
import type { EventRecord } from '../../domain/events/event.ts'
import type { HeldChannel } from '../audio-streams.ts'
import type { ClipStore } from './clip-store.ts'

/** Sound that is later than this is lost. */
const arrivalMs = 1000
const samplesPerMs = wavRate / 1000
/** Of the packets in which losses are counted. */
const packetSamples = samplesPerMs

interface OpenFile {
  readonly name: string
  readonly handle: FileHandle
  /** Unix ms of the first sample. */
  readonly from: number
}

export class ClipRecording {
  readonly channelId: number
  readonly span: ClipSpan
  readonly #store: ClipStore
  readonly #held: HeldChannel
  readonly #events: Map<number, EventRecord>
  #file: OpenFile | null = null
  #samples = 0
  #lostSamples = 0

  constructor(store: ClipStore, held: HeldChannel, channelId: number, event: EventRecord) {
    this.#store = store
    this.#held = held
    this.channelId = channelId
    this.span = new ClipSpan(event)
    this.#events = new Map([[event.id, event]])
  }

  /** Extends the clip with an event in it, or with the new end of a known one. */
  note(event: EventRecord): void {
    this.#events.set(event.id, event)
    this.span.update(this.#events.values())
  }

  has({ id }: EventRecord): boolean {
    return this.#events.has(id)
  }

  isComplete(now: number): boolean {
    return now >= this.span.to + arrivalMs
  }

  /** Writes the sound up to now. Throws if the file cannot be written. */
  async advance(now: number): Promise<void> {
    const until = Math.min(this.span.to, now - arrivalMs)
    const from = this.#file === null ? this.span.from : this.#end(this.#file)
    if (until <= from) return
    const audio = await this.#held.read(from, until)
    if (audio === null) return
    this.#file ??= await this.#create(audio.from)
    // Times are estimates, so that pieces overlap, or leave a gap that is lost.
    const offset = Math.round((audio.from - this.#end(this.#file)) * samplesPerMs)
    if (offset > 0) await this.#write(new Int16Array(offset))
    this.#lostSamples += Math.max(0, offset)
    const skipped = Math.min(audio.samples.length, Math.max(0, -offset))
    for (const lost of audio.lost) this.#lostSamples += Math.max(0, lost.to - Math.max(lost.from, skipped))
    await this.#write(audio.samples.subarray(skipped))
  }

  /** Stores the clip. Returns null if it has no sound or is too large. */
  async finish(faultsIn: (from: number, to: number) => readonly AudioFault[]): Promise<Clip | null> {
    const file = this.#file
    if (file === null) return null
    this.#file = null
    try {
      await file.handle.write(toWavHeader(this.#samples), 0, wavHeaderBytes, 0)
      await file.handle.sync()
    } finally {
      await file.handle.close()
    }
    const to = file.from + this.#samples / samplesPerMs
    return this.#store.add(file.name, {
      channel_id: this.channelId,
      event_ids: [...this.#events.values()].toSorted((a, b) => a.time - b.time || a.id - b.id).map(({ id }) => id),
      from: file.from,
      to,
      size: wavHeaderBytes + 2 * this.#samples,
      faults: faultsIn(file.from, to),
      lost_packets: Math.ceil(this.#lostSamples / packetSamples),
    })
  }

  async discard(): Promise<void> {
    const file = this.#file
    this.#file = null
    if (file === null) return
    await file.handle.close().catch(() => {})
    await this.#store.discardFile(file.name)
  }

  async #create(from: number): Promise<OpenFile> {
    const { name, handle } = await this.#store.createFile()
    await handle.write(toWavHeader(0))
    return { name, handle, from }
  }

  async #write(samples: Int16Array): Promise<void> {
    const room = Math.max(0, Math.ceil((this.span.to - (this.#file?.from ?? 0)) * samplesPerMs) - this.#samples)
    const written = samples.subarray(0, room)
    await this.#file?.handle.appendFile(toWavBytes(written))
    this.#samples += written.length
  }

  #end({ from }: OpenFile): number {
    return from + this.#samples / samplesPerMs
  }
}
