/** How long ago, counting up. */

import { useHouse } from '../context.ts'
import { formatAge, shortAge } from '../format.ts'

interface AgeProps {
  readonly since: number
  readonly isShort?: boolean
}

export function Age({ since, isShort = false }: AgeProps) {
  const age = useHouse((runtime) => (isShort ? shortAge : formatAge)(runtime.now - since))
  return <span className="age">{age}</span>
}
