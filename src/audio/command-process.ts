/** Runs a program that writes samples to its standard output, and starts it again when it ends. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { endChild } from '../platform/end-child.ts'

const minRetryMs = 1000
const maxRetryMs = 30_000
/** A program that ran for this time has not failed at once. */
const stableMs = 10_000
const killMs = 2000
const maxErrorLength = 300
/** A program that reads a file delivers sound faster than it sounds. */
const maxAheadMs = 40
/** The clocks of sound cards differ by less than 0.02%. */
const maxSpeed = 1.001

interface CommandOptions {
  readonly argv: readonly string[]
  readonly bytesPerFrame: number
  /** Hz. */
  readonly rate: number
  /** `position` counts samples from the start of the program. */
  onSamples(position: number, bytes: Uint8Array, frames: number): void
  onStart(): void
}

export class CommandProcess {
  /** Why the program delivers no sound; null while it runs. */
  problem: string | null = null
  readonly #options: CommandOptions
  #child: ChildProcessByStdio<null, Readable, Readable> | null = null
  #retryMs = minRetryMs
  #timer: NodeJS.Timeout | undefined
  #passingTimer: NodeJS.Timeout | undefined
  #isStopped = false
  /** Samples that were not passed on yet, and the beginning of a frame after them. */
  #pending: Buffer = Buffer.alloc(0)
  #position = 0
  #startedAt = 0
  /** When the first samples arrived: a program may take long to start. */
  #firstAt = 0

  constructor(options: CommandOptions) {
    this.#options = options
    this.#start()
  }

  /** Resolves when the program has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearTimeout(this.#passingTimer)
    const child = this.#child
    if (child === null) return
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    endChild(child, killMs)
    child.stdout.destroy()
    child.stderr.destroy()
    await ended
  }

  #start(): void {
    const { argv, onStart } = this.#options
    const [program = '', ...args] = argv
    this.#pending = Buffer.alloc(0)
    this.#position = 0
    this.#startedAt = performance.now()
    let errors = ''
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], shell: false, windowsHide: true })
    this.#child = child
    onStart()
    child.stdout.on('data', (chunk: Buffer) => this.#receive(child.stdout, chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString()}`.slice(-maxErrorLength)
    })
    child.once('error', (error: NodeJS.ErrnoException) => {
      this.problem =
        error.code === 'ENOENT'
          ? `The program ${program} does not exist.`
          : `The program ${program} cannot be started: ${error.message}.`
      // A program that did not start has no `close`.
      if (child.pid === undefined) this.#ended(child)
    })
    child.once('close', (code, signal) => {
      const cause = errors.trim().split('\n').at(-1)?.trim()
      this.problem ??= `The program ${program} ended with ${signal ?? `code ${code}`}${cause ? `: ${cause}` : ''}.`
      this.#ended(child)
    })
  }

  #receive(stdout: Readable, chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    this.#passOn(stdout)
  }

  /** Passes samples on in pieces as long as packets, at the speed at which they sound. */
  #passOn(stdout: Readable): void {
    const { bytesPerFrame, rate, onSamples } = this.#options
    const piece = Math.round(rate / 100)
    let from = 0
    for (;;) {
      const frames = Math.min(piece, Math.floor((this.#pending.length - from) / bytesPerFrame))
      if (frames === 0) break
      if (this.#position === 0) this.#firstAt = performance.now()
      const aheadMs = (this.#position / (rate * maxSpeed)) * 1000 - (performance.now() - this.#firstAt)
      if (aheadMs > maxAheadMs) {
        this.#pending = this.#pending.subarray(from)
        stdout.pause()
        this.#passingTimer = setTimeout(() => this.#passOn(stdout), aheadMs - maxAheadMs / 2)
        return
      }
      this.problem = null
      const end = from + frames * bytesPerFrame
      onSamples(this.#position, this.#pending.subarray(from, end), frames)
      this.#position += frames
      from = end
    }
    this.#pending = Buffer.from(this.#pending.subarray(from))
    stdout.resume()
  }

  #ended(child: ChildProcessByStdio<null, Readable, Readable>): void {
    if (this.#child !== child) return
    this.#child = null
    clearTimeout(this.#passingTimer)
    if (this.#isStopped) return
    const isStable = performance.now() - this.#startedAt >= stableMs
    this.#retryMs = isStable ? minRetryMs : Math.min(maxRetryMs, 2 * this.#retryMs)
    this.#timer = setTimeout(() => {
      this.problem = null
      this.#start()
    }, this.#retryMs)
  }
}
