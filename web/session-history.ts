/** Samples of one channel while its page was open in this tab: one per second, kept across reloads. */

export interface Sample {
  /** Browser time in whole seconds since the epoch. */
  readonly at: number
  /**
   * RF in dBm or in percent of the device's own scale, audio in dBFS, battery in percent; null if not reported or not
   * live.
   */
  readonly rf: number | null
  readonly rfPercent: number | null
  readonly audio: number | null
  readonly battery: number | null
}

export function unknownAt(at: number): Sample {
  return { at, rf: null, rfPercent: null, audio: null, battery: null }
}

/** Three hours, which is enough for a show and its sound check. */
const maxSamples = 3 * 3_600
/** After a longer gap the page must have been closed or suspended, so the line in the chart is interrupted. */
const gapSeconds = 5

export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1)
  if (last !== undefined && sample.at <= last.at) return samples
  const gap: Sample[] = last !== undefined && sample.at - last.at > gapSeconds ? [unknownAt(last.at + 1)] : []
  return [...samples, ...gap, sample].slice(-maxSamples)
}

/**
 * Removes the values after a time, because they only repeat the last received ones: nothing was received any more, but
 * it took a while until that was known.
 */
export function eraseAfter(samples: readonly Sample[], at: number): readonly Sample[] {
  const first = samples.findLastIndex((sample) => sample.at <= at) + 1
  const isKnown = ({ rf, rfPercent, audio, battery }: Sample) => (rf ?? rfPercent ?? audio ?? battery) !== null
  if (!samples.slice(first).some(isKnown)) return samples
  return [...samples.slice(0, first), ...samples.slice(first).map((sample) => unknownAt(sample.at))]
}

/** What a table shows for a range of time: the extremes of the levels, and the last battery level. */
export interface SampleRange {
  /** Browser time in whole seconds since the epoch. */
  readonly from: number
  readonly minRf: Level
  readonly maxRf: Level
  readonly maxAudio: Level
  readonly battery: Level
}

/** Divides the samples into at most `most` ranges of equal length, newest first. Ranges without samples are left out. */
export function summarizeSamples(samples: readonly Sample[], most: number): readonly SampleRange[] {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined) return []
  const seconds = tableSteps.find((step) => (last.at - first.at) / step < most - 1) ?? 3_600
  const ranges = new Map<number, Sample[]>()
  for (const sample of samples) {
    const from = Math.floor(sample.at / seconds) * seconds
    const range = ranges.get(from)
    if (range === undefined) ranges.set(from, [sample])
    else range.push(sample)
  }
  return [...ranges].reverse().map(([from, range]) => {
    const rf = range.map((sample) => sample.rf ?? sample.rfPercent)
    return {
      from,
      minRf: extreme(rf, Math.min),
      maxRf: extreme(rf, Math.max),
      maxAudio: extreme(
        range.map(({ audio }) => audio),
        Math.max,
      ),
      battery: range.findLast(({ battery }) => battery !== null)?.battery ?? null,
    }
  })
}

/** Seconds. */
const tableSteps = [1, 5, 10, 30, 60, 300, 600] as const

function extreme(levels: readonly Level[], pick: (a: number, b: number) => number): Level {
  return levels.reduce<Level>(
    (found, level) => (found === null || level === null ? (found ?? level) : pick(found, level)),
    null,
  )
}

/** Parses the stored samples; invalid rows are ignored. */
export function parseSamples(text: string): readonly Sample[] {
  try {
    const rows: unknown = JSON.parse(text)
    if (!Array.isArray(rows)) return []
    return rows.filter(isRow).map(([at, rf, rfPercent, audio, battery]) => ({ at, rf, rfPercent, audio, battery }))
  } catch {
    return []
  }
}

export function formatSamples(samples: readonly Sample[]): string {
  return JSON.stringify(samples.map(({ at, rf, rfPercent, audio, battery }) => [at, rf, rfPercent, audio, battery]))
}

type Level = number | null
type Row = readonly [at: number, rf: Level, rfPercent: Level, audio: Level, battery: Level]

function isRow(row: unknown): row is Row {
  const isLevel = (value: unknown) => value === null || typeof value === 'number'
  return Array.isArray(row) && row.length === 5 && typeof row[0] === 'number' && row.slice(1).every(isLevel)
}
