/** Which channels the history knows. */

import { stateLetters } from './columns.ts'
import type { LevelHistory } from './level-history.ts'

/** Whether anything was recorded of a channel, which may have been removed since. Reads its hours. */
export async function wasRecorded(levels: Pick<LevelHistory, 'range' | 'read'>, channelId: number): Promise<boolean> {
  const range = await levels.range()
  if (range === null) return false
  const { columns } = await levels.read([channelId], range.first, range.last, 3600)
  return columns.state.some((state) => state > stateLetters.indexOf('-'))
}
