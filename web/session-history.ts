/** What one channel said while its page was open in this tab: once a second, over reloads too. */

export interface Sample {
  /** This device's time, whole seconds of the epoch. */
  readonly at: number
  /** dBm, dBFS, percent; null where not told or not live. */
  readonly rf: number | null
  readonly audio: number | null
  readonly battery: number | null
}

/** Three hours: a show with its sound check. */
const mostSamples = 3 * 3_600
/** After so many seconds without a sample nothing joins the two ends: the page was not open. */
const gapSeconds = 5

export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1)
  if (last !== undefined && sample.at <= last.at) return samples
  const gap: Sample[] =
    last !== undefined && sample.at - last.at > gapSeconds
      ? [{ at: last.at + 1, rf: null, audio: null, battery: null }]
      : []
  return [...samples, ...gap, sample].slice(-mostSamples)
}

/** What was kept; nothing of what makes no sense. */
export function parseSamples(text: string): readonly Sample[] {
  try {
    const rows: unknown = JSON.parse(text)
    if (!Array.isArray(rows)) return []
    return rows.filter(isRow).map(([at, rf, audio, battery]) => ({ at, rf, audio, battery }))
  } catch {
    return []
  }
}

export function formatSamples(samples: readonly Sample[]): string {
  return JSON.stringify(samples.map(({ at, rf, audio, battery }) => [at, rf, audio, battery]))
}

type Row = readonly [number, number | null, number | null, number | null]

function isRow(row: unknown): row is Row {
  const isLevel = (value: unknown) => value === null || typeof value === 'number'
  return Array.isArray(row) && row.length === 4 && typeof row[0] === 'number' && row.slice(1).every(isLevel)
}
