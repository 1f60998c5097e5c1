/** Micwatch as it is shipped, in a process and a folder of its own, with limits that measuring does not meet. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Simulator } from '../../src/simulation/simulator.ts'
import { type HttpClient, httpClient } from '../../test/http-client.ts'
import { type AtEnd, type Child, startChild } from '../harness.ts'

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Service extends HttpClient, Pick<Child, 'pid' | 'ended' | 'log'> {
  readonly port: number
  /** Without a final slash. */
  readonly address: string
  /** From its start until it listened. */
  readonly startMs: number
  kill(signal: 'SIGKILL' | 'SIGTERM'): void
}

export const unlimited = { max_requests: 1_000_000, window_seconds: 1, overrides: {} }

/** `folder`: where it keeps everything; another start there finds it again. */
export async function startService(
  atEnd: AtEnd,
  folder: string,
  config: object = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const file = join(folder, 'micwatch.yaml')
  await writeFile(file, JSON.stringify({ rate_limit: unlimited, data_dir: join(folder, 'data'), ...config }))
  const startedAt = performance.now()
  const words = [built, 'serve', '--json', '--config', file, '--host', '127.0.0.1', '--port', '0']
  const child = await startChild(atEnd, words, env)
  const address = String(child.said.address).replace(/\/$/, '')
  const http = httpClient(address)
  while ((await http.get('/healthz').catch(() => null))?.status !== 200);
  const startMs = performance.now() - startedAt
  const { pid, ended, log } = child
  const kill = (signal: 'SIGKILL' | 'SIGTERM') => void process.kill(pid, signal)
  return { ...http, pid, ended, log, port: Number(new URL(address).port), address, startMs, kill }
}

/** The simulator's entry in the configuration. */
export function entryOf({ manufacturer: code, config }: Pick<Simulator, 'manufacturer' | 'config'>, more: object = {}) {
  return { code, config: { ...config, calls_per_second: 1000, burst: 1000, ...more } }
}

const frozen = Date.now()

/** A show in which nothing changes but what a bench changes: for it, time stands still. */
export const plainShow = {
  now: () => frozen,
  rateLimit: { perSecond: 100_000, burst: 100_000 },
  story: false,
  richList: true,
  pushesPerSecond: 0,
} as const

/** Signed in as the first administrator: headers of a token that may do everything. */
export async function becomeAdmin(service: Service): Promise<{ headers: Record<string, string>; id: number }> {
  const made = await service.post('/api/auth/setup', { username: 'bench', password: 'correct horse battery' })
  const cookie = (made.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
  const session = { cookie, 'x-csrf-token': made.json.csrf_token as string }
  const { json } = await service.post('/api/admin/tokens/', { name: 'bench', role: 'admin' }, session)
  return { headers: { authorization: `Bearer ${json.token}` }, id: json.id }
}
