/** Runs the service against simulated systems, in this process or as the command-line program. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Logger, pino } from 'pino'
import { sourceOf } from '../../scripts/bill-of-materials.ts'
import { readSource } from '../../scripts/source.ts'
import { type LectrosonicsSimulatorOptions, startLectrosonicsSimulator } from '../../simulators/lectrosonics/dsqd.ts'
import { type SennheiserSimulatorOptions, startSennheiserSimulator } from '../../simulators/sennheiser/system.ts'
import type { Simulator } from '../../simulators/show/simulator.ts'
import { type ShureSimulatorOptions, startShureSimulator } from '../../simulators/shure/device-api.ts'
import { type SystemApiOptions, startSystemApiSimulator } from '../../simulators/shure/system-api.ts'
import { readConfig } from '../../src/config.ts'
import type { ChannelBody } from '../../src/contract/channels.ts'
import type { ReceiverDetail, ReceiverInData, ReceiverSummary } from '../../src/contract/receivers.ts'
import { type App, createApp } from '../../src/http/app.ts'
import type { Service } from '../../src/service.ts'
import { onTestEnd } from './cleanup.ts'
import { type HttpClient, httpClient } from './http-client.ts'
import { checkResponse } from './response-check.ts'
import { unlimitedRate } from './simulator-client.ts'
import { openSocket, type SocketOptions, type TestSocket } from './socket-client.ts'
import { createEmptyDatabase, createTestDatabase, createTestFolder, type Engine } from './store/databases.ts'
import { timeLimit, waitInTurns } from './time-limit.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bill = join(root, 'dist/sbom.cdx.json')
/** The sources of the build, if there is one. */
const source = existsSync(bill) ? sourceOf(readFileSync(bill, 'utf8')) : readSource(root)
export const { version, commit } = source
/** The output of `--version`. */
export const release = commit === null ? version : `${version} (${commit.slice(0, 10)})`

// --- Simulated systems -----------------------------------------------------------------------------------------------

const plainShow = { rateLimit: unlimitedRate, story: false } as const

export async function startShure(options: ShureSimulatorOptions = {}) {
  const simulator = await startShureSimulator({ ...plainShow, receivers: 2, channelsPerReceiver: 2, ...options })
  onTestEnd(() => simulator.close())
  return simulator
}

export async function startSennheiser(options: SennheiserSimulatorOptions = {}) {
  const simulator = await startSennheiserSimulator({
    ...plainShow,
    receivers: 2,
    channelsPerReceiver: 2,
    ...options,
  })
  onTestEnd(() => simulator.close())
  return simulator
}

export async function startLectrosonics(options: LectrosonicsSimulatorOptions = {}) {
  const simulator = await startLectrosonicsSimulator({ story: false, receivers: 1, ...options })
  onTestEnd(() => simulator.close())
  return simulator
}

export async function startSystemApi(options: SystemApiOptions = {}) {
  const simulator = await startSystemApiSimulator({
    ...plainShow,
    receivers: 2,
    channelsPerReceiver: 2,
    ...options,
  })
  onTestEnd(() => simulator.close())
  return simulator
}

/** Makes the simulator reject push connections, so that only polling remains. */
export function withoutPush<S extends Simulator>(simulator: S): S {
  simulator.setFault({ type: 'status', status: 404 }, { path: /\/ws$|\/subscriptions/ })
  return simulator
}

/** Returns the manufacturer's configuration entry, with a high call rate and one poll a second. */
export function configFor({ manufacturer, config }: Pick<Simulator, 'manufacturer' | 'config'>, more: object = {}) {
  const rate = { calls_per_second: 1000, burst: 1000, poll_interval: 1 }
  return { code: manufacturer, config: { ...config, ...rate, ...more } }
}

/** A rate limit that is too high to affect a test. The tests of the rate limit set their own limits. */
const unlimited = { max_requests: 1_000_000, window_seconds: 1 }
const rate_limit = { ...unlimited, overrides: { 'POST /api/discover/': unlimited } }

// --- The service in this process --------------------------------------------------------------------------------------

export interface TestApp extends HttpClient {
  readonly service: Service
  readonly server: App['server']
  readonly dataDir: string
  /** The service's URL with the mount prefix, without a trailing slash. */
  readonly url: string
  readonly port: number
  readonly databaseUrl: string
  socket(path?: string, options?: SocketOptions): Promise<TestSocket>
  receivers(): Promise<ReceiverInData[]>
  /** Returns the list of receivers, which has `last_seen`. */
  summaries(): Promise<ReceiverSummary[]>
  receiver(apiDeviceId: string): Promise<ReceiverDetail>
  /** Returns a client of the same service with this base path. */
  withBasePath(path: string): ReturnType<typeof client>
  drain(): void
  close(): Promise<void>
}

export interface TestAppOptions {
  readonly manufacturers?: readonly object[]
  readonly engine?: Engine
  /** The database of an earlier service, to use it again. */
  readonly databaseUrl?: string
  /** The data folder of another service, to share its secret key. */
  readonly dataDir?: string
  /** Additional keys of the configuration file. */
  readonly config?: object
  readonly servesOnly?: boolean
  /** Records levels. Off by default, because it takes a thread that compiles its own modules. */
  readonly isRecording?: boolean
  /** Folder of pages to serve instead of the built ones. */
  readonly webRoot?: string
  /** Silent by default. */
  readonly log?: Logger
  readonly recentLog?: () => readonly string[]
}

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { manufacturers = [], engine = 'sqlite', servesOnly = false, isRecording = false, config = {} } = options
  const folder = await createTestFolder()
  onTestEnd(folder.drop)
  let database_url = options.databaseUrl
  if (database_url === undefined) {
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    database_url = database.url
  }
  const server = { port: 0, ...(config as { server?: object }).server }
  const file = join(folder.path, 'micwatch.yaml')
  await writeFile(file, JSON.stringify({ rate_limit, ...config, server, manufacturers, database_url }))
  const dataDir = options.dataDir ?? join(folder.path, 'data')
  const configuration = readConfig({ config: file, data_dir: dataDir }, {})
  const app = await createApp(configuration, {
    log: options.log ?? pino({ level: 'silent' }),
    pid: process.pid,
    // Pages of another version reload themselves.
    version,
    webRoot: options.webRoot ?? join(root, 'dist/web'),
    servesOnly,
    isRecording,
    ...(options.recentLog && { recentLog: options.recentLog }),
  })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= app.close()
    return closing
  }
  onTestEnd(close)
  return {
    ...clientOf(app),
    service: app.service,
    server: app.server,
    dataDir,
    databaseUrl: database_url,
    drain: app.drain,
    close,
  }
}

function clientOf(app: App): Omit<TestApp, 'service' | 'server' | 'dataDir' | 'databaseUrl' | 'drain' | 'close'> {
  const url = app.address.replace(/\/$/, '').replace('0.0.0.0', '127.0.0.1')
  return {
    ...client(url),
    url,
    port: Number(new URL(url).port),
    withBasePath: (path) => client(new URL(path, url).origin + path),
  }
}

/** Creates a test client for a service at `url`. It checks every JSON response against the contract. */
export function client(url: string) {
  const http = httpClient(url, checkResponse)
  const receivers = async () => {
    const { status, json } = await http.get('/api/data.json')
    if (status !== 200) throw new Error(`data.json responded with ${status}`)
    return json.receivers as ReceiverInData[]
  }
  return {
    ...http,
    receivers,
    summaries: async () => (await http.get('/api/receivers/')).json as ReceiverSummary[],
    async receiver(apiDeviceId: string) {
      for (const { id } of await receivers()) {
        const { json } = await http.get(`/api/receivers/${id}/`)
        if (json.api_device_id === apiDeviceId) return json as ReceiverDetail
      }
      throw new Error(`no receiver has the id ${apiDeviceId}`)
    },
    socket: (path = '/ws', options: SocketOptions = {}) =>
      openSocket(url.replace(/^http/, 'ws').replace(/\/$/, '') + path, options),
  }
}

export function channelOf(receiver: { readonly channels: readonly ChannelBody[] }, channel = 1) {
  const match = receiver.channels.find((candidate) => candidate.channel === channel)
  if (match === undefined) throw new Error(`no channel ${channel}`)
  return match
}

export function deviceOf(simulator: Simulator, at = 0) {
  const state = simulator.show.devicesAt(simulator.elapsed())[at]
  if (state === undefined) throw new Error(`the show has no device ${at}`)
  return state.device
}

// --- The program -----------------------------------------------------------------------------------------------------

/** Returns a launcher that runs these shell commands before the program. */
export function shellLauncher(commands: string): readonly string[] {
  return ['sh', '-ec', `${commands}; exec "$@"`, 'sh']
}

/** Creates an empty working directory for the program, with a configuration file if `config` is given. */
export async function createInstallation(config?: object | string) {
  const folder = await createTestFolder()
  onTestEnd(folder.drop)
  const write = (name: string, content: string) => writeFile(join(folder.path, name), content)
  if (config !== undefined)
    await write('micwatch.yaml', typeof config === 'string' ? config : JSON.stringify({ rate_limit, ...config }))
  return {
    path: folder.path,
    write,
    databaseUrl: `sqlite:${join(folder.path, 'data', 'micwatch.db')}`,
    /** Runs the program until it exits. */
    async run(argv: readonly string[], env: Record<string, string> = {}, input?: string) {
      const child = startProgram(folder.path, argv, env, input)
      const code = await child.ended
      return { code, out: child.out(), err: child.err(), json: () => JSON.parse(child.out()) }
    },
    start: (argv: readonly string[], env: Record<string, string> = {}) => startProgram(folder.path, argv, env),
    /**
     * Runs `serve` and waits until it listens. `launcher` is a command to which the program's command line is appended,
     * and which must execute it.
     */
    async serve(argv: readonly string[] = [], env: Record<string, string> = {}, launcher: readonly string[] = []) {
      const child = startProgram(folder.path, ['serve', '--json', '--port', '0', ...argv], env, undefined, launcher)
      const { address } = await until('serve listens', () => JSON.parse(child.out()) as { address: string }, 30_000)
      return { ...child, ...client(address.replace(/\/$/, '')), port: Number(new URL(address).port) }
    },
  }
}

/** Creates an installation that monitors these manufacturers, with an empty database on this engine. */
export async function createInstallationOn(engine: Engine, manufacturers: readonly object[] = []) {
  if (engine === 'sqlite') return createInstallation({ manufacturers })
  const database = await createEmptyDatabase(engine)
  onTestEnd(database.drop)
  return { ...(await createInstallation({ manufacturers, database_url: database.url })), databaseUrl: database.url }
}

function startProgram(
  cwd: string,
  argv: readonly string[],
  env: Record<string, string>,
  input?: string,
  launcher: readonly string[] = [],
) {
  const [command = '', ...args] = [...launcher, process.execPath, join(root, 'dist/main.js'), ...argv]
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // The program may exit before it reads its input.
  child.stdin.on('error', () => {}).end(input)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid as number,
    out: () => out,
    err: () => err,
    /** Returns the complete lines on standard output so far. */
    lines: () => out.split('\n').slice(0, -1),
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: (signal: Parameters<ChildProcess['kill']>[0]) => child.kill(signal),
  }
}

// --- Waiting ----------------------------------------------------------------------------------------------------------

/**
 * Calls `condition` repeatedly until it returns something other than false, null or undefined without throwing. A slow
 * machine is allowed more time than `timeoutMs`: see `waitInTurns`.
 */
export async function until<T>(
  description: string,
  condition: () => T | Promise<T>,
  timeoutMs = 60_000,
): Promise<Exclude<T, false | null | undefined>> {
  let result: T | undefined
  let reason: unknown
  const isReached = await waitInTurns(async () => {
    try {
      result = await condition()
      reason = `it is ${result}`
    } catch (error) {
      result = undefined
      reason = error
    }
    return result !== false && result !== undefined && result !== null
  }, timeLimit(timeoutMs))
  if (!isReached) throw new Error(`Not within ${timeoutMs} ms: ${description} (${reason})`)
  return result as Exclude<T, false | null | undefined>
}
