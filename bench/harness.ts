/** What every bench shares: medians and the table, child processes and temporary folders that never outlive the run. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Of rates more is better, of everything else less. */
export type Unit = 'ms' | '/s' | 'kB' | 'MB' | 'kB/s' | '×'

export interface Figure {
  readonly name: string
  readonly unit: Unit
  readonly ours: number
  /** The least that could be done for the same result, measured in the same run; null where there is no such thing. */
  readonly reference: number | null
}

/** Has this closed when the bench ends, however it ends; the last opened first. */
export type AtEnd = (close: () => unknown) => void

export interface Bench {
  readonly name: string
  /** How often `measure` is called; its medians are told. */
  readonly runs: number
  open(atEnd: AtEnd): Promise<{ measure(): Promise<readonly Figure[]> }>
}

export interface Line extends Figure {
  readonly bench: string
  /** Ours / reference. */
  readonly ratio: number | null
  readonly oursRuns: readonly number[]
  readonly referenceRuns: readonly number[]
}

/** Closes what was opened, however it ends. */
export async function using<T>(work: (atEnd: AtEnd) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = []
  try {
    return await work((close) => closers.push(close))
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

/** Throws when the bench cannot run. */
export function runBench(bench: Bench): Promise<readonly Line[]> {
  return using(async (atEnd) => {
    const { measure } = await bench.open(atEnd)
    const runs: (readonly Figure[])[] = []
    while (runs.length < bench.runs) runs.push(await measure())
    return toLines(bench.name, runs)
  })
}

function toLines(bench: string, runs: readonly (readonly Figure[])[]): Line[] {
  return (runs[0] ?? []).map(({ name, unit }) => {
    const same = runs.flatMap((figures) => figures.filter((one) => one.name === name))
    const oursRuns = same.map((one) => one.ours)
    const referenceRuns = same.flatMap((one) => one.reference ?? [])
    const ours = median(oursRuns)
    const reference = referenceRuns.length === 0 ? null : median(referenceRuns)
    const ratio = reference === null ? null : ours / reference
    return { bench, name, unit, ours, reference, ratio, oursRuns, referenceRuns }
  })
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** The value that so many percent do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)
  const value = sorted[at]
  if (value === undefined) throw new Error('nothing was measured')
  return value
}

const widths = [72, 14, 14, 8]

export const tableHead = formatRow(['name', 'ours', 'reference', 'ratio'])

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
  return name.padEnd(nameWidth) + cells.map((cell, at) => cell.padStart(rest[at] ?? 0)).join('')
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

// --- What must not outlive the run ------------------------------------------------------------------------------------

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

export async function makeFolder(atEnd: AtEnd): Promise<string> {
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
  /** The JSON it said on standard output. */
  readonly said: Readonly<Record<string, unknown>>
  /** Resolves when it has ended, however. */
  readonly ended: Promise<unknown>
  /** The end of what it said on standard error. */
  log(): string
}

const readyMs = 30_000
const stopMs = 10_000

/** A Node process that says one JSON object on standard output once it is ready. */
export async function startChild(
  atEnd: AtEnd,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Child> {
  // Nothing of this machine's own configuration may reach what is measured.
  const env = { PATH: process.env.PATH, MICWATCH_LOG: 'warn', ...more }
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  children.add(child)
  child.once('exit', () => children.delete(child))
  const ended = once(child, 'exit')
  atEnd(() => stopChild(child))
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-20_000)
  })
  const said = await new Promise<Child['said']>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`node ${words.join(' ')} ${why}\n${errors.slice(-2000)}`.trim()))
    const timer = setTimeout(() => fail('did not get ready'), readyMs)
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      try {
        resolve(JSON.parse(text))
        clearTimeout(timer)
      } catch {
        // Not all of it yet.
      }
    })
    child.once('error', (error) => fail(error.message))
    child.once('close', (code) => {
      clearTimeout(timer)
      fail(`ended with ${code}`)
    })
  })
  return { pid: child.pid ?? 0, said, ended, log: () => errors }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await exited
  clearTimeout(timer)
}

/** CPU time a process has used, in ms; null where the system does not tell. */
export async function cpuOf(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  // After the name in brackets: state is field 3, user and system time are fields 14 and 15, in hundredths of a second.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * 10
}

/** Memory a process holds; null where the system does not tell. */
export async function residentMegabytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kibibytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
  return kibibytes === undefined ? null : (Number(kibibytes) * 1024) / 1e6
}

// --- Time -------------------------------------------------------------------------------------------------------------

/** Waits until it is so; throws when that takes too long. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs / 1000} s in vain: ${what}`)
    await sleep(20)
  }
}

/** Calls `send` so often a second, evenly, for so long. */
export async function atRate(perSecond: number, seconds: number, send: (nth: number) => void): Promise<void> {
  const startedAt = performance.now()
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, Math.floor(((performance.now() - startedAt) / 1000) * perSecond) + 1)
    while (sent < due) send(sent++)
    await sleep(1)
  }
}
