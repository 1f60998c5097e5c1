/** A position on which no channel stands: planned, or blank on purpose. */

import { words } from '../words.ts'

export function PlannedCard({ slot }: { slot: number }) {
  return (
    <li className="card planned">
      <span className="card-slot">
        <span className="for-listeners">{words.card.slot(slot)}</span>
        <span aria-hidden="true">{slot}</span>
      </span>
      <span className="planned-word">{words.card.planned}</span>
    </li>
  )
}

/** Nothing to see, and nothing to hear. */
export function Spacer() {
  return <li className="spacer" aria-hidden="true" />
}
