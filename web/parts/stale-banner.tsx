/** Says loudly that what is shown is old, and how old. */

import { houseStaleSince } from '../channel-state.ts'
import { useHouse } from '../context.ts'
import { formatDuration, formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { Age } from './age.tsx'
import { StateIcon } from './state-icon.tsx'

export function StaleBanner() {
  const staleSince = useHouse(houseStaleSince)
  const reason = useHouse((house) =>
    house.link === 'lost' ? t('banner.lost') : house.isFresh ? t('banner.silent') : t('banner.reconnecting'),
  )
  // That nothing can be reached is said already.
  const problem = useHouse(({ problem }) => (problem?.kind === 'unreachable' ? null : (problem?.detail ?? null)))
  const nextTry = useHouse((house) =>
    house.link !== 'lost' || house.nextTryAt === null ? null : retryText(house.nextTryAt - house.now),
  )
  if (staleSince === null) return null
  return (
    <div className="banner">
      <StateIcon state="stale" />
      <p>
        <strong role="alert">{reason}</strong>{' '}
        <span>
          {t('banner.age.before')}
          <Age since={staleSince} />
          {t('banner.age.after', { time: formatTime(staleSince) })}
        </span>{' '}
        {problem === null ? null : <span>{problem} </span>}
        {nextTry === null ? null : <span className="next-try">{nextTry}</span>}
      </p>
    </div>
  )
}

function retryText(ms: number): string {
  return ms > 0 ? t('banner.retryIn', { time: formatDuration(Math.ceil(ms / 1_000) * 1_000) }) : t('banner.retrying')
}
