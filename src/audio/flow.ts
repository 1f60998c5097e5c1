/** Receives one stream while it is used, and passes on blocks of the channels that are. */

import { ArrivalClock } from '../domain/audio/arrival-clock.ts'
import { PeakMeter } from '../domain/audio/peak-meter.ts'
import { type SampleBlock, SampleRing } from '../domain/audio/ring.ts'
import { parseRtp, RtpReceiver } from '../domain/audio/rtp.ts'
import { bytesPerSample } from '../domain/audio/samples.ts'
import { CommandProcess } from './command-process.ts'
import { StreamSockets } from './stream-sockets.ts'
import type { ReceivedStatus, ReceivedStream } from './worker-messages.ts'

/** A stream is left this time after its last use. */
const lingerMs = 10_000
const silentMs = 3000
/** Twice the packets of two legs with 125 µs. */
const maxPacketsPerSecond = 32_000

/** Receives the blocks of one channel. */
export interface ChannelConsumer {
  /** `at` is when the first sample was sent, on the clock of `performance.now()`. */
  receive(samples: Int32Array, block: SampleBlock, at: number): void
}

interface FlowEvents {
  onWarning(message: string): void
  /** The stream was left. */
  onLeft(): void
}

export class Flow {
  readonly stream: ReceivedStream
  readonly #events: FlowEvents
  readonly #consumers = new Map<number, Set<ChannelConsumer>>()
  readonly #ring: SampleRing
  readonly #clock: ArrivalClock
  readonly #meter: PeakMeter
  readonly #rtp: RtpReceiver
  readonly #input: StreamSockets | CommandProcess
  readonly #openedAt = performance.now()
  #leaving: NodeJS.Timeout | undefined
  #lastPacketAt: number | null = null
  /** Counts the packets of a program, which has no others. */
  #chunks = 0
  #starts = 0
  #second = 0
  #packetsInSecond = 0
  #isFlooded = false

  constructor(stream: ReceivedStream, events: FlowEvents) {
    const { format, rate, channels, payloadType, argv, legs, interfaces } = stream
    this.stream = stream
    this.#events = events
    this.#ring = new SampleRing({ format, rate, channels })
    this.#clock = new ArrivalClock(rate)
    this.#meter = new PeakMeter(format, channels)
    const bytesPerFrame = channels * bytesPerSample(format)
    this.#rtp = new RtpReceiver({ rate, bytesPerFrame, payloadType })
    this.#input =
      argv === null
        ? new StreamSockets(legs, interfaces, {
            onPacket: (packet) => this.#receivePacket(packet),
            onWarning: (message) => events.onWarning(message),
          })
        : new CommandProcess({
            ...{ argv, bytesPerFrame, rate },
            onStart: () => {
              this.#starts++
            },
            onSamples: (position, bytes, frames) => this.#receiveSamples(position, bytes, frames),
          })
    this.meter()
  }

  /** Channels count from 1. */
  attach(channel: number, consumer: ChannelConsumer): void {
    const consumers = this.#consumers.get(channel) ?? new Set()
    this.#consumers.set(channel, consumers.add(consumer))
    this.#ring.addChannel(channel - 1)
    clearTimeout(this.#leaving)
  }

  detach(channel: number, consumer: ChannelConsumer): void {
    const consumers = this.#consumers.get(channel)
    consumers?.delete(consumer)
    if (consumers?.size === 0) {
      this.#consumers.delete(channel)
      this.#ring.removeChannel(channel - 1)
    }
    this.meter()
  }

  /** Keeps the stream for some seconds. */
  meter(): void {
    clearTimeout(this.#leaving)
    if (this.#consumers.size === 0) this.#leaving = setTimeout(() => this.#events.onLeft(), lingerMs)
  }

  async close(): Promise<void> {
    clearTimeout(this.#leaving)
    if (this.#input instanceof CommandProcess) await this.#input.stop()
    else this.#input.close()
  }

  status(isJoined: boolean): ReceivedStatus {
    const now = performance.now()
    const { packets, lost, reordered, restarts, jitter } = this.#rtp.statistics
    const isProgram = this.stream.argv !== null
    return {
      streamId: this.stream.id,
      packets: isProgram ? this.#chunks : packets,
      lost,
      reordered,
      restarts: isProgram ? Math.max(0, this.#starts - 1) : restarts,
      jitterMs: (jitter / this.stream.rate) * 1000,
      lastPacketAgeMs: this.#lastPacketAt === null ? null : now - this.#lastPacketAt,
      levels: isJoined ? this.#meter.levels(now) : null,
      error: isJoined ? this.#findProblem(now) : null,
    }
  }

  #findProblem(now: number): string | null {
    const problem = this.#input.problem ?? this.#rtp.problem
    if (problem !== null) return problem
    if (this.#isFlooded) return `More than ${maxPacketsPerSecond} packets arrive in a second. The rest is discarded.`
    if (this.#rtp.hasOtherSender(now - silentMs)) {
      return 'A second sender uses the same address and port. Its packets are ignored. Give one of the two another address.'
    }
    if (now - (this.#lastPacketAt ?? this.#openedAt) < silentMs) return null
    if (this.stream.argv !== null) return `The program ${this.stream.argv[0]} delivers no sound.`
    return 'No packets arrive. Check that the sender is on; if a switch filters multicast (IGMP snooping), the network needs an IGMP querier.'
  }

  #receivePacket(bytes: Buffer): void {
    const now = performance.now()
    if (!this.#isWithinLimit(now)) return
    const packet = parseRtp(bytes)
    const placed = packet && this.#rtp.receive(packet, now)
    if (placed === null) return
    this.#place(placed.position, placed.payload, placed.frames, placed.startsSegment, now)
  }

  #isWithinLimit(now: number): boolean {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#isFlooded = this.#packetsInSecond > maxPacketsPerSecond
      this.#second = second
      this.#packetsInSecond = 0
    }
    return ++this.#packetsInSecond <= maxPacketsPerSecond
  }

  #receiveSamples(position: number, bytes: Uint8Array, frames: number): void {
    this.#chunks++
    this.#place(position, bytes, frames, position === 0, performance.now())
  }

  #place(position: number, bytes: Uint8Array, frames: number, startsSegment: boolean, now: number): void {
    this.#lastPacketAt = now
    const pass = (block: SampleBlock) => this.#pass(block)
    if (startsSegment) {
      this.#ring.startSegment(position, pass)
      this.#clock.reset()
    }
    this.#clock.observe(position + frames, now)
    this.#meter.write(bytes, frames, now)
    this.#ring.write(position, bytes, frames, pass)
  }

  #pass(block: SampleBlock): void {
    const at = this.#clock.timeOf(block.position)
    for (const [channel, consumers] of this.#consumers) {
      for (const consumer of consumers) consumer.receive(block.samplesOf(channel - 1), block, at)
    }
  }
}
