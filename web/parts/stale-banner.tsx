/** Says loudly that what is shown is old, and how old. */

import { houseStaleSince } from '../channel-state.ts'
import { useHouse } from '../context.ts'
import { formatTime } from '../format.ts'
import { words } from '../words.ts'
import { Age } from './age.tsx'
import { StateIcon } from './state-icon.tsx'

export function StaleBanner() {
  const staleSince = useHouse(houseStaleSince)
  const reason = useHouse((runtime) =>
    runtime.client === 'lost' ? words.banner.lost : runtime.isFresh ? words.banner.silent : words.banner.reconnecting,
  )
  // That nothing can be reached is said already.
  const problem = useHouse(({ problem }) => (problem?.kind === 'unreachable' ? null : (problem?.detail ?? null)))
  const nextTry = useHouse((runtime) =>
    runtime.client !== 'lost' || runtime.nextTryAt === null
      ? null
      : words.banner.retrying(Math.ceil((runtime.nextTryAt - runtime.now) / 1_000)),
  )
  if (staleSince === null) return null
  return (
    <div className="banner">
      <StateIcon state="stale" />
      <p>
        <strong role="alert">{reason}</strong>{' '}
        <span>
          {words.banner.old.before}
          <Age since={staleSince} />
          {words.banner.old.after(formatTime(staleSince))}
        </span>{' '}
        {problem === null ? null : <span>{problem} </span>}
        {nextTry === null ? null : <span className="next-try">{nextTry}</span>}
      </p>
    </div>
  )
}
