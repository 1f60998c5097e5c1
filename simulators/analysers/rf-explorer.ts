/**
 * Simulates an RF Explorer. It sweeps until it is held, pauses after it was tuned, and sends a first sweep that is not
 * valid. It cuts a sweep off when it is tuned, and does not confirm a range that it has already.
 */

import type { Duplex } from 'node:stream'
import { levelAt, type SimulatedCarrier } from './spectrum.ts'
import { startTcpInstrument, type TcpInstrument } from './tcp-instrument.ts'

export interface RfExplorerOptions {
  readonly carriers?: readonly SimulatedCarrier[]
  readonly lowestKhz?: number
  readonly highestKhz?: number
  readonly maxSpanKhz?: number
  readonly points?: number
  /** How sweeps are announced: `$S`, `$s` or `$z`. */
  readonly header?: 'S' | 's' | 'z'
  readonly mode?: 'analyser' | 'generator'
  readonly sweepMs?: number
}

export interface RfExplorerSimulator {
  readonly tcp: TcpInstrument
  /** Commands without their header, in the order received. */
  readonly received: readonly string[]
  readonly isHeld: boolean
  serve(stream: Duplex): void
}

const cutMark = Buffer.from([0xff, 0xfe, 0xff, 0xfe, 0x00])
const tuneMs = 20

export async function startRfExplorer(options: RfExplorerOptions = {}): Promise<RfExplorerSimulator> {
  const { carriers = [], lowestKhz = 240_000, highestKhz = 960_000, maxSpanKhz = 600_000 } = options
  const { points = 112, header = 'S', mode = 'analyser', sweepMs = 15 } = options
  const received: string[] = []
  let [startKhz, endKhz] = [lowestKhz, Math.min(highestKhz, lowestKhz + maxSpanKhz)]
  let isHeld = false
  let isFirstSweep = false

  const pad = (value: number, digits: number) => String(Math.round(value)).padStart(digits, '0')
  const stepHz = () => Math.round(((endKhz - startKhz) * 1000) / (points - 1))
  const config = () =>
    [
      ...[pad(startKhz, 7), pad(stepHz(), 7), '-010', '-120', pad(points, 4), '0', mode === 'analyser' ? '000' : '001'],
      ...[pad(lowestKhz, 7), pad(highestKhz, 7), pad(maxSpanKhz, 7), '00110', '0000', '000'],
    ].join(',')

  function sweep(): Buffer {
    const levels = Array.from({ length: points }, (_, index) => {
      // Bytes that look like the start of a message.
      if (isFirstSweep) return index % 2 === 0 ? 0x24 : 0x53
      return Math.min(255, Math.round(-2 * levelAt((startKhz + (index * stepHz()) / 1000) / 1000, carriers)))
    })
    const counts = { S: [points], s: [points / 16], z: [points >> 8, points & 0xff] }
    return Buffer.from([0x24, header.charCodeAt(0), ...counts[header], ...levels, 0x0d, 0x0a])
  }

  function serve(stream: Duplex): void {
    let bytes = Buffer.alloc(0)
    let timer: NodeJS.Timeout | undefined
    const schedule = (ms: number) => {
      clearTimeout(timer)
      if (isHeld || mode !== 'analyser') return
      timer = setTimeout(() => {
        stream.write(sweep())
        isFirstSweep = false
        schedule(sweepMs)
      }, ms)
    }
    stream.on('close', () => clearTimeout(timer)).on('error', () => {})
    stream.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length > 1 && bytes.length >= (bytes[1] ?? 0)) {
        const length = bytes[1] ?? 2
        handle(bytes.subarray(2, length).toString('latin1'))
        bytes = bytes.subarray(Math.max(2, length))
      }
    })

    function handle(command: string): void {
      received.push(command)
      if (command === 'CH') {
        isHeld = true
        clearTimeout(timer)
      } else if (command === 'C0') {
        isHeld = false
        stream.write(`RF Explorer 03.39 21-Jun-22\r\n#C2-M:006,255,03.39\r\n#C2-F:${config()}\r\n`)
        schedule(sweepMs)
      } else if (command.startsWith('C2-F:')) tune(command.slice(5).split(',').map(Number))
    }

    function tune([start = 0, end = 0]: readonly number[]): void {
      if (start === startKhz && end === endKhz) return
      if (!isHeld) {
        const cut = sweep()
        stream.write(Buffer.concat([cut.subarray(0, cut.length >> 1), cutMark]))
      }
      startKhz = Math.max(lowestKhz, start)
      endKhz = Math.min(highestKhz, end, startKhz + maxSpanKhz)
      isHeld = false
      isFirstSweep = true
      stream.write(`#C2-F:${config()}\r\n`)
      schedule(tuneMs)
    }
    schedule(sweepMs)
  }

  return {
    tcp: await startTcpInstrument(serve),
    received,
    get isHeld() {
      return isHeld
    },
    serve,
  }
}
