/** Announces each new alert once to screen readers: critical ones at once, the others when the reader is idle. */

import { useEffect, useRef, useState } from 'react'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { alertLine } from '../parts/alerts/alert-text.ts'
import { useWatchState } from './context.ts'

export function Announcer() {
  const alerts = useWatchState((watchState) => (watchState.phase === 'ready' ? watchState.alerts : null))
  const known = useRef<ReadonlySet<string> | null>(null)
  const [texts, setTexts] = useState({ polite: '', assertive: '' })
  useEffect(() => {
    if (alerts === null) return
    const fresh = newAlerts(known.current, alerts)
    known.current = new Set([...(known.current ?? []), ...alerts.map(keyOf)])
    if (fresh.length === 0) return
    const textOf = (severity: AlertBody['severity']) =>
      fresh
        .filter((alert) => alert.severity === severity)
        .map(alertLine)
        .join('. ')
    setTexts({ assertive: textOf('critical'), polite: textOf('warning') })
  }, [alerts])
  return (
    <div className="visually-hidden">
      <p aria-live="assertive">{texts.assertive}</p>
      <p aria-live="polite">{texts.polite}</p>
    </div>
  )
}

/** None on the first call, because these existed before the page opened. */
export function newAlerts(known: ReadonlySet<string> | null, alerts: readonly AlertBody[]): readonly AlertBody[] {
  if (known === null) return []
  return alerts.filter((alert) => alert.state === 'raised' && !alert.silenced && !known.has(keyOf(alert)))
}

/** An alert that gets worse keeps its id and is announced again. */
function keyOf({ id, kind }: AlertBody): string {
  return `${id} ${kind}`
}
