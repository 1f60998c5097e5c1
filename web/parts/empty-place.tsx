/** A position on which no channel stands: planned, or blank on purpose. */

import { texts } from '../texts.ts'

export function PlannedCard({ slot }: { slot: number }) {
  return (
    <li className="card planned">
      <span className="card-slot">
        <span className="for-listeners">{texts.card.slot(slot)}</span>
        <span aria-hidden="true">{slot}</span>
      </span>
      <span className="planned-word">{texts.card.planned}</span>
    </li>
  )
}

/** Nothing to see, and nothing to hear. */
export function Spacer() {
  return <li className="spacer" aria-hidden="true" />
}
