/** What came of a fuzz: how much was asked, what was answered, and everything that must not have happened. */

import { readFile } from 'node:fs/promises'

export interface FuzzReport {
  readonly seed: number
  /** How many of each kind, `REST 400` or `socket 1002`. */
  readonly counts: Map<string, number>
  /** A sentence each, the first hundred. */
  readonly troubles: string[]
  longestMs: number
}

export function createReport(seed: number): FuzzReport {
  return { seed, counts: new Map(), troubles: [], longestMs: 0 }
}

export function count(report: FuzzReport, kind: string): void {
  report.counts.set(kind, (report.counts.get(kind) ?? 0) + 1)
}

export function complain(report: FuzzReport, what: string): void {
  if (report.troubles.length < 100) report.troubles.push(what)
}

/** Nothing may take longer, whatever was asked. */
const patienceMs = 5000

export function noteTime(report: FuzzReport, what: string, tookMs: number): void {
  report.longestMs = Math.max(report.longestMs, tookMs)
  if (tookMs > patienceMs) complain(report, `${what} took ${Math.round(tookMs)} ms`)
}

/** Memory a process holds, in bytes; null where the system does not tell. */
export async function residentBytes(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => null)
  return text === null ? null : Number(text.split(' ')[1]) * 4096
}

/** Calls `work` for 0, 1, 2 … below `total`, so many at a time. */
export async function inLanes(lanes: number, total: number, work: (nth: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let nth = next++; nth < total; nth = next++) await work(nth)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
