import { useEffect, useRef } from 'react'
import { formatDateTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { CopyField } from '../parts/forms/copy-field.tsx'

export interface NewSecret {
  readonly name: string
  readonly secret: string
  /** The previous secret also signs until then; null without one. */
  readonly previousUntil: string | null
}

export function SecretOnce({ newSecret, onDismiss }: { newSecret: NewSecret; onDismiss: () => void }) {
  const section = useRef<HTMLElement>(null)
  // Moves the focus to the secret, which is shown only once and must not be overlooked.
  // biome-ignore lint/correctness/useExhaustiveDependencies: focuses every new secret
  useEffect(() => {
    section.current?.focus()
  }, [newSecret])
  const { name, secret, previousUntil } = newSecret
  const title = t('notifications.secret.title', { name: plainText(name) })
  return (
    <section className="secret" ref={section} tabIndex={-1} aria-label={title}>
      <h2>{title}</h2>
      <p>{t('notifications.secret.once')}</p>
      <CopyField label={t('notifications.secret.label')} text={secret} />
      {previousUntil === null ? null : (
        <p>{t('notifications.secret.previous', { time: formatDateTime(previousUntil) })}</p>
      )}
      <button type="button" className="choice" onClick={onDismiss}>
        {t('notifications.secret.done')}
      </button>
    </section>
  )
}
