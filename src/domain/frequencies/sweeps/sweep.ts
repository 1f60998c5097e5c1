/** A sweep: the levels that an analyser has measured once over a range of frequencies. */

export const maxSweepPoints = 20_000
export const maxSweepSources = 8
/** Of each source. */
export const maxSweepsPerSecond = 4
/** Of each source. */
export const maxWaterfallLines = 100
/** Of each line. A page is not wider. */
export const maxWaterfallPoints = 2000
export const lowestDbm = -250
export const highestDbm = 100
export const highestMhz = 30_000

/** The levels are in tenths of a dB, in equal steps. */
export interface Sweep {
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly fromMhz: number
  readonly stepMhz: number
  readonly tenthsDbm: Int16Array
  /** False for the relative levels of `rtl_power` and `hackrf_sweep`. */
  readonly isCalibrated: boolean
}

/** Stands for a frequency at which nothing was measured. It is below all levels. */
export const unmeasured = -32_768

/** The message names the field or line, and the expected content. */
export class SweepError extends Error {
  override readonly name = 'SweepError'
}

interface NewSweep extends Omit<Sweep, 'tenthsDbm'> {
  readonly dbm: readonly (number | null)[]
}

/** Throws a `SweepError` about levels or frequencies that no analyser measures. */
export function toSweep({ dbm, ...sweep }: NewSweep): Sweep {
  const { fromMhz, stepMhz } = sweep
  const lastMhz = fromMhz + (dbm.length - 1) * stepMhz
  if (lastMhz > highestMhz) throw new SweepError(`mhz_step: the sweep ends at ${lastMhz} MHz, above ${highestMhz} MHz`)
  const levels = dbm.filter((level) => level !== null).sort((one, other) => one - other)
  const median = levels[levels.length >> 1]
  if (median === undefined) throw new SweepError('dbm: no level was measured')
  if (median < -200 || median > 20) {
    throw new SweepError(`dbm: a median of ${median} cannot be in dBm; expected levels with a median from -200 to 20`)
  }
  const tenthsDbm = Int16Array.from(dbm, (level) => (level === null ? unmeasured : Math.round(level * 10)))
  return { ...sweep, tenthsDbm }
}

export function haveSameGrid(one: Sweep, other: Sweep): boolean {
  const haveSameRange = one.fromMhz === other.fromMhz && one.stepMhz === other.stepMhz
  return haveSameRange && one.tenthsDbm.length === other.tenthsDbm.length
}

/** Returns the higher of both levels at each frequency. The grids must be the same. */
export function holdHighest(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((level, index) => Math.max(level, other[index] ?? unmeasured))
}

/** Returns at most `maxPoints` levels: each is the highest of as many neighbours as necessary. */
export function thin(levels: Int16Array, maxPoints: number): Int16Array {
  const neighbours = Math.ceil(levels.length / maxPoints)
  if (neighbours === 1) return levels
  const thinned = new Int16Array(Math.ceil(levels.length / neighbours)).fill(unmeasured)
  for (const [index, level] of levels.entries()) {
    const at = Math.floor(index / neighbours)
    thinned[at] = Math.max(thinned[at] ?? unmeasured, level)
  }
  return thinned
}

export function toDbm(tenths: Int16Array): (number | null)[] {
  return Array.from(tenths, (level) => (level === unmeasured ? null : level / 10))
}
