/** How many there are, and how many need a hand. */

import { useSyncExternalStore } from 'react'
import { houseStaleSince } from '../channel-state.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import { Age } from './age.tsx'
import { StateIcon } from './state-icon.tsx'

export function Summary() {
  const { store } = useSurroundings()
  // A string, so that nothing is rendered again while the counts stay as they are.
  const counts = useSyncExternalStore(store.subscribe, () => {
    const cards = store.cards()
    const replace = cards.filter((one) => one.state === 'replace').length
    return `${cards.length} ${cards.filter((one) => one.needsHand).length} ${replace}`
  })
  const staleSince = useHouse(houseStaleSince)
  const [channels, hands, replace] = counts.split(' ').map(Number) as [number, number, number]
  if (channels === 0) return null
  return (
    <section className="summary" aria-label={t('summary.label')}>
      <span>{t('summary.channels', { count: channels })}</span>
      {staleSince !== null ? (
        <strong className="summary-hands" data-tone="old">
          <StateIcon state="stale" />
          {t('summary.notLive')} <Age since={staleSince} />
        </strong>
      ) : (
        <strong className="summary-hands" data-tone={hands > 0 ? 'alarm' : 'calm'}>
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
