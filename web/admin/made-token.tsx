/** A token, the one time it is shown: as text for a script, as a link and its code for a screen. */

import { useEffect, useRef } from 'react'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { CopyField } from '../parts/copy-field.tsx'
import { QrCode } from '../parts/qr-code.tsx'

export interface Made {
  readonly name: string
  readonly token: string
  /** Of a link: what the screen opens, mount included. */
  readonly next?: string
}

export function MadeToken({ made, onKept }: { made: Made; onKept: () => void }) {
  const { mount } = useSurroundings()
  const section = useRef<HTMLElement>(null)
  // Nobody may miss what is shown once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each one that is made is brought into view
  useEffect(() => {
    section.current?.focus()
  }, [made])
  const name = plainText(made.name)
  const title = made.next === undefined ? t('tokens.createdTitle', { name }) : t('tokens.kioskTitle', { name })
  return (
    <section className="secret" ref={section} tabIndex={-1} aria-label={title}>
      <h2>{title}</h2>
      {made.next === undefined ? (
        <>
          <p>{t('tokens.createdOnce')}</p>
          <CopyField label={t('tokens.token')} text={made.token} />
          <CopyField label={t('tokens.example')} text={exampleOf(`${location.origin}${mount}`, made.token)} />
        </>
      ) : (
        <Link address={kioskAddress(`${location.origin}${mount}`, made.next, made.token)} />
      )}
      <button type="button" className="choice" onClick={onKept}>
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

/** The secret stands in the fragment, which no browser sends anywhere. */
function kioskAddress(base: string, next: string, token: string): string {
  return `${base}/kiosk?${new URLSearchParams({ next })}#${token}`
}
