/** Open alerts of chargers and the batteries in them. */

import { t } from '../i18n.ts'
import { useResource } from '../resource.ts'
import { AlertItem } from './channel-alerts.tsx'

const topics = ['alert'] as const

export function ChargerAlerts() {
  const { body } = useResource('/api/alerts/?state=raised', 'list', topics)
  const alerts = (body ?? []).filter(({ kind }) => kind === 'charger_fault')
  if (alerts.length === 0) return null
  return (
    <section aria-labelledby="charger-alerts">
      <h2 id="charger-alerts">{t('layout.chargerAlerts')}</h2>
      <ul className="alerts">
        {alerts.toReversed().map((alert) => (
          <AlertItem key={alert.id} alert={alert} />
        ))}
      </ul>
    </section>
  )
}
