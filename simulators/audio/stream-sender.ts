/**
 * Sends PCM audio as RTP, as AES67 devices do, with faults on request: loss, reordering, duplicates, restarts, other
 * senders, a clock that drifts. Announces the stream by SAP.
 */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { StreamEncoding } from '../../src/domain/audio/audio-stream.ts'
import { writeRtp } from '../../src/domain/audio/rtp.ts'
import { sapGroups, sapPort, writeSap } from '../../src/domain/audio/sap.ts'
import { writeSdp } from '../../src/domain/audio/sdp.ts'
import { createRandom } from '../../src/domain/frequencies/random.ts'

/** Returns a sample from -1 to 1. `frame` counts from the start of the sender. */
export type Signal = (frame: number, channel: number, rate: number) => number

/** One frequency for each channel: 300, 400, 500 Hz and so on. */
const tones: Signal = (frame, channel, rate) => 0.25 * Math.sin((2 * Math.PI * (300 + 100 * channel) * frame) / rate)

export function tone(hz: number, amplitude = 0.25): Signal {
  return (frame, _channel, rate) => amplitude * Math.sin((2 * Math.PI * hz * frame) / rate)
}

export interface StreamSenderOptions {
  readonly address: string
  readonly port: number
  /** The address of the interface that sends. */
  readonly from?: string
  readonly encoding?: StreamEncoding
  readonly rate?: number
  readonly channels?: number
  /** Milliseconds of a packet: 0.125 to 4. */
  readonly ptime?: number
  readonly signal?: Signal
  readonly name?: string
  readonly labels?: readonly string[]
  readonly payloadType?: number
  readonly ssrc?: number
  /** Parts per million by which the clock of the sender is fast. */
  readonly driftPpm?: number
  /** Probabilities for each packet. */
  readonly loss?: number
  readonly duplicates?: number
  readonly reordering?: number
  /** Packets whose index this selects are not sent. */
  readonly drops?: (packet: number) => boolean
  readonly firstSequence?: number
  readonly firstTimestamp?: number
  /** Seed of the faults. */
  readonly seed?: number
}

/** Shorter packets are sent several at once, as are those that are late because the event loop was busy. */
const leastTickMs = 1
const announceEveryMs = 1000

export class StreamSender {
  /** Packets that were really sent, without duplicates. */
  sent = 0
  /** Packets that were left out on purpose. */
  dropped = 0
  readonly #options: StreamSenderOptions
  readonly #socket: Socket
  readonly #random: () => number
  readonly rate: number
  readonly channels: number
  readonly encoding: StreamEncoding
  readonly #framesPerPacket: number
  #ssrc: number
  #sequence: number
  #timestamp: number
  #frame = 0
  #packet = 0
  #startedAt = 0
  /** A packet that is sent after the next one. */
  #delayed: Uint8Array | null = null
  #timer: NodeJS.Timeout | undefined
  #announcing: NodeJS.Timeout | undefined
  #isClosed = false
  readonly #sdpVersion = 1

  private constructor(options: StreamSenderOptions, socket: Socket) {
    this.#options = options
    this.#socket = socket
    this.#random = createRandom(options.seed ?? 1)
    this.rate = options.rate ?? 48_000
    this.channels = options.channels ?? 2
    this.encoding = options.encoding ?? 'L24'
    this.#framesPerPacket = Math.max(1, Math.round(((options.ptime ?? 1) * this.rate) / 1000))
    this.#ssrc = options.ssrc ?? 0x4d_69_63_77
    this.#sequence = options.firstSequence ?? 65_500
    this.#timestamp = options.firstTimestamp ?? 2 ** 32 - 10_000
  }

  /** Opens a sender, which is silent until `start`. */
  static async open(options: StreamSenderOptions): Promise<StreamSender> {
    const { from = '127.0.0.1' } = options
    const socket = createSocket('udp4')
    socket.bind(0, from)
    await once(socket, 'listening')
    socket.setMulticastInterface(from)
    socket.setMulticastTTL(1)
    socket.setMulticastLoopback(true)
    return new StreamSender(options, socket)
  }

  get target(): Pick<StreamSenderOptions, 'address' | 'port'> {
    const { address, port } = this.#options
    return { address, port }
  }

  get sdp(): string {
    const {
      address,
      port,
      from = '127.0.0.1',
      name = 'Simulated : 1',
      labels,
      payloadType = 98,
      ptime = 1,
    } = this.#options
    const format = {
      encoding: this.encoding,
      sample_rate: this.rate,
      channels: this.channels,
      payload_type: payloadType,
    }
    const id = `${port}${this.#ssrc}`
    return writeSdp({
      ...format,
      sessionId: id,
      version: this.#sdpVersion,
      name,
      origin: from,
      address,
      port,
      ptime,
      ...(labels && { labels }),
    })
  }

  start(): void {
    this.#startedAt = performance.now()
    const startFrame = this.#frame
    const rate = this.rate * (1 + (this.#options.driftPpm ?? 0) / 1e6)
    this.#timer = setInterval(
      () => {
        const due = startFrame + ((performance.now() - this.#startedAt) * rate) / 1000
        while (this.#frame + this.#framesPerPacket <= due) this.sendPacket()
      },
      Math.max(leastTickMs, this.#options.ptime ?? 1),
    )
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Begins again with another SSRC and other numbers, as a device does after it was switched off. */
  restart(ssrc = this.#ssrc + 1): void {
    this.#ssrc = ssrc
    this.#sequence = Math.floor(this.#random() * 65_536)
    this.#timestamp = Math.floor(this.#random() * 2 ** 32)
  }

  /** Sends one packet now, with the faults of the options. */
  sendPacket(): void {
    const { payloadType = 98, loss = 0, duplicates = 0, reordering = 0, drops } = this.#options
    const header = { payloadType, sequence: this.#sequence, timestamp: this.#timestamp, ssrc: this.#ssrc }
    const packet = writeRtp(header, this.#encode())
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#timestamp = (this.#timestamp + this.#framesPerPacket) % 2 ** 32
    this.#frame += this.#framesPerPacket
    const isDropped = drops?.(this.#packet++) === true || this.#random() < loss
    if (isDropped) {
      this.dropped++
      return
    }
    this.sent++
    if (this.#delayed === null && this.#random() < reordering) {
      this.#delayed = packet
      return
    }
    this.send(packet)
    if (this.#delayed !== null) this.send(this.#delayed)
    this.#delayed = null
    if (this.#random() < duplicates) this.send(packet)
  }

  /** Sends any bytes to the stream's address. */
  send(packet: Uint8Array): void {
    this.#socket.send(packet, this.#options.port, this.#options.address, () => {})
  }

  /** Announces the stream now and every second. */
  announce(): void {
    const send = () => this.#sendSap(false)
    send()
    this.#announcing = setInterval(send, announceEveryMs)
  }

  /** Deletes the announcement. */
  withdraw(): void {
    clearInterval(this.#announcing)
    this.#sendSap(true)
  }

  async close(): Promise<void> {
    this.stop()
    clearInterval(this.#announcing)
    if (this.#isClosed) return
    this.#isClosed = true
    await new Promise<void>((resolve) => this.#socket.close(resolve))
  }

  #sendSap(isDeletion: boolean): void {
    const packet = writeSap(Buffer.from(this.sdp), this.#options.from ?? '127.0.0.1', this.#options.port, isDeletion)
    this.#socket.send(packet, sapPort, sapGroups[0], () => {})
  }

  #encode(): Uint8Array {
    const { signal = tones } = this.#options
    const width = this.encoding === 'L16' ? 2 : 3
    const bytes = Buffer.alloc(this.#framesPerPacket * this.channels * width)
    const [scale, maximum] = width === 2 ? [32_768, 32_767] : [8_388_608, 8_388_607]
    let offset = 0
    for (let frame = this.#frame; frame < this.#frame + this.#framesPerPacket; frame++) {
      for (let channel = 0; channel < this.channels; channel++) {
        const sample = Math.round(signal(frame, channel, this.rate) * scale)
        bytes.writeIntBE(Math.max(-scale, Math.min(maximum, sample)), offset, width)
        offset += width
      }
    }
    return bytes
  }
}

/** Returns a UDP port to which a sender can send, and on which nothing receives yet. */
export async function findFreePort(address: string): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, address)
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}
