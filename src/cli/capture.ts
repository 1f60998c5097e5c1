/**
 * capture: records what the running service exchanges with a device, without names, serial numbers, addresses and
 * passwords. capture check: replays such a file through the adapter.
 */

import { readFile, stat } from 'node:fs/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type CaptureBody, captureOperations } from '../contract/captures.ts'
import { captureMinutes } from '../domain/captures.ts'
import { CaptureError, maxCaptureFileBytes, parseCapture, replayCapture } from '../manufacturers/replay.ts'
import { pause } from '../platform/wait.ts'
import { writeText } from '../storage/sqlite-file.ts'
import { localAddressOf } from './doctor/server.ts'
import { bearer, describeRefusal, requestService } from './service-client.ts'
import {
  type CommonOptions,
  createCommand,
  type ExitCode,
  exitCodes,
  plain,
  printJson,
  readOptions,
  type Terminal,
  UsageError,
} from './terminal.ts'

interface CaptureOptions extends CommonOptions {
  readonly minutes: number
  readonly out?: string
  readonly url?: string
  readonly token?: string
}

export function captureCommand(terminal: Terminal, done: (code: ExitCode) => void): Command {
  const check = new Command('check')
    .description('Replay a capture through the adapter, and print what it reads differently')
    .argument('<file>', 'file of a capture')
    .option('--json', 'print only one JSON document on standard output')
    .addHelpText(
      'after',
      '\nExit code: 0 without differences, 1 with some or if the file was cut off, 2 if it is not a capture.',
    )
    .action(async (file: string, _options: object, command: Command) =>
      done(await checkCapture(file, command.optsWithGlobals().json === true, terminal)),
    )
  return createCommand(
    'capture',
    'Record what the running service exchanges with a device, without names and addresses',
  )
    .argument('<address>', 'address of the device or system, as in the configuration, or its host')
    .addOption(
      new Option('--minutes <n>', `for how long; fractions are allowed, up to ${captureMinutes.most}`)
        .default(captureMinutes.usual)
        .argParser(parseMinutes),
    )
    .option('--out <file>', 'file to write (default: micwatch-capture.jsonl)')
    .option('--url <address>', 'address of the service (default: this machine, as configured)')
    .option('--token <token>', 'API token of an administrator (default: MICWATCH_TOKEN)')
    .action(async (address: string, options: CaptureOptions) => done(await capture(address, options, terminal)))
    .addCommand(check)
}

function parseMinutes(text: string): number {
  const minutes = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (minutes > 0 && minutes <= captureMinutes.most) return minutes
  throw new InvalidArgumentError(`Expected a number above 0, up to ${captureMinutes.most}.`)
}

async function capture(address: string, options: CaptureOptions, terminal: Terminal): Promise<ExitCode> {
  const config = readOptions(options, terminal, { isOffline: true })
  const token = options.token ?? terminal.env.MICWATCH_TOKEN
  if (!token) throw new UsageError('--token: expected the token of an administrator; see micwatch token create')
  const api = new CaptureApi(options.url ?? localAddressOf(config), token)
  const file = options.out ?? 'micwatch-capture.jsonl'
  const started = await api.start(address, options.minutes)
  terminal.err(
    `Capturing ${plain(started.address)} until ${started.ends_at}. Ctrl+C ends it earlier and writes the file.`,
  )
  let body = started
  while (body.ended === null) {
    body = (await pause(pollMs, terminal.signal)) ? await api.get(body.id) : await api.stop(body.id)
  }
  await writeText(file, await api.file(body.id))
  if (options.json) printJson(terminal, { file, ...body })
  else terminal.out(`Wrote ${plain(file)}: ${body.lines} lines. Read it before you pass it on.`)
  return exitCodes.ok
}

const pollMs = 1000

/** Requests to the running service. */
class CaptureApi {
  readonly #base: string
  readonly #token: string

  constructor(base: string, token: string) {
    this.#base = base.replace(/\/+$/, '')
    this.#token = token
  }

  start(address: string, minutes: number): Promise<CaptureBody> {
    return this.#json(captureOperations.startCapture, undefined, { address, minutes })
  }

  get(id: number): Promise<CaptureBody> {
    return this.#json(captureOperations.getCapture, id)
  }

  stop(id: number): Promise<CaptureBody> {
    return this.#json(captureOperations.stopCapture, id, {})
  }

  file(id: number): Promise<string> {
    return this.#send(captureOperations.getCaptureFile, id)
  }

  async #json(operation: Operation, id?: number, body?: object): Promise<CaptureBody> {
    return JSON.parse(await this.#send(operation, id, body)) as CaptureBody
  }

  async #send({ method, url }: Operation, id?: number, body?: object): Promise<string> {
    const response = await requestService(this.#base, url.replace(':id', String(id)), {
      method,
      headers: { ...bearer(this.#token), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.ok) return text
    throw new Error(describeRefusal(response.status, text))
  }
}

type Operation = (typeof captureOperations)[keyof typeof captureOperations]

async function checkCapture(path: string, isJson: boolean, terminal: Terminal): Promise<ExitCode> {
  try {
    const capture = parseCapture(await readBounded(path))
    const { differences, error, unknownRequests } = await replayCapture(capture)
    const isCutOff = capture.end === null
    if (isJson)
      printJson(terminal, { file: path, complete: !isCutOff, differences, error, unknown_requests: unknownRequests })
    else {
      for (const { path: field, recorded, replayed } of differences) {
        terminal.out(
          `${plain(field)}: recorded ${plain(JSON.stringify(recorded))}, now ${plain(JSON.stringify(replayed))}`,
        )
      }
      if (error !== null) terminal.out(`The adapter could not read the capture: ${plain(error)}`)
      for (const request of unknownRequests) terminal.out(`Not in the capture: ${plain(request)}`)
      if (isCutOff) terminal.out(`${plain(path)} was cut off. It was checked up to its last complete line.`)
      if (differences.length === 0 && error === null)
        terminal.out('The adapter reads the same as when it was recorded.')
    }
    return differences.length === 0 && error === null && !isCutOff ? exitCodes.ok : exitCodes.failed
  } catch (error) {
    if (error instanceof CaptureError) throw new UsageError(`${path}: ${error.message}`)
    throw error
  }
}

async function readBounded(path: string): Promise<string> {
  const { size, isFile } = await stat(path).then(
    (found) => ({ size: found.size, isFile: found.isFile() }),
    (error) => {
      throw new UsageError(`${path}: cannot be read: ${error.code}`)
    },
  )
  // The size of a device or a pipe is not known.
  if (!isFile) throw new UsageError(`${path}: expected a file`)
  if (size > maxCaptureFileBytes)
    throw new CaptureError(`the file has ${size} bytes; expected at most ${maxCaptureFileBytes}`)
  return readFile(path, 'utf8').catch((error) => {
    throw new UsageError(`${path}: cannot be read: ${error.code}`)
  })
}
