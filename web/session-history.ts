/** What one channel said while its page was open in this tab: once a second, over reloads too. */

export interface Sample {
  /** This device's time, whole seconds of the epoch. */
  readonly at: number
  /** dBm, or percent of the gear's own scale; dBFS; percent. Null where not told or not live. */
  readonly rf: number | null
  readonly rfPercent: number | null
  readonly audio: number | null
  readonly battery: number | null
}

export function unknownAt(at: number): Sample {
  return { at, rf: null, rfPercent: null, audio: null, battery: null }
}

/** Three hours: a show with its sound check. */
const mostSamples = 3 * 3_600
/** After so many seconds without a sample nothing joins the two ends: the page was not open. */
const gapSeconds = 5

export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1)
  if (last !== undefined && sample.at <= last.at) return samples
  const gap: Sample[] = last !== undefined && sample.at - last.at > gapSeconds ? [unknownAt(last.at + 1)] : []
  return [...samples, ...gap, sample].slice(-mostSamples)
}

/** What was kept; nothing of what makes no sense. */
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
