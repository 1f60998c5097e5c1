/**
 * Starts the built version of Micwatch in a separate process and folder, with a rate limit that the checks do not
 * reach.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Simulator } from '../../simulators/show/simulator.ts'
import { type HttpClient, httpClient } from '../../test/support/http-client.ts'
import { type AtEnd, type Child, startChild } from '../harness.ts'
import { programPath } from '../servers.ts'

export interface Service extends HttpClient, Pick<Child, 'pid' | 'ended' | 'log'> {
  readonly port: number
  /** Without a trailing slash. */
  readonly address: string
  /** Time from process start to the first response of `/healthz`. */
  readonly startMs: number
  kill(signal: 'SIGKILL' | 'SIGTERM'): void
}

export const unlimited = { max_requests: 1_000_000, window_seconds: 1, overrides: {} }

/**
 * Starts the service. `folder` contains its configuration and data; a later start with the same folder reuses the data.
 */
export async function startService(
  atEnd: AtEnd,
  folder: string,
  config: object = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const file = join(folder, 'micwatch.yaml')
  await writeFile(file, JSON.stringify({ rate_limit: unlimited, data_dir: join(folder, 'data'), ...config }))
  const startedAt = performance.now()
  const args = [programPath, 'serve', '--json', '--config', file, '--host', '127.0.0.1', '--port', '0']
  const child = await startChild(atEnd, args, env)
  const address = String(child.output.address).replace(/\/$/, '')
  const http = httpClient(address)
  while ((await http.get('/healthz').catch(() => null))?.status !== 200);
  const startMs = performance.now() - startedAt
  const { pid, ended, log } = child
  const kill = (signal: 'SIGKILL' | 'SIGTERM') => void process.kill(pid, signal)
  return { ...http, pid, ended, log, port: Number(new URL(address).port), address, startMs, kill }
}

/** Returns the configuration entry for a simulator. */
export function entryOf(
  { manufacturer: code, config }: Pick<Simulator, 'manufacturer' | 'config'>,
  overrides: object = {},
) {
  return { code, config: { ...config, calls_per_second: 1000, burst: 1000, ...overrides } }
}

const frozenTime = Date.now()

/** Simulator options with a fixed clock, so that only the check changes values. */
export const plainShow = {
  now: () => frozenTime,
  rateLimit: { perSecond: 100_000, burst: 100_000 },
  story: false,
  richList: true,
  pushesPerSecond: 0,
} as const

/** Creates the first administrator and an administrator token; returns the token's id and request headers. */
export async function signInAsAdmin(
  service: Pick<HttpClient, 'post'>,
): Promise<{ headers: Record<string, string>; id: number }> {
  const created = await service.post('/api/auth/setup', { username: 'bench', password: 'correct horse battery' })
  const cookie = (created.headers['set-cookie'] ?? []).map((cookieHeader) => cookieHeader.split(';')[0]).join('; ')
  const session = { cookie, 'x-csrf-token': created.json.csrf_token as string }
  const { json } = await service.post('/api/admin/tokens/', { name: 'bench', role: 'admin' }, session)
  return { headers: { authorization: `Bearer ${json.token}` }, id: json.id }
}
