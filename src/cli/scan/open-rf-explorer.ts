import {
  isTunedTo,
  type MeasuredPiece,
  planRfExplorer,
  type RfExplorerConfig,
  type RfExplorerMessage,
  type RfExplorerPiece,
  RfExplorerReader,
  rfExplorerBaudRate,
  rfExplorerCommands,
  toRfExplorerCommand,
  toTuneCommand,
  unitePieces,
} from '../../domain/frequencies/analysers/rf-explorer.ts'
import { AnalyserError, countPoints, type MeasuredSweep, type Span } from '../../domain/frequencies/analysers/span.ts'
import { now } from '../../platform/clock.ts'
import type { Analyser } from './analyser.ts'
import { AnalyserPort, SilenceError } from './analyser-port.ts'

const answerMs = 5000
/** A sweep of the largest model is shorter. */
const sweepMs = 20_000

/** Throws an `AnalyserError` if it is no RF Explorer, or if it cannot measure the span. */
export async function openRfExplorer(name: string, span: Span, signal: AbortSignal): Promise<Analyser> {
  const points = countPoints(span)
  const port = await AnalyserPort.open(name, rfExplorerBaudRate, signal)
  try {
    const analyser = new RfExplorer(port, span, points)
    await analyser.start()
    return analyser
  } catch (error) {
    await port.close()
    throw error
  }
}

class RfExplorer implements Analyser {
  readonly name = 'RF Explorer'
  readonly #port: AnalyserPort
  readonly #span: Span
  readonly #points: number
  readonly #reader = new RfExplorerReader()
  #messages: readonly RfExplorerMessage[] = []
  #pieces: readonly RfExplorerPiece[] = []
  #config: RfExplorerConfig | null = null

  constructor(port: AnalyserPort, span: Span, points: number) {
    this.#port = port
    this.#span = span
    this.#points = points
  }

  async start(): Promise<void> {
    const config =
      (await this.#request(rfExplorerCommands.requestConfig)) ?? (await this.#request(rfExplorerCommands.requestConfig))
    if (config === null) {
      throw new AnalyserError(
        `${this.#port.name}: not an RF Explorer, or its speed is not 500 kbit/s. It does not send its configuration.`,
      )
    }
    if (!config.isAnalyser) {
      throw new AnalyserError(
        `${this.#port.name}: this RF Explorer is in another mode. Select the spectrum analyser on it.`,
      )
    }
    this.#pieces = planRfExplorer(this.#span, config)
  }

  async sweep(): Promise<MeasuredSweep> {
    const startedAt = now()
    const measured: MeasuredPiece[] = []
    for (const piece of this.#pieces) {
      await this.#tune(piece)
      measured.push(await this.#nextSweep())
    }
    const { fromMhz, stepKhz } = this.#span
    return { startedAt, fromMhz, stepMhz: stepKhz / 1000, dbm: unitePieces(this.#span, this.#points, measured) }
  }

  async release(): Promise<void> {
    await this.#port.write(toRfExplorerCommand(rfExplorerCommands.hold)).catch(() => {})
    await this.#port.close()
  }

  /** The first sweep after a change is not valid. */
  async #tune(piece: RfExplorerPiece): Promise<void> {
    if (this.#config !== null && isTunedTo(this.#config, piece)) return
    // Some firmware does not confirm a range that it has already.
    const config =
      (await this.#request(toTuneCommand(piece))) ?? (await this.#request(rfExplorerCommands.requestConfig))
    if (config === null || !isTunedTo(config, piece)) {
      const { startKhz, endKhz } = piece
      throw new AnalyserError(`${this.#port.name}: RF Explorer does not accept ${startKhz} to ${endKhz} kHz`)
    }
    this.#config = config
    await this.#nextSweep()
  }

  /** Returns the configuration that the device sends as the answer; null if it sends none. */
  async #request(command: string): Promise<RfExplorerConfig | null> {
    await this.#port.write(toRfExplorerCommand(command))
    const deadline = performance.now() + answerMs
    while (performance.now() < deadline) {
      const message = await this.#next(Math.max(1, deadline - performance.now())).catch((error) => {
        if (error instanceof SilenceError) return null
        throw error
      })
      if (message === null) return null
      if (message.type === 'config') return message.config
    }
    return null
  }

  async #nextSweep(): Promise<MeasuredPiece> {
    const deadline = performance.now() + sweepMs
    for (;;) {
      const message = await this.#next(Math.max(1, deadline - performance.now()))
      // The user of the device may also tune it.
      if (message.type === 'config') this.#config = message.config
      else if (this.#config !== null) return { config: this.#config, dbm: message.dbm }
    }
  }

  async #next(timeoutMs: number): Promise<RfExplorerMessage> {
    for (;;) {
      const [message, ...rest] = this.#messages
      this.#messages = rest
      if (message !== undefined) return message
      this.#messages = this.#reader.add(await this.#port.read(timeoutMs))
    }
  }
}
