/** What a deed about several could not do, one by one; stays until it is read. */

import { words } from '../words.ts'

interface OutcomeProps {
  readonly failed: readonly { readonly id: number; readonly error: string }[]
  onDismiss(): void
}

export function Outcome({ failed, onDismiss }: OutcomeProps) {
  if (failed.length === 0) return null
  return (
    <section className="outcome" role="alert">
      <p>{words.parts.outcome.failed(failed.length)}</p>
      <ul>
        {failed.map(({ id, error }) => (
          <li key={id}>{error}</li>
        ))}
      </ul>
      <button type="button" className="choice" onClick={onDismiss}>
        {words.parts.messages.dismiss}
      </button>
    </section>
  )
}
