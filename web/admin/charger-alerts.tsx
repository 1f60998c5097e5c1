/** Alerts of chargers and the batteries in them that are not cleared. */

import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { AlertItem } from '../parts/alert-item.tsx'
import { mostUrgentFirst } from '../parts/alerts.ts'

export function ChargerAlerts() {
  const all = useWatchState((watchState) => watchState.alerts)
  const alerts = all.filter(({ kind }) => kind === 'charger_fault').toSorted(mostUrgentFirst)
  if (alerts.length === 0) return null
  return (
    <section aria-labelledby="charger-alerts">
      <h2 id="charger-alerts">{t('layout.chargerAlerts')}</h2>
      <ul className="alert-list">
        {alerts.map((alert) => (
          <AlertItem key={alert.id} alert={alert} />
        ))}
      </ul>
    </section>
  )
}
