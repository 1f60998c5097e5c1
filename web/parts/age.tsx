/** How long ago, counting up. */

import { useHouse } from '../context.ts'
import { formatDuration, formatShortDuration } from '../format.ts'

interface AgeProps {
  readonly since: number
  readonly isShort?: boolean
}

export function Age({ since, isShort = false }: AgeProps) {
  const age = useHouse((house) => (isShort ? formatShortDuration : formatDuration)(house.now - since))
  return <span className="age">{age}</span>
}
