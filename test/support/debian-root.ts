/** Copies of a minimal Debian in which tests install packages. It is created by debootstrap, once on each machine. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestEnd } from './cleanup.ts'
import { installDebianPackage } from './debian-package.ts'

const run = promisify(execFile)
const release = 'bookworm'
const cache = '/var/cache/micwatch-tests'
/** The dependency of the package that a minimal Debian lacks. */
const included = 'libatomic1'

/** Mounts /proc in a mount namespace, which ends with the command; `$0` is the folder, and the arguments the command. */
const inRoot = 'mount -t proc proc "$0/proc"; exec chroot "$@"'
const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }

export interface Result {
  readonly code: number
  /** Standard output and standard error. */
  readonly text: string
}

export interface DebianRoot {
  readonly path: string
  /** Runs a command as root, or as another `user:group` of this Debian. */
  run(command: readonly string[], user?: string): Promise<Result>
  /** Starts a command as a user of this Debian, with the files that it creates private, as in the unit. */
  start(command: readonly string[], user: string): Service
}

export interface Service {
  readonly pid: number
  /** Resolves with the exit code, and null after a signal. */
  readonly ended: Promise<number | null>
  text(): string
  kill(signal: NodeJS.Signals): void
}

/** Creates a minimal Debian on this machine, unless there is one already. Requires Debian, root and a Debian mirror. */
export async function requireDebianRoot(): Promise<void> {
  await installDebianPackage('debootstrap')
  const folder = join(cache, release)
  const create = `test -d ${folder} || { rm -rf ${folder}.new; mkdir -p ${cache};
    debootstrap --variant=minbase --include=${included} ${release} ${folder}.new; mv ${folder}.new ${folder}; }`
  await run('flock', [join(tmpdir(), 'micwatch-debian.lock'), 'sh', '-ec', create], { maxBuffer: 2 ** 26 })
}

/** Copies the minimal Debian; the copy is removed after the test. */
export async function createDebianRoot(): Promise<DebianRoot> {
  const path = await mkdtemp(join(tmpdir(), 'micwatch-debian-'))
  onTestEnd(() => rm(path, { recursive: true, force: true }))
  await run('cp', ['--archive', `${join(cache, release)}/.`, path])
  const start = (command: readonly string[], user: string, before = ''): Service => {
    const args = ['--mount', 'sh', '-ec', before + inRoot, path, `--userspec=${user}`, path, ...command]
    const child = spawn('unshare', args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part) => {
        text += part
      })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    onTestEnd(async () => {
      child.kill('SIGKILL')
      await ended
    })
    return { pid: child.pid as number, ended, text: () => text, kill: (signal) => void child.kill(signal) }
  }
  return {
    path,
    start: (command, user) => start(command, user, 'umask 077; '),
    async run(command, user = 'root:root') {
      const process = start(command, user)
      const code = await process.ended
      return { code: code ?? -1, text: process.text() }
    },
  }
}
