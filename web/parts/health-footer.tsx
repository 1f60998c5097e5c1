/** How the link and each manufacturer fare. */

import type { UpstreamStatus } from '../../src/model/health.ts'
import { houseStaleSince } from '../channel-state.ts'
import { useHouse } from '../context.ts'
import { formatTime } from '../format.ts'
import { texts } from '../texts.ts'
import { StaleBanner } from './stale-banner.tsx'

export function HealthFooter() {
  const health = useHouse((house) => house.health)
  const link = useHouse((house) => house.link)
  const isOld = useHouse((house) => houseStaleSince(house) !== null)
  const time = useHouse((house) => formatTime(house.now))
  return (
    <footer className="footer">
      <StaleBanner />
      <ul className="footer-list" aria-label={texts.health.label}>
        <li className="footer-item" data-status={isOld || link !== 'open' ? 'lost' : 'live'}>
          <Lamp shape={isOld || link !== 'open' ? 'cross' : 'dot'} />
          {texts.link[link]}
        </li>
        {health === null ? <li className="footer-item">{texts.health.unknown}</li> : null}
        {health?.manufacturers.length === 0 ? <li className="footer-item">{texts.health.noManufacturers}</li> : null}
        {health?.manufacturers.map((one) => (
          <li key={one.code} className="footer-item" data-status={isOld ? undefined : one.status}>
            <Lamp shape={isOld ? 'ring' : shapeOf[one.status]} />
            <bdi className="footer-code">{one.code}</bdi>{' '}
            {isOld ? texts.health.lastKnown(texts.health.statuses[one.status]) : texts.health.statuses[one.status]}
            {one.error === null ? null : (
              <bdi className="footer-error" title={one.error}>
                {one.error}
              </bdi>
            )}
          </li>
        ))}
      </ul>
      <span className="clock" aria-hidden="true">
        {time}
      </span>
    </footer>
  )
}

type Shape = 'dot' | 'triangle' | 'cross' | 'ring'

const shapeOf: Record<UpstreamStatus, Shape> = {
  healthy: 'dot',
  degraded: 'triangle',
  unhealthy: 'cross',
  disabled: 'ring',
  unconfigured: 'ring',
}

const paths: Record<Shape, string> = {
  dot: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
  triangle: 'M8 2 15 14H1Z',
  cross: 'M3 3 13 13M13 3 3 13',
  ring: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
}

function Lamp({ shape }: { shape: Shape }) {
  return (
    <svg className="lamp" data-shape={shape} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[shape]} />
    </svg>
  )
}
