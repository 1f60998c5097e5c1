/** Elapsed time, counting up. */

import { useWatchState } from '../context.ts'
import { formatDuration, formatShortDuration } from '../format.ts'

interface AgeProps {
  readonly since: number
  readonly isShort?: boolean
}

export function Age({ since, isShort = false }: AgeProps) {
  const age = useWatchState((watchState) => (isShort ? formatShortDuration : formatDuration)(watchState.now - since))
  return <span className="age">{age}</span>
}
