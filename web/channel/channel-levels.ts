import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import { type StateLetter, stateLetters } from '../../src/domain/history/columns.ts'
import { tierSteps } from '../../src/domain/history/tiers.ts'

type Level = number | null

export const stateNames = {
  '1': 'on',
  m: 'muted',
  '0': 'off',
  x: 'offline',
  '-': 'unknown',
} as const satisfies Record<StateLetter, string>

/** All lists have the same length. */
export interface ChannelLevels {
  /** Start of the first step, in epoch seconds. */
  readonly from: number
  readonly stepSeconds: number
  /** Null: not loaded yet. */
  readonly letters: readonly (StateLetter | null)[]
  /** dBm, or percent of the equipment's own scale. */
  readonly rfMin: readonly Level[]
  readonly rfMax: readonly Level[]
  /** dBFS */
  readonly audio: readonly Level[]
  /** Percent. */
  readonly battery: readonly Level[]
}

export interface LiveSecond {
  /** Epoch seconds. */
  readonly at: number
  readonly letter: StateLetter
  readonly rfMin: Level
  readonly rfMax: Level
  readonly audio: Level
  readonly battery: Level
}

export const maxPoints = 2_100

export function recordedLevels({ from, step_seconds, channels }: HistoryLevelsBody, channelId: number): ChannelLevels {
  const channel = channels.find(({ id }) => id === channelId)
  const letters = [...(channel?.state ?? '')].map(toLetter)
  const values = (list: readonly Level[] | undefined) => list ?? letters.map(() => null)
  return {
    from: Date.parse(from) / 1_000,
    stepSeconds: step_seconds,
    letters,
    rfMin: values(channel?.rf?.min),
    rfMax: values(channel?.rf?.max),
    audio: values(channel?.audio?.max),
    battery: values(channel?.battery?.last),
  }
}

function toLetter(text: string): StateLetter {
  return stateLetters.find((letter) => letter === text) ?? '-'
}

/** The number of steps that a recording would have. */
export function unknownLevels(from: number, to: number): ChannelLevels {
  const stepSeconds = tierSteps.find((step) => (to - from) / step + 1 <= maxPoints) ?? 3_600
  return { ...{ from: Math.floor(from / stepSeconds) * stepSeconds, stepSeconds, letters: [] }, ...emptyLists }
}

const emptyLists = { rfMin: [], rfMax: [], audio: [], battery: [] }

/** Continues the steps until `to` with live values. Other steps are not recorded, or not loaded yet. */
export function withLive(
  levels: ChannelLevels,
  seconds: readonly LiveSecond[],
  { to, isLoaded }: { readonly to: number; readonly isLoaded: boolean },
): ChannelLevels {
  const { from, stepSeconds } = levels
  const count = Math.max(levels.letters.length, Math.min(maxPoints + 1, Math.ceil((to - from) / stepSeconds)))
  const extend = <Value>(list: readonly Value[], value: Value) =>
    Array.from({ length: count }, (_, index) => list[index] ?? value)
  const letters = extend<StateLetter | null>(levels.letters, isLoaded ? '-' : null)
  const [rfMin, rfMax, audio, battery] = [levels.rfMin, levels.rfMax, levels.audio, levels.battery].map((list) =>
    extend<Level>(list, null),
  ) as [Level[], Level[], Level[], Level[]]
  for (const second of seconds) {
    const index = Math.floor((second.at - from) / stepSeconds)
    if (index < 0 || index >= count) continue
    if (letters[index] === '-' || letters[index] === null) letters[index] = second.letter
    rfMin[index] = pick(Math.min, rfMin[index], second.rfMin)
    rfMax[index] = pick(Math.max, rfMax[index], second.rfMax)
    audio[index] = pick(Math.max, audio[index], second.audio)
    battery[index] = second.battery ?? battery[index] ?? null
  }
  return { from, stepSeconds, letters, rfMin, rfMax, audio, battery }
}

/** Returns the known level, or the chosen one of two. */
export function pick(choose: (a: number, b: number) => number, a: Level | undefined, b: Level): Level {
  return a === null || a === undefined ? b : b === null ? a : choose(a, b)
}

/** Times in epoch seconds; the end is exclusive. */
export interface StateRun {
  readonly letter: StateLetter
  readonly from: number
  readonly to: number
}

export function stateRuns({ from, stepSeconds, letters }: ChannelLevels): readonly StateRun[] {
  const runs: StateRun[] = []
  for (const [index, letter] of letters.entries()) {
    if (letter === null) continue
    const last = runs.at(-1)
    const at = from + index * stepSeconds
    if (last?.letter === letter && last.to === at) runs[runs.length - 1] = { ...last, to: at + stepSeconds }
    else runs.push({ letter, from: at, to: at + stepSeconds })
  }
  return runs
}

/** The extremes of the levels, the last battery level, and the states. */
export interface LevelRange {
  /** Epoch seconds. */
  readonly from: number
  readonly letters: readonly StateLetter[]
  readonly rfMin: Level
  readonly rfMax: Level
  readonly audio: Level
  readonly battery: Level
}

/** At most `most` ranges of equal length, newest first. */
export function summarizeLevels(levels: ChannelLevels, from: number, most: number): readonly LevelRange[] {
  const first = Math.max(0, Math.floor((from - levels.from) / levels.stepSeconds))
  const count = levels.letters.length - first
  const size = Math.max(1, Math.ceil(count / most))
  const ranges: LevelRange[] = []
  for (let start = first; start < levels.letters.length; start += size) {
    const within = <Value>(list: readonly Value[]) => list.slice(start, start + size)
    ranges.push({
      from: levels.from + start * levels.stepSeconds,
      letters: [...new Set(within(levels.letters))].filter((letter) => letter !== null),
      rfMin: extreme(within(levels.rfMin), Math.min),
      rfMax: extreme(within(levels.rfMax), Math.max),
      audio: extreme(within(levels.audio), Math.max),
      battery: within(levels.battery).findLast((level) => level !== null) ?? null,
    })
  }
  return ranges.reverse()
}

function extreme(levels: readonly Level[], choose: (a: number, b: number) => number): Level {
  return levels.reduce<Level>((found, level) => pick(choose, found, level), null)
}
