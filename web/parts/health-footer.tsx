/** How the link and each manufacturer fare. */

import { houseStaleSince } from '../channel-state.ts'
import { useHouse } from '../context.ts'
import { formatTime } from '../format.ts'
import { t } from '../i18n.ts'
import { HealthItems, Lamp } from './health-list.tsx'
import { StaleBanner } from './stale-banner.tsx'

export function HealthFooter() {
  const health = useHouse((house) => house.health)
  const link = useHouse((house) => house.link)
  const isOld = useHouse((house) => houseStaleSince(house) !== null)
  const time = useHouse((house) => formatTime(house.now))
  return (
    <footer className="footer">
      <StaleBanner />
      <ul className="footer-list" aria-label={t('health.label')}>
        <li className="footer-item" data-status={isOld || link !== 'open' ? 'lost' : 'live'}>
          <Lamp shape={isOld || link !== 'open' ? 'cross' : 'dot'} />
          {t(`connection.${link}`)}
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
