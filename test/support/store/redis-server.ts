/**
 * Runs a real Redis or Valkey for tests and benchmarks: an installed one, or on Debian one that is installed on demand.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../../../scripts/free-port.ts'
import { installDebianPackage } from '../debian-package.ts'

export interface RedisServer {
  readonly url: string
  /** Suspends the server, or resumes it. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Kills the server, as `kill -9` does; its data is lost. */
  kill(): Promise<void>
  /** Starts an empty server at the same address. */
  start(): Promise<void>
  /** Stops the server and removes its files. */
  stop(): Promise<void>
}

const names = ['redis-server', 'valkey-server']

/** Prepares a server without starting it; `url` is already known. */
export async function prepareRedis(): Promise<RedisServer> {
  const program = await findServer()
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-redis-'))
  let server: ChildProcess | undefined
  const kill = async () => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  return {
    url,
    signal: (name) => server?.kill(name),
    kill,
    async start() {
      const options = [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        folder,
      ]
      server = spawn(program, options, { stdio: 'ignore' })
      await waitUntilReady(url)
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function waitUntilReady(url: string): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 50 })
  client.on('error', () => {})
  try {
    await Promise.race([client.ping(), pause(10_000).then(() => Promise.reject(new Error('Redis does not start.')))])
  } finally {
    client.disconnect()
  }
}

async function findServer(): Promise<string> {
  const found = (await findInstalled()) ?? (await installOnDebian())
  if (found !== undefined) return found
  throw new Error('Redis or Valkey is needed here: install redis-server, so that it is found on the PATH.')
}

async function findInstalled(): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    const exists = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (exists) return path
  }
  return undefined
}

async function installOnDebian(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined
  console.error('The tests need Redis, which is not installed. Installing the Debian package.')
  await installDebianPackage('redis-server')
  return findInstalled()
}
