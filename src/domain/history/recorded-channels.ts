import { stateLetters } from './columns.ts'
import type { LevelHistory } from './level-history.ts'

/** True if levels of the channel were recorded, even if it has been removed. Reads its hours. */
export async function wasRecorded(levels: Pick<LevelHistory, 'range' | 'read'>, channelId: number): Promise<boolean> {
  const range = await levels.range()
  if (range === null) return false
  const { columns } = await levels.read([channelId], range.first, range.last, 3600)
  return columns.state.some((state) => state > stateLetters.indexOf('-'))
}
