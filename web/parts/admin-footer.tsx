/** How each manufacturer fares, on pages that have no live feed. */

import { type Health, isObject } from '../api.ts'
import { t } from '../i18n.ts'
import { useReading } from '../reading.ts'
import { HealthItems } from './health-list.tsx'

const everyMs = 10_000

export function AdminFooter() {
  const { body, problem } = useReading('/api/health/', isObject<Health>, everyMs)
  return (
    <footer className="footer">
      <ul className="footer-list" aria-label={t('health.label')}>
        {body === null ? (
          <li className="footer-item">{t('health.unknown')}</li>
        ) : (
          <HealthItems health={body} isOld={problem !== null} />
        )}
      </ul>
    </footer>
  )
}
