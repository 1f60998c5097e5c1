/** Results of a fuzz run: counts by kind and status, problems, and the longest response time. */

export interface FuzzReport {
  readonly seed: number
  /** The number of results of each kind, for example `REST 400` or `message end 1002`. */
  readonly counts: Map<string, number>
  /** The first 100 problems, one sentence each. */
  readonly problems: string[]
  longestMs: number
}

export function createReport(seed: number): FuzzReport {
  return { seed, counts: new Map(), problems: [], longestMs: 0 }
}

export function count(report: FuzzReport, kind: string): void {
  report.counts.set(kind, (report.counts.get(kind) ?? 0) + 1)
}

export function addProblem(report: FuzzReport, description: string): void {
  if (report.problems.length < 100) report.problems.push(description)
}

/** The longest permitted response time, for any input. */
const maxDurationMs = 5000

export function recordDuration(report: FuzzReport, description: string, durationMs: number): void {
  report.longestMs = Math.max(report.longestMs, durationMs)
  if (durationMs > maxDurationMs) addProblem(report, `${description} took ${Math.round(durationMs)} ms`)
}

/** Calls `work` with each number from 0 to `total` - 1, at most `workers` at a time. */
export async function runConcurrently(
  workers: number,
  total: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let index = next++; index < total; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: workers }, worker))
}
