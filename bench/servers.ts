/** The processes that are measured: Micwatch as it is shipped, and the references of `reference.ts`. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReceiverInData } from '../src/model/api.ts'
import { type AtEnd, type Child, makeFolder, startChild, until } from './harness.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const built = join(root, 'dist/main.js')

/** The benches measure the build; makes one where there is none, and says so where it is not of this source. */
export async function prepareBuild(say: (text: string) => void): Promise<void> {
  if (!existsSync(built)) {
    say('dist/main.js is not there; npm run build makes it first.')
    const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    if (status !== 0) throw new Error('npm run build failed, and there is nothing to measure without it')
    return
  }
  const builtAt = (await stat(built)).mtimeMs
  const files = await readdir(join(root, 'src'), { recursive: true })
  const changed = await Promise.all(files.map(async (file) => (await stat(join(root, 'src', file))).mtimeMs))
  if (changed.some((at) => at > builtAt))
    say('dist/main.js is older than src/; npm run build would measure the newest.')
}

/** What Micwatch has to know of a system, wherever that runs. */
export interface Upstream {
  readonly manufacturer: string
  readonly config: Readonly<Record<string, unknown>>
  readonly deviceCount: number
  /** How many listen to it; left out where it cannot be seen from here. */
  readonly push?: { readonly connections: number }
}

/** A simulated system in a process of its own, so that what it pushes costs nobody who measures. */
export async function startUpstream(
  atEnd: AtEnd,
  options: { readonly receivers: number; readonly channelsPerReceiver: number; readonly pushesPerSecond: number },
): Promise<Upstream & { readonly pid: number }> {
  const { receivers, channelsPerReceiver, pushesPerSecond } = options
  const words = [receivers, channelsPerReceiver, pushesPerSecond].map(String)
  const { pid, said } = await startChild(atEnd, ['--import', 'tsx', join(root, 'bench/upstream.ts'), ...words])
  const { manufacturer, config } = said as unknown as Upstream
  return { pid, manufacturer, config, deviceCount: receivers }
}

export interface Micwatch {
  readonly pid: number
  /** Without a final slash. */
  readonly address: string
  /** What it shows, once it shows every receiver of its upstream. */
  readonly receivers: readonly ReceiverInData[]
}

interface ServiceOptions {
  readonly manufacturers: readonly unknown[]
  readonly nodeOptions: readonly string[]
}

/** The service as it is shipped, with its database in this folder. */
export async function startService(
  atEnd: AtEnd,
  folder: string,
  { manufacturers, nodeOptions }: ServiceOptions,
): Promise<{ readonly pid: number; readonly address: string }> {
  const file = join(folder, 'micwatch.yaml')
  // The limiter counts as ever, and has nothing to refuse.
  const rate_limit = { max_requests: 1_000_000, window_seconds: 1 }
  await writeFile(file, JSON.stringify({ manufacturers, rate_limit }))
  const place = ['--config', file, '--data-dir', join(folder, 'data'), '--host', '127.0.0.1', '--port', '0']
  const { pid, said } = await startChild(atEnd, [...nodeOptions, built, 'serve', '--json', ...place])
  return { pid, address: String(said.address).replace(/\/$/, '') }
}

/** Serves what a system tells, polled and pushed; up when both work. */
export async function startMicwatch(
  atEnd: AtEnd,
  upstream: Upstream,
  options: {
    readonly pollSeconds: number
    readonly nodeOptions: readonly string[]
    readonly folder?: string
    /** Beside that of the upstream. */
    readonly manufacturers?: readonly unknown[]
  },
): Promise<Micwatch> {
  const folder = options.folder ?? (await makeFolder(atEnd))
  const { manufacturer: code, config } = upstream
  const own = { code, config: { ...config, poll_interval: options.pollSeconds } }
  const manufacturers = [own, ...(options.manufacturers ?? [])]
  const { pid, address } = await startService(atEnd, folder, { manufacturers, nodeOptions: options.nodeOptions })
  let receivers: readonly ReceiverInData[] = []
  await until(
    'Micwatch shows every receiver',
    async () => {
      const answer = await fetch(`${address}/api/data.json`)
      receivers = ((await answer.json()) as { receivers: ReceiverInData[] }).receivers
      return receivers.length === upstream.deviceCount
    },
    60_000,
  )
  const { push } = upstream
  await until('Micwatch listens to what its upstream pushes', () => (push ? push.connections > 0 : isLinked(address)))
  return { pid, address, receivers }
}

async function isLinked(address: string): Promise<boolean> {
  const metrics = await (await fetch(`${address}/metrics`)).text()
  return /realtime_connections{status="connected"} [1-9]/.test(metrics)
}

/** `serve --demo`, once it shows something. */
export async function startDemo(atEnd: AtEnd): Promise<{ readonly address: string }> {
  const { said } = await startChild(atEnd, [built, 'serve', '--demo', '--json', '--host', '127.0.0.1', '--port', '0'])
  const address = String(said.address).replace(/\/$/, '')
  await until('the demo shows its receivers', async () => {
    const answer = await fetch(`${address}/api/data.json`)
    return ((await answer.json()) as { receivers: unknown[] }).receivers.length > 0
  })
  return { address }
}

/** A bare server of the same bytes as this answer of ours, its header fields among them. */
export async function startBareHttp(atEnd: AtEnd, answer: Response): Promise<Child & { address: string }> {
  const file = join(await makeFolder(atEnd), 'body')
  // What every server of Node's says by itself, it says here too.
  const own = ['date', 'connection', 'keep-alive', 'content-length', 'content-encoding']
  const head = Object.fromEntries([...answer.headers].filter(([name]) => !own.includes(name)))
  await writeFile(`${file}.head`, JSON.stringify(head))
  await writeFile(file, Buffer.from(await answer.arrayBuffer()))
  return startReference(atEnd, 'http', file)
}

/** The reference that `words` name, in a process of its own. */
export async function startReference(atEnd: AtEnd, ...words: readonly string[]): Promise<Child & { address: string }> {
  const child = await startChild(atEnd, ['--import', 'tsx', join(root, 'bench/reference.ts'), ...words])
  return { ...child, address: String(child.said.address) }
}
