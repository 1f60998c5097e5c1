/** The number of channels, and how many of them need attention. */

import { useSyncExternalStore } from 'react'
import { allStaleSince } from '../channel-state.ts'
import { useServices, useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { Age } from './age.tsx'
import { StateIcon } from './state-icon.tsx'

export function Summary() {
  const { store } = useServices()
  // A string, so that React re-renders only when a count changes.
  const counts = useSyncExternalStore(store.subscribe, () => {
    const cards = store.cards()
    const replace = cards.filter((card) => card.state === 'replace').length
    return `${cards.length} ${cards.filter((card) => card.needsAttention).length} ${replace}`
  })
  const staleSince = useWatchState(allStaleSince)
  const [channels, hands, replace] = counts.split(' ').map(Number) as [number, number, number]
  if (channels === 0) return null
  return (
    <section className="summary" aria-label={t('summary.label')}>
      <span>{t('summary.channels', { count: channels })}</span>
      {staleSince !== null ? (
        <strong className="summary-attention" data-tone="old">
          <StateIcon state="stale" />
          {t('summary.notLive')} <Age since={staleSince} />
        </strong>
      ) : (
        <strong className="summary-attention" data-tone={hands > 0 ? 'alarm' : 'calm'}>
          <StateIcon state={hands > 0 ? 'low' : 'good'} />
          {hands > 0 ? t('summary.needAttention', { count: hands }) : t('summary.allOk')}
        </strong>
      )}
      {replace === 0 || staleSince !== null ? null : (
        <span className="summary-replace">
          <StateIcon state="replace" />
          {t('summary.replaceSoon', { count: replace })}
        </span>
      )}
    </section>
  )
}
