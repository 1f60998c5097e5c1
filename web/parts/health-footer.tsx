/** How the link and each manufacturer fare. */

import { houseStaleSince } from '../channel-state.ts'
import { useHouse } from '../context.ts'
import { formatTime } from '../format.ts'
import { words } from '../words.ts'
import { HealthItems, Lamp } from './health-list.tsx'
import { StaleBanner } from './stale-banner.tsx'

export function HealthFooter() {
  const health = useHouse((runtime) => runtime.health)
  const client = useHouse((runtime) => runtime.client)
  const isOld = useHouse((runtime) => houseStaleSince(runtime) !== null)
  const time = useHouse((runtime) => formatTime(runtime.now))
  return (
    <footer className="footer">
      <StaleBanner />
      <ul className="footer-list" aria-label={words.health.label}>
        <li className="footer-item" data-status={isOld || client !== 'open' ? 'lost' : 'live'}>
          <Lamp shape={isOld || client !== 'open' ? 'cross' : 'dot'} />
          {words.link[client]}
        </li>
        {health === null ? (
          <li className="footer-item">{words.health.unknown}</li>
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
