/** A position on which no channel stands: planned, or blank on purpose. */

import { t } from '../i18n.ts'

export function PlannedCard({ slot }: { slot: number }) {
  return (
    <li className="card planned">
      <span className="card-slot">
        <span className="for-listeners">{t('card.slot', { slot })}</span>
        <span aria-hidden="true">{slot}</span>
      </span>
      <span className="planned-word">{t('card.planned')}</span>
    </li>
  )
}

/** Nothing to see, and nothing to hear. */
export function Spacer() {
  return <li className="spacer" aria-hidden="true" />
}
