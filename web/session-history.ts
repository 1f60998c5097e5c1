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
