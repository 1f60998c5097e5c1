/**
 * The ledger of a simulated pack: its changes with their times, from which the figures of a report are computed. Times are
 * epoch milliseconds of the clock that the service also uses.
 */

export interface PackState {
  readonly isOn: boolean
  /** At the receiver's best antenna, in dBm. */
  readonly rf: number
  /** In dBFS. */
  readonly audio: number
  /** In percent. */
  readonly battery: number
  readonly isMuted: boolean
  readonly hasEncryptionError: boolean
  readonly hasInterference: boolean
}

/** `to` is exclusive. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

export const noiseDbm = -108

export const switchedOff: PackState = {
  isOn: false,
  rf: -50,
  audio: -20,
  battery: 80,
  isMuted: false,
  hasEncryptionError: false,
  hasInterference: false,
}

interface Entry {
  readonly at: number
  readonly state: PackState
}

export class Ledger {
  readonly #entries: Entry[] = [{ at: Number.NEGATIVE_INFINITY, state: switchedOff }]

  /** Records a change, and returns the new state. */
  note(at: number, change: Partial<PackState>): PackState {
    const state = { ...this.#stateAt(Number.POSITIVE_INFINITY), ...change }
    this.#entries.push({ at, state })
    return state
  }

  /** Lists the states in a range, in order, whether or not the pack was on. */
  statesIn({ from, to }: Stretch): readonly PackState[] {
    const changes = this.#entries.filter(({ at }) => at > from && at < to)
    return [this.#stateAt(from), ...changes.map(({ state }) => state)]
  }

  /** Lists the stretches of a range in which the pack was on and `isTrue`. */
  stretches({ from, to }: Stretch, isTrue: (state: PackState) => boolean): readonly Stretch[] {
    const found: { from: number; to: number }[] = []
    for (const [index, { at, state }] of this.#entries.entries()) {
      const begin = Math.max(from, at)
      const end = Math.min(to, this.#entries[index + 1]?.at ?? to)
      if (!state.isOn || !isTrue(state) || end <= begin) continue
      const last = found.at(-1)
      if (last?.to === begin) last.to = end
      else found.push({ from: begin, to: end })
    }
    return found
  }

  /** For how long in a range the pack was on and `isTrue`. */
  secondsIn(range: Stretch, isTrue: (state: PackState) => boolean = () => true): number {
    return this.stretches(range, isTrue).reduce((sum, { from, to }) => sum + (to - from) / 1000, 0)
  }

  /** Lists when in a range something became true of the pack, or it was switched on while it was true. */
  beginnings({ from, to }: Stretch, isTrue: (state: PackState) => boolean): readonly number[] {
    const times = this.stretches(always, isTrue).map((stretch) => stretch.from)
    return times.filter((time) => time >= from && time < to)
  }

  /** Lists when in a range something ceased to be true of the pack, or it was switched off while it was true. */
  endings({ from, to }: Stretch, isTrue: (state: PackState) => boolean): readonly number[] {
    const times = this.stretches(always, isTrue).map((stretch) => stretch.to)
    return times.filter((time) => time >= from && time < to)
  }

  /** The readings at the first and at the last moment of a range at which the pack was on. */
  batteries(range: Stretch): readonly [start: number, end: number] {
    const on = this.stretches(range, () => true)
    const [first, last] = [on[0]?.from ?? range.from, on.at(-1)?.to ?? range.to]
    return [this.#stateAt(first).battery, this.#stateAt(last - 1).battery]
  }

  /** The lowest RF level while the pack was on. */
  lowestRf(range: Stretch): number {
    return Math.min(...this.statesIn(range).flatMap(({ isOn, rf }) => (isOn ? rf : [])))
  }

  /** Lists the lowest RF level of every whole second of a range in which the pack was on throughout. */
  lowestRfBySecond({ from, to }: Stretch): readonly number[] {
    const seconds = Array.from(
      { length: Math.floor(to / 1000) - Math.ceil(from / 1000) },
      (_, index) => 1000 * (Math.ceil(from / 1000) + index),
    )
    const ranges = seconds.map((second) => ({ from: second, to: second + 1000 }))
    return ranges.filter((range) => this.secondsIn(range) === 1).map((range) => this.lowestRf(range))
  }

  #stateAt(time: number): PackState {
    return this.#entries.findLast(({ at }) => at <= time)?.state ?? switchedOff
  }
}

const always: Stretch = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** Returns the lowest value that at least a hundredth of the values do not exceed (nearest rank). */
export function firstPercentile(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length / 100) - 1)] ?? null
}
