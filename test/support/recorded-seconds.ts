/** Reads the recorded seconds of a channel from the history. */

import { noValue, type StateLetter, stateLetters } from '../../src/domain/history/columns.ts'
import type { LevelHistory } from '../../src/domain/history/level-history.ts'

export interface RecordedSecond {
  /** Epoch seconds. */
  readonly time: number
  readonly letter: StateLetter
  readonly rf_min: number | null
  readonly rf_max: number | null
  readonly battery: number | null
}

/** Returns all seconds from the first to the last that is recorded. */
export async function readSeconds(
  levels: Pick<LevelHistory, 'range' | 'read'>,
  channelId: number,
): Promise<RecordedSecond[]> {
  const range = await levels.range()
  if (range === null) return []
  const { columns, count } = await levels.read([channelId], range.first, range.last, 1)
  const valueAt = (name: keyof typeof columns, step: number) => {
    const value = columns[name][step] ?? noValue
    return value === noValue ? null : value
  }
  return Array.from({ length: count }, (_, step) => ({
    time: range.first + step,
    letter: stateLetters[columns.state[step] ?? 0] ?? '-',
    rf_min: valueAt('rf_min', step),
    rf_max: valueAt('rf_max', step),
    battery: valueAt('battery', step),
  }))
}
