/** Alerts of chargers and the batteries in them that are not cleared. */

import { mostUrgentFirst } from '../alerts.ts'
import { useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { AlertItem } from './alert-item.tsx'

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
