/** Status of the manufacturers on pages without live updates. */

import { useEffect } from 'react'
import { t } from '../i18n.ts'
import { useResource } from '../resource.ts'
import { reloadIfOutdated } from '../version.ts'
import { HealthItems } from './health-list.tsx'

const topics = ['source', 'settings'] as const

export function AdminFooter() {
  const { body, problem } = useResource('/api/health/', 'object', topics)
  useEffect(() => reloadIfOutdated(body?.version), [body?.version])
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
