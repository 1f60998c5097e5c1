/** Status of the connection and of each manufacturer. */

import { allStaleSince } from '../channel-state.ts'
import { useWatchState } from '../context.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { HealthItems, Lamp } from './health-list.tsx'
import { StaleBanner } from './stale-banner.tsx'

export function HealthFooter() {
  const health = useWatchState((watchState) => watchState.health)
  const connection = useWatchState((watchState) => watchState.connection)
  const isOld = useWatchState((watchState) => allStaleSince(watchState) !== null)
  const time = useWatchState((watchState) => formatTime(watchState.now))
  return (
    <footer className="footer">
      <StaleBanner />
      <ul className="footer-list" aria-label={t('health.label')}>
        <li className="footer-item" data-status={isOld || connection !== 'open' ? 'lost' : 'live'}>
          <Lamp shape={isOld || connection !== 'open' ? 'cross' : 'dot'} />
          {t(`connection.${connection}`)}
        </li>
        {health === null ? (
          <li className="footer-item">{t('health.unknown')}</li>
        ) : (
          <HealthItems health={health} isOld={isOld} />
        )}
      </ul>
      <span className="clock" aria-hidden="true">
        {time}
      </span>
    </footer>
  )
}
