/** Shared by all benchmarks: medians, the result table, and the clean-up of child processes and temporary folders. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** For rates (`/s`) and `channels` a higher figure is better, for all other units, also `/h`, a lower one. */
export type Unit = 'channels' | 'ms' | 'ms/s' | 'µs' | '%' | '/s' | '/h' | 'B' | 'kB' | 'MB' | 'kB/s' | '×'

export interface Figure {
  readonly name: string
  readonly unit: Unit
  readonly ours: number
  /**
   * The figure to compare with, usually that of a minimal implementation with the same result, measured in the same
   * run; null if there is none.
   */
  readonly reference: number | null
}

/** Registers a function to run when the benchmark ends, even after an error; the last registered runs first. */
export type AtEnd = (close: () => unknown) => void

export interface Bench {
  readonly name: string
  /** The number of calls of `measure`; the table shows the medians. */
  readonly runs: number
  open(atEnd: AtEnd): Promise<{ measure(): Promise<readonly Figure[]> }>
}

export interface Line extends Figure {
  readonly bench: string
  /** `ours` divided by `reference`. */
  readonly ratio: number | null
  readonly oursRuns: readonly number[]
  readonly referenceRuns: readonly number[]
}

/** Runs `work`, then its registered clean-up functions, even if `work` throws. */
export async function withCleanup<T>(work: (atEnd: AtEnd) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = []
  try {
    return await work((close) => closers.push(close))
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** Runs a benchmark and returns the medians. Throws if it cannot run. */
export function runBench(bench: Bench): Promise<readonly Line[]> {
  return withCleanup(async (atEnd) => {
    const { measure } = await bench.open(atEnd)
    const runs: (readonly Figure[])[] = []
    while (runs.length < bench.runs) runs.push(await measure())
    return summarizeRuns(bench.name, runs)
  })
}

function summarizeRuns(bench: string, runs: readonly (readonly Figure[])[]): Line[] {
  return (runs[0] ?? []).map(({ name, unit }) => {
    const figuresOfName = runs.flatMap((figures) => figures.filter((figure) => figure.name === name))
    const oursRuns = figuresOfName.map((figure) => figure.ours)
    const referenceRuns = figuresOfName.flatMap((figure) => figure.reference ?? [])
    const ours = median(oursRuns)
    const reference = referenceRuns.length === 0 ? null : median(referenceRuns)
    const ratio = reference === null ? null : ours / reference
    return { bench, name, unit, ours, reference, ratio, oursRuns, referenceRuns }
  })
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** Returns the smallest of the values such that at least `percent` percent of them are not greater. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const index = Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)
  const value = sorted[index]
  if (value === undefined) throw new Error('No values were measured.')
  return value
}

const widths = [72, 14, 14, 8]

export const tableHead = formatRow(['Figure', 'Micwatch', 'Reference', 'Ratio'])

export function formatLine(line: Line): string {
  const { bench, name, unit, ours, reference, ratio } = line
  return formatRow([
    `${bench}: ${name}`,
    formatValue(ours, unit),
    reference === null ? '–' : formatValue(reference, unit),
    ratio === null ? '–' : formatNumber(ratio),
  ])
}

function formatRow([name = '', ...cells]: readonly string[]): string {
  const [nameWidth = 0, ...rest] = widths
  return name.padEnd(nameWidth) + cells.map((cell, index) => cell.padStart(rest[index] ?? 0)).join('')
}

function formatValue(value: number, unit: Unit): string {
  return `${formatNumber(value)} ${unit}`
}

function formatNumber(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly node: string
  readonly platform: string
}

export function describeMachine(): Machine {
  const cpu = cpus()[0]?.model.trim() ?? 'unknown'
  return { cpu, cores: availableParallelism(), node: process.version, platform: `${process.platform} ${process.arch}` }
}

// --- Clean-up ---------------------------------------------------------------------------------------------------------

const children = new Set<ChildProcess>()
const folders = new Set<string>()

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code))
}

export async function createTempFolder(atEnd: AtEnd): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'micwatch-bench-'))
  folders.add(folder)
  atEnd(() => {
    rmSync(folder, { recursive: true, force: true })
    folders.delete(folder)
  })
  return folder
}

export interface Child {
  readonly pid: number
  /** The JSON object that the process printed when it was ready. */
  readonly output: Readonly<Record<string, unknown>>
  /** Resolves when the process has exited, for any reason. */
  readonly ended: Promise<unknown>
  /** The last 20,000 characters of standard error. */
  log(): string
}

const readyTimeoutMs = 30_000
const stopTimeoutMs = 10_000

/** Starts a Node process that prints one JSON object on standard output when it is ready. */
export async function startChild(
  atEnd: AtEnd,
  args: readonly string[],
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<Child> {
  // The environment of this machine must not affect the measured process.
  const env = { PATH: process.env.PATH, MICWATCH_LOG: 'warn', ...extraEnv }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  children.add(child)
  child.once('exit', () => children.delete(child))
  const ended = once(child, 'exit')
  atEnd(() => stopChild(child))
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-20_000)
  })
  const output = await new Promise<Child['output']>((resolve, reject) => {
    const fail = (message: string) =>
      reject(new Error(`node ${args.join(' ')} ${message}\n${stderr.slice(-2000)}`.trim()))
    const timer = setTimeout(() => fail(`was not ready within ${readyTimeoutMs / 1000} s`), readyTimeoutMs)
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      try {
        resolve(JSON.parse(text))
        clearTimeout(timer)
      } catch {
        // The output is not complete yet.
      }
    })
    child.once('error', (error) => fail(error.message))
    child.once('close', (code) => {
      clearTimeout(timer)
      fail(`exited with code ${code}`)
    })
  })
  return { pid: child.pid ?? 0, output, ended, log: () => stderr }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  await exited
  clearTimeout(timer)
}

/** In ms; null on systems without `/proc`. */
export async function cpuTimeMs(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // The fields after the name in parentheses begin with field 3, the state. Fields 14 and 15 are the user and system
  // time in hundredths of a second.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * 10
}

/** Measures the CPU time of several processes over `seconds`, in ms per second. */
export async function cpuMsPerSecond(pids: readonly number[], seconds: number): Promise<readonly number[]> {
  const read = () => Promise.all(pids.map(async (pid) => (await cpuTimeMs(pid)) ?? 0))
  const [before, startedAt] = [await read(), performance.now()]
  await sleep(seconds * 1000)
  const [after, endedAt] = [await read(), performance.now()]
  return after.map((value, index) => ((value - (before[index] ?? 0)) / (endedAt - startedAt)) * 1000)
}

/** Null on systems without `/proc`. */
export async function residentBytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kibibytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
  return kibibytes === undefined ? null : Number(kibibytes) * 1024
}

/** Null on systems without `/proc`. */
export async function residentMegabytes(pid: number): Promise<number | null> {
  const bytes = await residentBytes(pid)
  return bytes === null ? null : bytes / 1e6
}

/** Node options for a process that `longestHoldMs` watches. */
export const watchEventLoop: readonly string[] = [
  `--import=data:text/javascript,${encodeURIComponent(`
    import { monitorEventLoopDelay } from 'node:perf_hooks'
    const delay = monitorEventLoopDelay({ resolution: 2 })
    delay.enable()
    process.on('SIGUSR2', () => {
      process.stderr.write('\\nlongest hold: ' + delay.max / 1e6 + '\\n')
      delay.reset()
    })`)}`,
]

/** Returns the longest time, in ms, for which the process's event loop was blocked since the last call. */
export async function longestHoldMs({ pid, log }: Pick<Child, 'pid' | 'log'>): Promise<number> {
  const readAll = () => [...log().matchAll(/longest hold: ([\d.]+)\n/g)]
  const before = readAll().length
  process.kill(pid, 'SIGUSR2')
  await waitFor('the process reports its longest hold', () => readAll().length > before)
  return Number(readAll().at(-1)?.[1])
}

// --- Time -------------------------------------------------------------------------------------------------------------

/** Waits until `condition` returns true; throws after `timeoutMs`. */
export async function waitFor(
  description: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Timed out after ${timeoutMs / 1000} s. Expected: ${description}.`)
    await sleep(20)
  }
}

export async function atRate(perSecond: number, seconds: number, send: (index: number) => void): Promise<void> {
  const startedAt = performance.now()
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - startedAt) / 1000) * perSecond) + 1)
    while (sent < due) send(sent++)
    await sleep(1)
  }
}
