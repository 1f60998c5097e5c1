/**
 * `/kiosk#<token>`: signs this browser in with a read-only token and opens a kiosk view. The token is in the URL fragment,
 * which browsers do not send and servers do not log.
 */

import { useCallback, useEffect, useState } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { safeNext } from '../app/address.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { AccessPage, sendCredentials } from './access-page.tsx'

/** The screen may start before the service does. */
const retryMs = 5_000

type Step =
  | { readonly at: 'opening' }
  /** A signed-in user may only want to test the link, so the page asks first. */
  | { readonly at: 'asking'; readonly name: string }
  | { readonly at: 'refused' | 'waiting'; readonly problem: Problem }

export function Kiosk() {
  const token = location.hash.slice(1)
  return token === '' ? <NoToken /> : <Opening token={token} />
}

function Opening({ token }: { token: string }) {
  const { mount, api } = useServices()
  const [step, setStep] = useState<Step>({ at: 'opening' })
  const proceed = useCallback(() => {
    const next = safeNext(new URLSearchParams(location.search).get('next'), { origin: location.origin, mount })
    const url = new URL(next ?? mount + pathOf('wall'), location.origin)
    url.searchParams.set('kiosk', '1')
    location.replace(url)
  }, [mount])
  const open = useCallback(async () => {
    const response = await sendCredentials(api, '/api/auth/kiosk', { token })
    if (response.ok) return proceed()
    setStep({ at: isTemporary(response.problem) ? 'waiting' : 'refused', problem: response.problem })
  }, [api, token, proceed])

  useEffect(() => {
    void api.session().then((session) => {
      if (session.ok && session.body.kind === 'user') setStep({ at: 'asking', name: session.body.name })
      else void open()
    })
  }, [api, open])
  useEffect(() => {
    if (step.at !== 'waiting') return
    const timer = setTimeout(open, Math.max(retryMs, (step.problem.waitSeconds ?? 0) * 1_000))
    return () => clearTimeout(timer)
  }, [step, open])

  switch (step.at) {
    case 'opening':
      return (
        <AccessPage title={t('access.kiosk.title')}>
          <div className="access-progress" />
        </AccessPage>
      )
    case 'asking':
      return (
        <AccessPage title={t('access.kiosk.signedIn', { name: plainText(step.name) })}>
          <p>{t('access.kiosk.signedInNext')}</p>
          <div className="form-actions">
            <button type="button" className="choice" data-tone="usual" onClick={open}>
              {t('access.kiosk.asScreen')}
            </button>
            <button type="button" className="choice" onClick={proceed}>
              {t('access.kiosk.asMyself')}
            </button>
          </div>
        </AccessPage>
      )
    case 'waiting':
      return (
        <AccessPage title={t('access.kiosk.title')}>
          <ProblemLine problem={step.problem} />
          <div className="access-progress" />
          <p>{t('access.kiosk.waiting')}</p>
        </AccessPage>
      )
    case 'refused':
      return (
        <AccessPage title={t('access.kiosk.refused')}>
          <ProblemLine problem={step.problem} />
          <p>{t('access.kiosk.refusedNext')}</p>
        </AccessPage>
      )
    default:
      return step satisfies never
  }
}

function NoToken() {
  return (
    <AccessPage title={t('access.kiosk.noToken')}>
      <p>{t('access.kiosk.noTokenNext')}</p>
    </AccessPage>
  )
}

function isTemporary({ kind, waitSeconds }: Problem): boolean {
  return kind === 'unreachable' || waitSeconds !== undefined
}
