/** Starts the processes to be measured: the built version of Micwatch, and the reference servers in `reference.ts`. */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import type { ReceiverInData } from '../src/contract/receivers.ts'
import { liveProtocol } from '../src/live/routes/client-messages.ts'
import { type AtEnd, type Child, createTempFolder, startChild, waitFor } from './harness.ts'
import type { UpstreamOptions, UpstreamSystem } from './upstream-types.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
export const programPath = join(root, 'dist/main.js')

/** Builds Micwatch if `dist/` does not exist, and logs a warning if it is older than the source code. */
export async function prepareBuild(log: (text: string) => void): Promise<void> {
  if (!existsSync(programPath)) {
    log('dist/main.js does not exist. Running npm run build.')
    const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    if (status !== 0) throw new Error('npm run build failed')
    return
  }
  const builtAt = (await stat(programPath)).mtimeMs
  const files = await readdir(join(root, 'src'), { recursive: true })
  const changed = await Promise.all(files.map(async (file) => (await stat(join(root, 'src', file))).mtimeMs))
  if (changed.some((modifiedAt) => modifiedAt > builtAt))
    log('dist/main.js is older than src/. Run npm run build to measure the current source code.')
}

/** A system that Micwatch monitors, in this process or in another. */
export interface Upstream {
  readonly manufacturer: string
  readonly config: Readonly<Record<string, unknown>>
  readonly deviceCount: number
  /** The plugin, if its code differs from the manufacturer code. */
  readonly plugin?: string
  /** Further systems, if there are several. */
  readonly others?: readonly UpstreamSystem[]
  /** The number of open subscriptions; absent if the system runs in another process. */
  readonly push?: { readonly connections: number }
}

/** Simulated systems in a separate process. */
export interface UpstreamProcess extends Upstream {
  readonly pid: number
  readonly systems: readonly UpstreamSystem[]
  /** The WebSocket that announces marked changes. */
  readonly marks: string
}

/** Starts simulated systems in a separate process, so that their CPU time is not part of the measurement. */
export async function startUpstream(atEnd: AtEnd, options: UpstreamOptions): Promise<UpstreamProcess> {
  const program = join(root, 'bench/upstream.ts')
  const { pid, output } = await startChild(atEnd, ['--import', 'tsx', program, JSON.stringify(options)])
  const { systems, marks } = output as unknown as Pick<UpstreamProcess, 'systems' | 'marks'>
  const [first, ...others] = systems
  if (first === undefined) throw new Error('The upstream has no system.')
  const deviceCount = options.systems * options.receivers
  return {
    pid,
    systems,
    marks,
    manufacturer: first.code,
    plugin: first.plugin,
    config: first.config,
    others,
    deviceCount,
  }
}

export interface Micwatch extends Pick<Child, 'pid' | 'log'> {
  /** Without a trailing slash. */
  readonly address: string
  /** The receivers in data.json, read after all receivers of the upstream had appeared. */
  readonly receivers: readonly ReceiverInData[]
}

interface ServiceOptions {
  readonly manufacturers: readonly unknown[]
  readonly nodeOptions: readonly string[]
  /** Further keys of the configuration. */
  readonly config?: object
}

/** Starts the built version of Micwatch with its database in `folder`. */
export async function startService(
  atEnd: AtEnd,
  folder: string,
  { manufacturers, nodeOptions, config = {} }: ServiceOptions,
): Promise<Pick<Micwatch, 'pid' | 'log' | 'address'>> {
  const file = join(folder, 'micwatch.yaml')
  // The rate limiter stays active and rejects nothing.
  const rate_limit = { max_requests: 1_000_000, window_seconds: 1 }
  await writeFile(file, JSON.stringify({ ...config, manufacturers, rate_limit }))
  const listenArgs = ['--config', file, '--data-dir', join(folder, 'data'), '--host', '127.0.0.1', '--port', '0']
  const { pid, log, output } = await startChild(atEnd, [...nodeOptions, programPath, 'serve', '--json', ...listenArgs])
  return { pid, log, address: String(output.address).replace(/\/$/, '') }
}

/** Starts the service for an upstream; resolves when it shows all receivers and has subscribed to pushed changes. */
export async function startMicwatch(
  atEnd: AtEnd,
  upstream: Upstream,
  options: {
    readonly pollSeconds: number
    readonly nodeOptions: readonly string[]
    readonly folder?: string
    /** Further configuration entries, besides the upstream's own. */
    readonly manufacturers?: readonly unknown[]
    /** Further keys of the configuration. */
    readonly config?: object
  },
): Promise<Micwatch> {
  const folder = options.folder ?? (await createTempFolder(atEnd))
  const { manufacturer: code, plugin = code, config, others = [] } = upstream
  const entries = [{ code, plugin, config }, ...others].map((system) => ({
    ...{ code: system.code, plugin: system.plugin },
    config: { ...system.config, poll_interval: options.pollSeconds },
  }))
  const manufacturers = [...entries, ...(options.manufacturers ?? [])]
  const service = await startService(atEnd, folder, { ...options, manufacturers })
  const { address } = service
  let receivers: readonly ReceiverInData[] = []
  await waitFor(
    'Micwatch shows every receiver',
    async () => {
      const response = await fetch(`${address}/api/data.json`)
      receivers = ((await response.json()) as { receivers: ReceiverInData[] }).receivers
      return receivers.length === upstream.deviceCount
    },
    60_000,
  )
  const { push } = upstream
  await waitFor('Micwatch has subscribed to its upstream', async () =>
    push ? push.connections > 0 : (await countSubscribed(address)) === upstream.deviceCount,
  )
  return { ...service, receivers }
}

/** Counts the receivers whose changes are pushed. */
async function countSubscribed(address: string): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text()
  return Number(/realtime_connections\{.*status="connected".*\} (\d+)/.exec(metrics)?.[1] ?? 0)
}

/**
 * Opens a viewer of the live interface, version 2, that acknowledges levels as the pages do. Resolves when it has
 * received its snapshot.
 */
export async function openViewer(
  atEnd: AtEnd,
  address: string,
  { query = '', onMessage = () => {} }: { readonly query?: string; onMessage?(text: string): void } = {},
): Promise<void> {
  const url = `${address.replace('http', 'ws')}/ws${query}${query === '' ? '?' : '&'}ack=1`
  const socket = new WebSocket(url, liveProtocol, { perMessageDeflate: false })
  atEnd(() => socket.terminate())
  socket.on('message', (data) => {
    const text = String(data)
    if (text.startsWith('{"type":"levels"')) socket.send(`{"type":"ack","at":"${new Date().toISOString()}"}`)
    onMessage(text)
  })
  await once(socket, 'message')
}

/** Starts `serve --demo`; resolves when it shows receivers. */
export async function startDemo(atEnd: AtEnd): Promise<{ readonly address: string }> {
  const { output } = await startChild(atEnd, [
    programPath,
    'serve',
    '--demo',
    '--json',
    '--host',
    '127.0.0.1',
    '--port',
    '0',
  ])
  const address = String(output.address).replace(/\/$/, '')
  await waitFor('the demo shows its receivers', async () => {
    const response = await fetch(`${address}/api/data.json`)
    return ((await response.json()) as { receivers: unknown[] }).receivers.length > 0
  })
  return { address }
}

/**
 * Starts a minimal server that sends the same body and header fields as this response of Micwatch. If `mirror` is the
 * address of a system's plain WebSocket, the server also receives and applies the changes that the system pushes.
 */
export async function startBareHttp(
  atEnd: AtEnd,
  response: Response,
  mirror?: string,
): Promise<Child & { address: string }> {
  const file = join(await createTempFolder(atEnd), 'body')
  // Fields that every Node server adds on its own.
  const automatic = ['date', 'connection', 'keep-alive', 'content-length', 'content-encoding']
  const head = Object.fromEntries([...response.headers].filter(([name]) => !automatic.includes(name)))
  await writeFile(`${file}.head`, JSON.stringify(head))
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  return startReference(atEnd, { args: ['http', file, ...(mirror === undefined ? [] : [mirror])] })
}

/** Starts `reference.ts` with these arguments in a separate process. */
export async function startReference(
  atEnd: AtEnd,
  { args, nodeOptions = [] }: { readonly args: readonly string[]; readonly nodeOptions?: readonly string[] },
): Promise<Child & { address: string }> {
  const program = join(root, 'bench/reference.ts')
  const child = await startChild(atEnd, [...nodeOptions, '--import', 'tsx', program, ...args])
  return { ...child, address: String(child.output.address) }
}
