import { useEffect, useRef } from 'react'
import type { NewTokenBody } from '../../../src/contract/access.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { CopyField } from '../../parts/forms/copy-field.tsx'
import { QrCode } from '../../parts/qr-code.tsx'

export interface NewToken extends Pick<NewTokenBody, 'name' | 'token'> {
  /** The path that the kiosk link opens, with the mount prefix. Omit for the token of a script. */
  readonly next?: string
}

export function CreatedToken({ newToken, onDismiss }: { newToken: NewToken; onDismiss: () => void }) {
  const { mount } = useServices()
  const section = useRef<HTMLElement>(null)
  // Moves the focus to the token, which is shown only once and must not be overlooked.
  // biome-ignore lint/correctness/useExhaustiveDependencies: focuses every new token
  useEffect(() => {
    section.current?.focus()
  }, [newToken])
  const name = plainText(newToken.name)
  const title = newToken.next === undefined ? t('tokens.createdTitle', { name }) : t('tokens.kioskTitle', { name })
  return (
    <section className="secret" ref={section} tabIndex={-1} aria-label={title}>
      <h2>{title}</h2>
      {newToken.next === undefined ? (
        <>
          <p>{t('tokens.createdOnce')}</p>
          <CopyField label={t('tokens.token')} text={newToken.token} />
          <CopyField label={t('tokens.example')} text={exampleOf(`${location.origin}${mount}`, newToken.token)} />
        </>
      ) : (
        <Link address={kioskAddress(`${location.origin}${mount}`, newToken.next, newToken.token)} />
      )}
      <button type="button" className="choice" onClick={onDismiss}>
        {t('tokens.done')}
      </button>
    </section>
  )
}

function Link({ address }: { address: string }) {
  return (
    <>
      <p>{t('tokens.kioskOnce')}</p>
      <CopyField label={t('tokens.link')} text={address} />
      <QrCode address={address} />
    </>
  )
}

function exampleOf(base: string, token: string): string {
  return `curl -H "Authorization: Bearer ${token}" ${base}/api/health/`
}

/** The fragment contains the token, because browsers do not send it to servers. */
function kioskAddress(base: string, next: string, token: string): string {
  return `${base}/kiosk?${new URLSearchParams({ next })}#${token}`
}
