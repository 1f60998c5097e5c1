/**
 * Scans by a Digital 6000, over a socket of their own. Source: Sennheiser's SSC developer's guide for Digital 6000
 * (TI 1109 v2.2, 8.18 and 8.19). The guide does not say whether a session repeats its range, whether audio stops, or
 * whether the receiver returns to its frequencies. So a session may end after each sweep, and `restore`
 * compares the frequencies.
 */

import { toSweep } from '../../../domain/frequencies/sweeps/sweep.ts'
import { now } from '../../../platform/clock.ts'
import { pause } from '../../../platform/wait.ts'
import type { UpstreamClient } from '../../../upstream/client.ts'
import type { ScanEvent, ScannerState, ScanRange, SpectrumScanner } from '../../plugin.ts'
import type { SscMessage } from './codec.ts'
import { formatCancellation, formatSubscription, formatValue } from './codec.ts'
import { Exchange } from './exchange.ts'
import { ScanBlocks } from './scan-blocks.ts'

/** Of both bands together, in TI 1109. A device corrects what its own band does not include. */
const largestRange: ScanRange = { fromKhz: 470_100, toKhz: 713_900, stepKhz: 25 }
const configAddress = '/rx1/scan/config'
const resultAddress = '/rx1/scan/result'
const channels = [1, 2]
const terms = { lifetimeS: 60, count: 1000, minMs: 0, maxMs: 0 }
const renewEveryMs = 20_000
/** Without a block for this time, the device is asked whether it still scans. */
const checkAfterMs = 2000
/** The device ends a scan within about 100 ms. */
const stopMs = 150
const maxStarts = 3
const answerMs = 1000
/** More lost blocks of a sweep are not requested. */
const maxGaps = 24

export const scanner: SpectrumScanner = {
  rangeOf: (deviceType) => (deviceType === 'd6000' ? largestRange : null),

  readState: (client, signal) =>
    Exchange.use(client, signal, async (exchange) => {
      const config = await exchange.ask(configAddress)
      if (config === undefined) throw refusal(client, 'its firmware does not support scans')
      const tuned = await readTuned(exchange)
      const batteries = await exchange.askAll(channels.map((channel) => `/rx${channel}/skx/battery`))
      return {
        tuned,
        isScanning: isRunning(config),
        hasTransmitter: [...batteries.values()].some((battery) => Array.isArray(battery) && battery.length > 0),
      }
    }),

  async *scan(client, range, signal) {
    const exchange = await Exchange.open(client, signal, formatCancellation([[resultAddress]]))
    try {
      yield* new Scan(client, exchange, range).run()
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      exchange.close()
    }
  },

  restore: (client, tuned, signal) =>
    Exchange.use(client, signal, async (exchange) => {
      for (;;) {
        await exchange.ask(configAddress, formatValue(configAddress, [0]))
        await pause(stopMs, signal)
        if (!isRunning(await exchange.ask(configAddress))) break
      }
      for (const [channel, khz] of await readTuned(exchange)) {
        const wanted = tuned.get(channel)
        if (wanted === undefined || wanted === khz) continue
        const address = carrierOf(channel)
        const set = await exchange.ask(address, formatValue(address, wanted))
        if (set === wanted) continue
        throw refusal(client, `channel ${channel} is tuned to ${set} kHz instead of ${wanted} kHz`)
      }
    }),
}

const carrierOf = (channel: number) => `/rx${channel}/carrier`

async function readTuned(exchange: Exchange): Promise<ScannerState['tuned']> {
  const carriers = await exchange.askAll(channels.map(carrierOf))
  return new Map(
    channels.flatMap((channel) => {
      const khz = carriers.get(carrierOf(channel))
      return typeof khz === 'number' ? [[channel, khz] as const] : []
    }),
  )
}

/** `[0]` without a session, `[1]` or `[1, from, to, step, session]` with one. */
function isRunning(config: unknown): boolean {
  return Array.isArray(config) && config[0] === 1
}

function refusal(client: UpstreamClient, reason: string): Error {
  return new client.errors.ApiError(`${new URL(client.settings.baseUrl).host}: ${reason}`)
}

class Scan {
  readonly #client: UpstreamClient
  readonly #exchange: Exchange
  readonly #wanted: ScanRange
  #subscribedAt = Number.NEGATIVE_INFINITY

  constructor(client: UpstreamClient, exchange: Exchange, wanted: ScanRange) {
    this.#client = client
    this.#exchange = exchange
    this.#wanted = wanted
  }

  async *run(): AsyncGenerator<ScanEvent> {
    let blocks = await this.#start()
    let startedAt = now()
    let hasResult = false
    yield { type: 'started' }
    for (;;) {
      const isOver = await this.#collect(blocks)
      hasResult ||= !blocks.isEmpty
      if (isOver && !hasResult) throw refusal(this.#client, 'the receiver has ended the scan without a result')
      if (!blocks.isEmpty) {
        await this.#fill(blocks)
        yield { type: 'sweep', sweep: toMeasured(blocks, startedAt) }
      }
      if (isOver) {
        blocks = await this.#start()
        hasResult = false
      }
      startedAt = now()
    }
  }

  /** Begins a session, and returns the collector for the range that the device has confirmed. */
  async #start(): Promise<ScanBlocks> {
    await this.#subscribe()
    const { fromKhz, toKhz, stepKhz } = this.#wanted
    const request = formatValue(configAddress, [1, fromKhz * 1000, toKhz * 1000, stepKhz * 1000])
    for (let attempt = 0; attempt < maxStarts; attempt += 1) {
      // A repeated request would be refused if the first one had been accepted.
      const answer = await this.#exchange.request(configAddress, request, answerMs)
      const config = answer?.values.get(configAddress)
      if (isRunning(config)) return this.#toBlocks(config)
      if (answer !== null) throw refusal(this.#client, 'the receiver has refused the scan')
      // The request or its answer was lost.
      if (isRunning(await this.#exchange.ask(configAddress))) return new ScanBlocks(this.#wanted, null)
    }
    throw refusal(this.#client, 'the receiver does not confirm the scan')
  }

  #toBlocks(answer: unknown): ScanBlocks {
    const [, fromHz, toHz, stepHz, session] = Array.isArray(answer) ? answer : []
    const isConfirmed = [fromHz, toHz, stepHz, session].every((number) => typeof number === 'number' && number > 0)
    if (!isConfirmed || toHz <= fromHz || stepHz % (largestRange.stepKhz * 1000) !== 0) {
      return new ScanBlocks(this.#wanted, null)
    }
    const range = { fromKhz: fromHz / 1000, toKhz: toHz / 1000, stepKhz: stepHz / 1000 }
    return new ScanBlocks(range, session)
  }

  async #subscribe(): Promise<void> {
    this.#subscribedAt = performance.now()
    await this.#exchange.send(formatSubscription([resultAddress], terms))
  }

  /** Resolves at the end of a sweep. Returns true if the session is over. */
  async #collect(blocks: ScanBlocks): Promise<boolean> {
    while (!blocks.isComplete) {
      if (performance.now() - this.#subscribedAt > renewEveryMs) await this.#subscribe()
      const received = await this.#nextBlock()
      if (received === null) {
        if (!isRunning(await this.#exchange.ask(configAddress))) return true
      } else if (!blocks.add(received.values.get(resultAddress))) {
        // Belongs to the next sweep.
        this.#exchange.putBack(received)
        return false
      }
    }
    return false
  }

  async #nextBlock(): Promise<SscMessage | null> {
    const until = performance.now() + checkAfterMs
    for (;;) {
      const received = await this.#exchange.next(until - performance.now())
      if (received === null || received.values.has(resultAddress)) return received
    }
  }

  /** Requests the blocks that were lost. */
  async #fill(blocks: ScanBlocks): Promise<void> {
    for (const { first, last } of blocks.gaps().slice(0, maxGaps)) {
      const [fromHz, toHz] = [blocks.toHz(first), blocks.toHz(last)]
      const isPart = (value: unknown) => Array.isArray(value) && value[3] >= fromHz && value[4] <= toHz
      const request = formatValue(resultAddress, [fromHz, toHz])
      blocks.fill(await this.#exchange.ask(resultAddress, request, isPart))
    }
  }
}

function toMeasured(blocks: ScanBlocks, startedAt: number) {
  const { fromKhz, stepKhz } = blocks.range
  return toSweep({
    startedAt,
    fromMhz: fromKhz / 1000,
    stepMhz: stepKhz / 1000,
    dbm: blocks.take(),
    isCalibrated: true,
  })
}
