/** The items for which an action failed. The list stays until it is dismissed. */

import { t } from '../app/i18n.ts'

interface OutcomeProps {
  readonly failed: readonly { readonly id: number; readonly error: string }[]
  onDismiss(): void
}

export function Outcome({ failed, onDismiss }: OutcomeProps) {
  if (failed.length === 0) return null
  return (
    <section className="outcome" role="alert">
      <p>{t('parts.outcome.failed', { count: failed.length })}</p>
      <ul>
        {failed.map(({ id, error }) => (
          <li key={id}>{error}</li>
        ))}
      </ul>
      <button type="button" className="choice" onClick={onDismiss}>
        {t('parts.messages.dismiss')}
      </button>
    </section>
  )
}
