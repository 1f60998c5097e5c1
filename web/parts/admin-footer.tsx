/** Status of the manufacturers on pages without live updates. */

import { t } from '../i18n.ts'
import { useResource } from '../resource.ts'
import { HealthItems } from './health-list.tsx'

const intervalMs = 10_000

export function AdminFooter() {
  const { body, problem } = useResource('/api/health/', 'object', intervalMs)
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
