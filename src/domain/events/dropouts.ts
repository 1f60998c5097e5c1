/**
 * Detects the RF dropouts of one channel from its samples. A dropout begins with the first weak sample while the
 * transmitter is on. It ends with the first sample that is not weak, or with the transmitter. Two dropouts less than 1
 * s apart are one.
 *
 * Two cases are no dropouts. If the transmitter switches off within 2 s of the first weak sample, the level falls
 * because of that. If the weak samples began with the transmitter and end within 1 s, the first level may still be
 * noise.
 *
 * All times are milliseconds of one monotonic clock.
 */

export interface Dropout {
  readonly beganAt: number
  /** Null for an open dropout. */
  endedAt: number | null
  /** The lowest level in dBm. */
  lowest: number
  /** True if its event was written before it ended. */
  isAnnounced: boolean
  /** True if its first sample came with the report that switched the transmitter on. */
  readonly beganWithTransmitter: boolean
}

/** The undecided dropouts, oldest first. Only the last may be open. */
export type Dropouts = Dropout[]

const joinedWithinMs = 1000
const switchOffMs = 2000
/** By then, the first level of a transmitter has arrived. */
const firstLevelMs = 1000

export interface DropoutSample {
  readonly at: number
  readonly isOn: boolean
  /** True if the transmitter was off until now. */
  readonly isSwitchedOn: boolean
  readonly isWeak: boolean
  /** The level in dBm at the best antenna in use. */
  readonly level: number
}

/** Call `settleDropouts` first, with the same time. */
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

/** Ends the open dropout, for instance because reception has ended. */
export function endDropout(dropouts: Dropouts, at: number): void {
  const last = dropouts.at(-1)
  if (last !== undefined) last.endedAt ??= Math.max(at, last.beganAt)
}

function canContinue({ endedAt }: Dropout, at: number): boolean {
  return endedAt === null || at - endedAt < joinedWithinMs
}

/** Removes and returns the dropouts that no later sample can change. */
export function settleDropouts(dropouts: Dropouts, now: number): readonly Dropout[] {
  const settled = dropouts.filter(
    (dropout) => !canContinue(dropout, now) && (dropout.isAnnounced || isLongAgo(dropout, now)),
  )
  if (settled.length > 0) dropouts.splice(0, dropouts.length, ...dropouts.filter((each) => !settled.includes(each)))
  return settled.filter((dropout) => !isSwitchingOn(dropout))
}

/** True if the weak samples are only those of a transmitter that was switched on. */
function isSwitchingOn({ beganAt, endedAt, beganWithTransmitter }: Dropout): boolean {
  return beganWithTransmitter && endedAt !== null && endedAt - beganAt < firstLevelMs
}

/** Returns an open dropout that is certain but has no event yet. */
export function findUnannounced(dropouts: Dropouts, now: number): Dropout | undefined {
  const last = dropouts.at(-1)
  return last?.endedAt === null && !last.isAnnounced && isLongAgo(last, now) ? last : undefined
}

function isLongAgo({ beganAt }: Dropout, now: number): boolean {
  return now - beganAt > switchOffMs
}
