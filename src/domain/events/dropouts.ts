/**
 * The RF dropouts of one channel, from its samples. A dropout begins with the first weak sample while the transmitter is
 * on, and ends with the first sample that is not weak, or with the transmitter. Two that are less than 1 s apart are one.
 * There is none if the transmitter switches off within 2 s of the first weak sample, because that is how switching off
 * looks, or if it began with the transmitter and ends within 1 s, because the first level may be from before: that of noise.
 * All times are milliseconds of one monotonic clock.
 */

export interface Dropout {
  readonly beganAt: number
  /** Null while it continues. */
  endedAt: number | null
  /** The lowest level in dBm. */
  lowest: number
  /** Whether an event of it was written while it continued. */
  isAnnounced: boolean
  /** Whether its first sample came with the report that switched the transmitter on. */
  readonly beganWithTransmitter: boolean
}

/** The dropouts that are not decided yet, oldest first. Only the last may continue. */
export type Dropouts = Dropout[]

const joinedWithinMs = 1000
const switchOffMs = 2000
/** By then, the first level of a transmitter has arrived. */
const firstLevelMs = 1000

export interface DropoutSample {
  readonly at: number
  readonly isOn: boolean
  /** Whether the transmitter was off until now. */
  readonly isSwitchedOn: boolean
  readonly isWeak: boolean
  /** The level in dBm at the best antenna in use. */
  readonly level: number
}

/** Adds a sample. Call `settleDropouts` first, with the same time. */
export function addSample(dropouts: Dropouts, { at, isOn, isSwitchedOn, isWeak, level }: DropoutSample): void {
  const last = dropouts.at(-1)
  if (isOn && isWeak) {
    if (last === undefined || !canContinue(last, at)) {
      dropouts.push({
        beganAt: at,
        endedAt: null,
        lowest: level,
        isAnnounced: false,
        beganWithTransmitter: isSwitchedOn,
      })
    } else {
      last.endedAt = null
      last.lowest = Math.min(last.lowest, level)
    }
    return
  }
  endDropout(dropouts, at)
  if (isOn) return
  const kept = dropouts.filter(({ beganAt, isAnnounced }) => isAnnounced || at - beganAt > switchOffMs)
  dropouts.splice(0, dropouts.length, ...kept)
}

/** Ends the dropout that continues, for instance because nothing is received any more. */
export function endDropout(dropouts: Dropouts, at: number): void {
  const last = dropouts.at(-1)
  if (last !== undefined) last.endedAt ??= Math.max(at, last.beganAt)
}

function canContinue({ endedAt }: Dropout, at: number): boolean {
  return endedAt === null || at - endedAt < joinedWithinMs
}

/** Removes the dropouts that no later sample can change, and returns them. */
export function settleDropouts(dropouts: Dropouts, now: number): readonly Dropout[] {
  const settled = dropouts.filter(
    (dropout) => !canContinue(dropout, now) && (dropout.isAnnounced || isLongAgo(dropout, now)),
  )
  if (settled.length > 0) dropouts.splice(0, dropouts.length, ...dropouts.filter((each) => !settled.includes(each)))
  return settled.filter((dropout) => !isSwitchingOn(dropout))
}

/** Whether it is only how switching on looks. */
function isSwitchingOn({ beganAt, endedAt, beganWithTransmitter }: Dropout): boolean {
  return beganWithTransmitter && endedAt !== null && endedAt - beganAt < firstLevelMs
}

/** Returns a dropout that continues and certainly is one, but has no event yet. */
export function findUnannounced(dropouts: Dropouts, now: number): Dropout | undefined {
  const last = dropouts.at(-1)
  return last?.endedAt === null && !last.isAnnounced && isLongAgo(last, now) ? last : undefined
}

function isLongAgo({ beganAt }: Dropout, now: number): boolean {
  return now - beganAt > switchOffMs
}
