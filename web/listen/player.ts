/** Plays one channel at a time. Nothing plays before a user asks for it. */

import { isRecord } from '../../src/domain/json.ts'
import type { StreamSound } from '../app/listening.ts'
import { serviceNow } from '../app/service-time.ts'
import { createOutput, type Output } from './output.ts'
import type { PlayoutStatus } from './playout.ts'

export interface PlayerState {
  /** Null while nothing was chosen, and for a channel of a stream. */
  readonly channelId: number | null
  readonly stream: StreamSound | null
  readonly phase: 'idle' | 'connecting' | 'playing'
  /** Why the sound has ended or was refused: a reason of the service, or its sentence. */
  readonly problem: string | null
  /** From 0 to 1. */
  readonly volume: number
  /** dBFS; null while nothing is played. */
  readonly level: number | null
  /** Milliseconds from the microphone's packet to the loudspeaker; null while nothing is played. */
  readonly latencyMs: number | null
}

const initialState: PlayerState = {
  channelId: null,
  stream: null,
  phase: 'idle',
  problem: null,
  volume: 1,
  level: null,
  latencyMs: null,
}

const headerBytes = 12
const frameMs = 20
const reconnectMs = 1000
const maxReconnects = 5

export class Player {
  readonly #mount: string
  readonly #listeners = new Set<() => void>()
  #state = initialState
  #context: AudioContext | null = null
  #gain: GainNode | null = null
  #session: Session | null = null

  constructor(mount: string) {
    this.#mount = mount
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly get = (): PlayerState => this.#state

  /** Must be called by an event handler of a user's action, because browsers do not play anything before. */
  play(channelId: number): void {
    this.#begin({ channelId, stream: null }, `channel=${channelId}`)
  }

  /** As `play`. */
  playStream(stream: StreamSound): void {
    this.#begin({ channelId: null, stream }, `stream=${stream.streamId}&ch=${stream.channel}`)
  }

  /** Plays the last choice. */
  resume(): void {
    const { channelId, stream } = this.#state
    if (stream !== null) this.playStream(stream)
    else if (channelId !== null) this.play(channelId)
  }

  stop(): void {
    this.#session?.close()
    this.#session = null
    this.#update({ phase: 'idle', level: null, latencyMs: null })
    void this.#context?.suspend()
  }

  /** Forgets the channel. */
  dismiss(): void {
    this.stop()
    this.#update({ channelId: null, stream: null, problem: null })
  }

  setVolume(volume: number): void {
    if (this.#gain !== null) this.#gain.gain.value = volume
    this.#update({ volume })
  }

  #begin(chosen: Pick<PlayerState, 'channelId' | 'stream'>, query: string): void {
    this.#session?.close()
    const { context, gain } = this.#open()
    void context.resume()
    this.#update({ ...chosen, phase: 'connecting', problem: null, level: null, latencyMs: null })
    const path = `${this.#mount}/api/audio/listen?${query}`
    this.#session = new Session({ path, context, destination: gain }, (change) => this.#update(change))
  }

  #open(): { readonly context: AudioContext; readonly gain: GainNode } {
    if (this.#context === null || this.#gain === null || this.#context.state === 'closed') {
      const context = new AudioContext({ sampleRate: 48_000, latencyHint: 'interactive' })
      const gain = context.createGain()
      gain.gain.value = this.#state.volume
      gain.connect(context.destination)
      // A phone interrupts the sound when it is locked or rings.
      const resume = () => {
        if (this.#state.phase !== 'idle' && context.state !== 'running' && !document.hidden) void context.resume()
      }
      context.addEventListener('statechange', resume)
      document.addEventListener('visibilitychange', resume)
      this.#context = context
      this.#gain = gain
    }
    return { context: this.#context, gain: this.#gain }
  }

  #update(change: Partial<PlayerState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

interface SessionOptions {
  readonly path: string
  readonly context: AudioContext
  readonly destination: AudioNode
}

/** The sound of one choice, from the request of the user to its end. */
class Session {
  readonly #options: SessionOptions
  readonly #update: (change: Partial<PlayerState>) => void
  #socket: WebSocket | null = null
  #output: Output | null = null
  #isClosed = false
  #reconnects = 0
  /** Of the first sample after the last frame, in milliseconds since 1970. */
  #endsAt: number | null = null
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: SessionOptions, update: (change: Partial<PlayerState>) => void) {
    this.#options = options
    this.#update = update
    this.#connect()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#socket?.close()
    this.#output?.close()
    this.#output = null
  }

  #connect(): void {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${this.#options.path}`)
    socket.binaryType = 'arraybuffer'
    let isOpened = false
    socket.onopen = () => {
      isOpened = true
    }
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket || this.#isClosed) return
      if (typeof data === 'string') void this.#receive(JSON.parse(data))
      else this.#write(data)
    }
    socket.onclose = () => {
      if (socket !== this.#socket || this.#isClosed) return
      if (isOpened) this.#reconnect()
      else void this.#explain()
    }
    this.#socket = socket
  }

  async #receive(message: unknown): Promise<void> {
    if (!isRecord(message)) return
    if (message.type === 'ended') this.#end(String(message.reason))
    if (message.type !== 'audio' || typeof message.rate !== 'number') return
    const { context, destination } = this.#options
    this.#output?.close()
    this.#output = null
    try {
      const output = await createOutput(context, destination, message.rate, (status) => this.#report(status))
      if (this.#isClosed) return output.close()
      this.#output = output
      this.#reconnects = 0
      this.#update({ phase: 'playing', problem: null })
    } catch (error) {
      this.#end(String(error))
    }
  }

  #write(bytes: ArrayBuffer): void {
    if (this.#output === null) return
    const view = new DataView(bytes)
    const frame = new Int16Array(bytes.slice(headerBytes))
    this.#endsAt = view.getFloat64(4, true) + frameMs
    this.#output.write(view.getUint32(0, true), frame)
  }

  #report(status: PlayoutStatus): void {
    if (this.#isClosed || this.#endsAt === null) return
    const { outputLatency = 0 } = this.#options.context
    const graphMs = serviceNow() - this.#endsAt + status.fillMs
    const level = status.peak > 0 ? 20 * Math.log10(status.peak) : -96
    this.#update({ level, latencyMs: Math.max(0, graphMs + outputLatency * 1000) })
  }

  #end(problem: string): void {
    this.close()
    this.#update({ phase: 'idle', problem, level: null, latencyMs: null })
  }

  #reconnect(): void {
    this.#reconnects += 1
    if (this.#reconnects > maxReconnects) {
      this.#end('lost')
      return
    }
    this.#update({ phase: 'connecting', level: null, latencyMs: null })
    this.#timer = setTimeout(() => this.#connect(), reconnectMs)
  }

  /** A script cannot read why the WebSocket was refused, so it asks again with a plain request. */
  async #explain(): Promise<void> {
    try {
      const response = await fetch(this.#options.path)
      const body: unknown = await response.json()
      if (this.#isClosed) return
      const isReady = response.status === 426
      if (isReady) this.#reconnect()
      else this.#end(isRecord(body) ? String(body.error) : String(response.status))
    } catch {
      if (!this.#isClosed) this.#reconnect()
    }
  }
}
