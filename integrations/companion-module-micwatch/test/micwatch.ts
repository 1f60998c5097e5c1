/** Starts the program of this repository, with simulated systems whose packs the tests control. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, fetch } from 'undici'
import { onEnd } from './ends.ts'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
export type Json = any

/** Accepts the certificate of the test. */
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })

const root = new URL('../../../', import.meta.url)
const program = fileURLToPath(new URL('dist/main.js', root))

/** The part of a simulator in `simulators/` that these tests use. */
interface Simulator {
  readonly manufacturer: string
  readonly config: object
  readonly show: {
    devicesAt(elapsedMs: number): readonly { readonly device: { readonly id: string } }[]
    set(id: string, change: object, channel?: number): void
  }
  elapsed(): number
  close(): Promise<void>
}

export interface Micwatch {
  readonly url: string
  readonly port: number
  readonly get: (path: string) => Promise<Json>
  readonly post: (path: string, body?: object) => Promise<Json>
  readonly put: (path: string, body: object) => Promise<Json>
  readonly delete: (path: string) => Promise<unknown>
  /** Creates a token with this name and role. */
  readonly createToken: (
    name: string,
    role: 'viewer' | 'operator',
  ) => Promise<{ readonly id: number; readonly token: string }>
  /** Sends a signal, such as SIGSTOP. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** Ends the process at once. */
  readonly kill: () => Promise<void>
  /** Starts the program again with the same data, on the same port. */
  readonly restart: () => Promise<void>
}

export async function startSimulator(options: object): Promise<Simulator & { deviceIds: string[] }> {
  const { startShureSimulator } = await import(new URL('simulators/shure/device-api.ts', root).href)
  const simulator: Simulator = await startShureSimulator({
    story: false,
    rateLimit: { perSecond: 10_000, burst: 10_000 },
    ...options,
  })
  onEnd(() => simulator.close())
  return { ...simulator, deviceIds: simulator.show.devicesAt(simulator.elapsed()).map(({ device }) => device.id) }
}

const administrator = { username: 'root', password: 'correct horse battery' }

/** Starts Micwatch on a free port of this machine. Reading needs a token, as on a network. */
export async function startMicwatch(
  simulator: Pick<Simulator, 'manufacturer' | 'config'>,
  more: object = {},
): Promise<Micwatch> {
  if (!existsSync(program))
    throw new Error(`${program} does not exist. Run "npm ci && npm run build" in the folder of Micwatch.`)
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-companion-'))
  const write = (port: number) =>
    writeFile(join(folder, 'micwatch.yaml'), JSON.stringify(configuration(simulator, port, more)))
  await write(0)
  await run(
    folder,
    ['create_admin', '--username', administrator.username, '--password-stdin'],
    `${administrator.password}\n`,
  )
  let service = await serve(folder)
  await write(service.port)
  onEnd(async () => {
    await service.kill()
    await rm(folder, { recursive: true })
  })
  const session = await signIn(service.url)
  const request = async (method: string, path: string, body?: object): Promise<Json> => {
    const response = await fetch(service.url + path, {
      method,
      dispatcher,
      headers: { ...session, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} responded with ${response.status} ${await response.text()}`)
    return response.status === 204 ? null : response.json()
  }
  return {
    url: service.url,
    port: service.port,
    get: (path) => request('GET', path),
    post: (path, body = {}) => request('POST', path, body),
    put: (path, body) => request('PUT', path, body),
    delete: (path) => request('DELETE', path),
    createToken: (name, role) => request('POST', '/api/admin/tokens/', { name, role }),
    signal: (signal) => service.child.kill(signal),
    kill: () => service.kill(),
    restart: async () => {
      service = await serve(folder)
    },
  }
}

function configuration(
  { manufacturer, config }: Pick<Simulator, 'manufacturer' | 'config'>,
  port: number,
  more: object,
) {
  const rate = { calls_per_second: 1000, burst: 1000, poll_interval: 1 }
  return {
    server: { host: '127.0.0.1', port },
    require_login: true,
    rate_limit: { max_requests: 1_000_000, window_seconds: 1 },
    manufacturers: [{ code: manufacturer, config: { ...config, ...rate } }],
    ...more,
  }
}

async function run(folder: string, argv: readonly string[], input: string): Promise<void> {
  const child = spawn(process.execPath, [program, ...argv], { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] })
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`micwatch ${argv[0]} exited with ${code}.`)
}

async function serve(folder: string) {
  const child: ChildProcess = spawn(process.execPath, [program, 'serve', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'close')
  let out = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  const { address } = await until('Micwatch listens', () => {
    if (child.exitCode !== null) throw new Error(`Micwatch exited with ${child.exitCode}.`)
    return readAddress(out)
  })
  const { origin, port } = new URL(address)
  return {
    child,
    url: origin,
    port: Number(port),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Returns null until the document is complete. */
function readAddress(out: string): { readonly address: string } | null {
  try {
    return JSON.parse(out)
  } catch {
    return null
  }
}

async function signIn(url: string): Promise<Record<string, string>> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(administrator),
  })
  if (!response.ok) throw new Error(`The sign-in responded with ${response.status}.`)
  const { csrf_token }: Json = await response.json()
  const cookie = response.headers
    .getSetCookie()
    .map((header) => header.split(';')[0])
    .join('; ')
  return { cookie, 'x-csrf-token': csrf_token }
}
