/**
 * Simulates the shell of a tinySA. It echoes commands and ends answers with its prompt. Levels are sent as they are, so
 * that bytes of levels can be CR, LF or braces. A touch on the screen ends a sweep early.
 */

import type { Duplex } from 'node:stream'
import { levelAt, type SimulatedCarrier } from './spectrum.ts'
import { startTcpInstrument, type TcpInstrument } from './tcp-instrument.ts'

export interface TinysaOptions {
  readonly model?: 'basic' | 'ultra'
  readonly carriers?: readonly SimulatedCarrier[]
  /** Points that are sent at once, and the pause after them. */
  readonly block?: { readonly points: number; readonly ms: number }
  /** A client before left it sweeping: a new one receives levels before any answer. */
  readonly isLeftSweeping?: boolean
}

export interface TinysaSimulator {
  readonly tcp: TcpInstrument
  /** Commands, in the order received. */
  readonly received: readonly string[]
  /** Sweeps that were sent to the end. */
  readonly sweeps: number
  readonly isSweeping: boolean
  /** Ends the current sweep early. */
  touch(): void
  /** Serves a client at another stream. */
  serve(stream: Duplex): void
}

const models = {
  basic: { version: 'tinySA_v1.4-143-g864bb27', hardware: 'V0.3', zero: 128, lowest: 100_000, highest: 960_000_000 },
  ultra: { version: 'tinySA4_v1.4-197-gaa78ccc', hardware: 'V0.5.4', zero: 174, lowest: 100_000, highest: 6e9 },
} as const

const prompt = 'ch> '

export async function startTinysa(options: TinysaOptions = {}): Promise<TinysaSimulator> {
  const { carriers = [], block = { points: 32, ms: 1 }, isLeftSweeping = false } = options
  const model = models[options.model ?? 'ultra']
  const received: string[] = []
  let sweeps = 0
  let isSweeping = false
  let isTouched = false

  function serve(stream: Duplex): void {
    let text = ''
    let isAborted = false
    const queue: string[] = []
    let isBusy = false
    const leftOver = isLeftSweeping ? setInterval(() => stream.write(Buffer.from([0x78, 0x0d, 0x0a])), 5) : undefined
    stream.on('close', () => clearInterval(leftOver)).on('error', () => {})
    stream.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
      const lines = text.split('\r')
      text = lines.pop() ?? ''
      for (const line of lines) {
        // `abort` is read while a sweep runs.
        if (line === 'abort') {
          isAborted = true
          clearInterval(leftOver)
        }
        queue.push(line)
      }
      void work()
    })

    async function work(): Promise<void> {
      if (isBusy) return
      isBusy = true
      for (let line = queue.shift(); line !== undefined; line = queue.shift()) {
        received.push(line)
        stream.write(`${line}\r\n`)
        await answer(line)
        stream.write(prompt)
      }
      isBusy = false
    }

    async function answer(line: string): Promise<void> {
      const [command, ...args] = line.split(' ')
      if (command === 'version') stream.write(`${model.version}\r\nHW Version:${model.hardware}\r\n`)
      else if (command === 'zero') stream.write(`usage: zero {level}\r\n${model.zero}dBm\r\n`)
      else if (command === 'scanraw') await scan(args.map(Number))
      else if (command === 'mode' && options.model !== 'basic') stream.write('usage: mode input|output\r\n')
      else if (!['', 'abort', 'rbw', 'mode'].includes(command ?? '')) stream.write(`${command}?\r\n`)
    }

    async function scan([start = 0, stop = 0, points = 290]: readonly number[]): Promise<void> {
      if (start > stop || start < model.lowest || start > model.highest) {
        stream.write('frequency range is invalid\r\n')
        return
      }
      isAborted = false
      isSweeping = true
      isTouched = false
      stream.write('{')
      for (let index = 0; index < points && !stream.destroyed && !isAborted && !isTouched; index += 1) {
        const mhz = (start + (index * (stop - start)) / points) / 1e6
        const level = Math.round((levelAt(mhz, carriers) + model.zero) * 32)
        stream.write(Buffer.from([0x78, level & 0xff, level >> 8]))
        if (index % block.points === block.points - 1) await new Promise((resolve) => setTimeout(resolve, block.ms))
      }
      if (!isAborted && !isTouched && !stream.destroyed) sweeps += 1
      isSweeping = false
      stream.write('}')
    }
  }

  return {
    tcp: await startTcpInstrument(serve),
    received,
    get sweeps() {
      return sweeps
    },
    get isSweeping() {
      return isSweeping
    },
    touch() {
      isTouched = true
    },
    serve,
  }
}
