/** Adds sweeps of analysers: one in JSON, or rows that arrive for as long as the analyser runs. */

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { NewSweepBody, ReceivedSweepsBody } from '../../contract/sweeps.ts'
import { RequestError } from '../../domain/errors.ts'
import {
  haveSameGrid,
  highestDbm,
  highestMhz,
  holdHighest,
  lowestDbm,
  maxSweepSources,
  type Sweep,
  SweepError,
  toSweep,
} from '../../domain/frequencies/sweeps/sweep.ts'
import { SweepRows } from '../../domain/frequencies/sweeps/sweep-rows.ts'
import type { LiveSweeps } from '../../frequencies/live-sweeps.ts'
import { now } from '../../platform/clock.ts'

export function pushSweep(sweeps: LiveSweeps, body: NewSweepBody): ReceivedSweepsBody {
  const { source, started_at } = body
  const sweep = refusing(() =>
    toSweep({
      startedAt: started_at === undefined ? now() : Date.parse(started_at),
      fromMhz: inRange('mhz_from', body.mhz_from, 0.001, highestMhz),
      stepMhz: inRange('mhz_step', body.mhz_step, 0.000_001, highestMhz),
      dbm: body.dbm.map((level, index) =>
        level === null ? null : inRange(`dbm.${index}`, level, lowestDbm, highestDbm),
      ),
      isCalibrated: true,
    }),
  )
  sweeps.add(source, sweep)
  return { source, sweeps: 1, rows_read: 1, rows_skipped: [] }
}

/** The schema has accepted any number in text. */
function inRange(field: string, value: number | string, lowest: number, highest: number): number {
  const number = Number(value)
  if (number >= lowest && number <= highest) return number
  throw new SweepError(`${field}: expected a number from ${lowest} to ${highest}`)
}

function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof SweepError ? new RequestError('bad_request', { details: error.message }) : error
  }
}

/** A row of 20,000 levels is shorter. */
const maxLineLength = 512 * 1024
/** A sweep without further rows for this time is complete. */
const quietMs = 1000

/** The requests whose rows are being read. A new one for a source ends the one before it. */
export class SweepStreams {
  readonly #sweeps: LiveSweeps
  readonly #running = new Map<string, Readable>()

  constructor(sweeps: LiveSweeps) {
    this.#sweeps = sweeps
  }

  /** Reads to the end of the body, or until the signal aborts. Throws a `RequestError` about rows that are refused. */
  async read(source: string, body: Readable, signal: AbortSignal): Promise<ReceivedSweepsBody> {
    this.#sweeps.requireRoom(source)
    if (!this.#running.has(source) && this.#running.size >= maxSweepSources) {
      throw new RequestError('sweeps_full', { details: `source: at most ${maxSweepSources} sources send at a time` })
    }
    this.#running.get(source)?.destroy()
    this.#running.set(source, body)
    const stop = () => body.destroy()
    signal.addEventListener('abort', stop, { once: true })
    const stream = new SweepStream(this.#sweeps, source)
    try {
      await stream.read(body)
      return stream.toBody()
    } finally {
      signal.removeEventListener('abort', stop)
      if (this.#running.get(source) === body) this.#running.delete(source)
    }
  }
}

class SweepStream {
  readonly #sweeps: LiveSweeps
  readonly #source: string
  readonly #rows = new SweepRows(now)
  readonly #decoder = new StringDecoder('latin1')
  #text = ''
  #count = 0
  /** A sweep that came too soon after others. It is united with the next one. */
  #held: Sweep | null = null

  constructor(sweeps: LiveSweeps, source: string) {
    this.#sweeps = sweeps
    this.#source = source
  }

  /** Resolves at the end of the body, also if the client or the service has cut it off. */
  read(body: Readable): Promise<void> {
    return new Promise((resolve, reject) => {
      let quiet: NodeJS.Timeout | undefined
      const attempt = (work: () => void) => {
        try {
          work()
        } catch (error) {
          stop()
          reject(error)
        }
      }
      const receive = (chunk: Buffer) => {
        clearTimeout(quiet)
        quiet = setTimeout(() => attempt(() => this.#endSweep()), quietMs)
        attempt(() => this.#push(this.#decoder.write(chunk)))
      }
      const end = () =>
        attempt(() => {
          stop()
          this.#end()
          resolve()
        })
      const stop = () => {
        clearTimeout(quiet)
        body.off('data', receive).off('end', end).off('close', end)
      }
      // An error is followed by `close`.
      body.on('error', () => {})
      body.on('data', receive).once('end', end).once('close', end)
    })
  }

  #endSweep(isLast = false): void {
    this.#add(refusing(() => this.#rows.end()))
    this.#addHeld(isLast)
  }

  #end(): void {
    if (this.#text !== '') this.#addLine(this.#text)
    refusing(() => this.#rows.requireReadable())
    this.#endSweep(true)
  }

  toBody(): ReceivedSweepsBody {
    const { rowsRead, rowsSkipped } = this.#rows
    return { source: this.#source, sweeps: this.#count, rows_read: rowsRead, rows_skipped: rowsSkipped }
  }

  #push(chunk: string): void {
    const lines = (this.#text + chunk).split(/\r?\n/)
    this.#text = lines.pop() ?? ''
    for (const line of lines) this.#addLine(line)
    if (this.#text.length > maxLineLength) {
      const details = `Line ${this.#rows.line + 1}: the line does not end within ${maxLineLength} bytes`
      throw new RequestError('bad_request', { details })
    }
  }

  #addLine(line: string): void {
    if (line.includes('\0')) {
      const details = `Line ${this.#rows.line + 1}: expected text, found binary data. Do not use -B or -I`
      throw new RequestError('bad_request', { details })
    }
    this.#add(refusing(() => this.#rows.add(line)))
  }

  /** `hackrf_sweep` measures small ranges more often than sweeps are accepted. */
  #add(sweep: Sweep | null): void {
    if (sweep === null) return
    const held = this.#held
    this.#count += 1
    this.#held =
      held !== null && haveSameGrid(held, sweep)
        ? { ...sweep, tenthsDbm: holdHighest(held.tenthsDbm, sweep.tenthsDbm) }
        : sweep
    this.#addHeld()
  }

  #addHeld(isLast = false): void {
    if (this.#held === null || (!isLast && this.#sweeps.waitMs(this.#source) > 0)) return
    this.#sweeps.add(this.#source, this.#held, isLast)
    this.#held = null
  }
}
