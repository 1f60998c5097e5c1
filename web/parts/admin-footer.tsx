/** Status of the manufacturers on pages without live updates. */

import { type Health, isObject } from '../api.ts'
import { t } from '../i18n.ts'
import { useResource } from '../resource.ts'
import { HealthItems } from './health-list.tsx'

const topics = ['source', 'settings'] as const

export function AdminFooter() {
  const { body, problem } = useResource('/api/health/', isObject<Health>, topics)
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
