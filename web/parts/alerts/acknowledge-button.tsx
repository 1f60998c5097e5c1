/**
 * Acknowledges for all users with one tap. Without permission there is no button. For an alert of a site, it says
 * where it can be acknowledged.
 */

import { Check } from 'lucide-react'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useMay } from '../../app/session.ts'
import { SiteNote } from '../equipment/site-note.tsx'
import { alertLine } from './alert-text.ts'
import { isOpen } from './alerts.ts'
import { useAlertResponses } from './use-alert-responses.ts'

export function AcknowledgeButton({ alert }: { alert: AlertBody }) {
  const { isSending, acknowledge } = useAlertResponses()
  const mayOperate = useMay('operate')
  if (!mayOperate || !isOpen(alert)) return null
  if (alert.site !== null) {
    return (
      <SiteNote site={alert.site} page="alerts">
        {t('alerts.atSite', { site: plainText(alert.site.name) })}
      </SiteNote>
    )
  }
  return (
    <button
      type="button"
      className="choice acknowledge"
      data-tone="usual"
      disabled={isSending}
      aria-label={t('alerts.acknowledge.of', { alert: alertLine(alert) })}
      onClick={() => void acknowledge([alert])}
    >
      <Check className="icon" aria-hidden="true" />
      {t('alerts.acknowledge.action')}
    </button>
  )
}
