import { AnalyserError, type MeasuredSweep, type Span } from '../../domain/frequencies/analysers/span.ts'
import {
  parseTinysaVersion,
  parseTinysaZero,
  planTinysa,
  ScanrawReader,
  type TinysaModel,
  type TinysaPlan,
  tinysaPrompt,
  tinysaToDbm,
} from '../../domain/frequencies/analysers/tinysa.ts'
import { now } from '../../platform/clock.ts'
import type { Analyser } from './analyser.ts'
import { AnalyserPort, SilenceError } from './analyser-port.ts'

const answerMs = 6000
/** The levels of a sweep arrive a few at a time. */
const silenceMs = 10_000
const maxAnswerChars = 16_384
/** USB serial; the baud rate has no effect. */
const baudRate = 115_200

/** Throws an `AnalyserError` if it is no tinySA, or if it cannot measure the span. */
export async function openTinysa(name: string, span: Span, signal: AbortSignal): Promise<Analyser> {
  const port = await AnalyserPort.open(name, baudRate, signal)
  try {
    const model = await identify(port)
    const plan = planTinysa(span, model)
    for (const command of plan.setup) await request(port, command)
    const zeroDbm = parseTinysaZero(await request(port, 'zero')) ?? model.zeroDbm
    return new Tinysa(port, span, plan, { ...model, zeroDbm })
  } catch (error) {
    await port.close()
    throw error
  }
}

class Tinysa implements Analyser {
  readonly name: string
  readonly #port: AnalyserPort
  readonly #span: Span
  readonly #plan: TinysaPlan
  readonly #model: TinysaModel
  #isSweeping = false

  constructor(port: AnalyserPort, span: Span, plan: TinysaPlan, model: TinysaModel) {
    this.name = model.name
    this.#port = port
    this.#span = span
    this.#plan = plan
    this.#model = model
  }

  async sweep(): Promise<MeasuredSweep | null> {
    const { sweep, points } = this.#plan
    const startedAt = now()
    const reader = new ScanrawReader()
    this.#isSweeping = true
    await this.#port.write(`${sweep}\r`)
    while (!reader.hasEnded) reader.add(await this.#port.read(silenceMs))
    this.#isSweeping = false
    if (reader.levels.length < points) return null
    const { fromMhz, stepKhz } = this.#span
    const dbm = reader.levels.slice(0, points).map((level) => tinysaToDbm(level, this.#model.zeroDbm))
    return { startedAt, fromMhz, stepMhz: stepKhz / 1000, dbm }
  }

  async release(): Promise<void> {
    try {
      if (this.#isSweeping) await this.#port.write('abort\r')
      await this.#port.write('rbw auto\r')
    } catch {
      // It was unplugged.
    }
    await this.#port.close()
  }
}

/** An earlier program may have left a sweep running, whose bytes come before the answer. */
async function identify(port: AnalyserPort): Promise<TinysaModel> {
  await port.write('\rabort\r')
  const text = await exchange(port, 'version', (received) => parseTinysaVersion(received) !== null)
  const model = parseTinysaVersion(text)
  if (model !== null) return model
  const answer = text.replace(/[^ -~]+/g, ' ').trim()
  const reason = answer === '' ? 'nothing. Is it switched on?' : `${JSON.stringify(answer.slice(-60))}.`
  throw new AnalyserError(`${port.name}: not a tinySA. To "version" it answers ${reason}`)
}

/** Returns the answer between the echo and the prompt. Throws a `SilenceError` if the prompt does not come. */
async function request(port: AnalyserPort, command: string): Promise<string> {
  const afterEcho = (received: string) => {
    const echo = received.indexOf(`${command}\r`)
    return echo < 0 ? '' : received.slice(echo + command.length)
  }
  const text = afterEcho(await exchange(port, command, (received) => afterEcho(received).endsWith(tinysaPrompt)))
  if (text.endsWith(tinysaPrompt)) return text.slice(0, -tinysaPrompt.length).trim()
  throw new SilenceError(`${port.name}: no answer to "${command}" within ${answerMs / 1000} s`)
}

/** Sends a command, and returns what is received until `isComplete` or the time limit. */
async function exchange(port: AnalyserPort, command: string, isComplete: (text: string) => boolean): Promise<string> {
  await port.write(`${command}\r`)
  const deadline = performance.now() + answerMs
  let text = ''
  while (!isComplete(text) && performance.now() < deadline) {
    const bytes = await port.read(Math.max(1, deadline - performance.now())).catch((error) => {
      if (error instanceof SilenceError) return Buffer.alloc(0)
      throw error
    })
    text = (text + bytes.toString('latin1')).slice(-maxAnswerChars)
  }
  return text
}
