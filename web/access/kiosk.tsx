/**
 * `/kiosk#<token>`: makes this browser a screen that may look, and goes on to the wall. The secret stands in the
 * fragment, which no browser sends anywhere and no log writes down.
 */

import { useCallback, useEffect, useState } from 'react'
import { pathOf } from '../../src/model/pages.ts'
import type { KioskOpenBody } from '../../src/model/people.ts'
import { safeNext } from '../address.ts'
import type { Problem } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { ProblemLine } from '../parts/problem.tsx'
import { enter } from './enter.ts'
import { Entrance } from './entrance.tsx'

/** A screen that starts before the service does finds its way by itself. */
const retryMs = 5_000

type Step =
  | { readonly at: 'opening' }
  /** Somebody is signed in here, who may have come to try the link out. */
  | { readonly at: 'asking'; readonly name: string }
  | { readonly at: 'refused' | 'waiting'; readonly problem: Problem }

export function Kiosk() {
  const token = location.hash.slice(1)
  return token === '' ? <NoToken /> : <Opening token={token} />
}

function Opening({ token }: { token: string }) {
  const { mount, api } = useSurroundings()
  const [step, setStep] = useState<Step>({ at: 'opening' })
  const goOn = useCallback(() => {
    const next = safeNext(new URLSearchParams(location.search).get('next'), { origin: location.origin, mount })
    location.replace(next ?? mount + pathOf('wall'))
  }, [mount])
  const open = useCallback(async () => {
    const answer = await enter<KioskOpenBody>(api, '/api/auth/kiosk', { token })
    if (answer.ok) return goOn()
    setStep({ at: isForNow(answer.problem) ? 'waiting' : 'refused', problem: answer.problem })
  }, [api, token, goOn])

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
      return <Entrance title={t('access.kiosk.title')}>{null}</Entrance>
    case 'asking':
      return (
        <Entrance title={t('access.kiosk.signedIn', { name: plainText(step.name) })}>
          <p>{t('access.kiosk.signedInNext')}</p>
          <div className="form-actions">
            <button type="button" className="choice" data-tone="usual" onClick={open}>
              {t('access.kiosk.asScreen')}
            </button>
            <button type="button" className="choice" onClick={goOn}>
              {t('access.kiosk.asMyself')}
            </button>
          </div>
        </Entrance>
      )
    case 'waiting':
      return (
        <Entrance title={t('access.kiosk.title')}>
          <ProblemLine problem={step.problem} />
          <p>{t('access.kiosk.waiting')}</p>
        </Entrance>
      )
    case 'refused':
      return (
        <Entrance title={t('access.kiosk.refused')}>
          <ProblemLine problem={step.problem} />
          <p>{t('access.kiosk.refusedNext')}</p>
        </Entrance>
      )
    default:
      return step satisfies never
  }
}

function NoToken() {
  return (
    <Entrance title={t('access.kiosk.noToken')}>
      <p>{t('access.kiosk.noTokenNext')}</p>
    </Entrance>
  )
}

/** It may go by itself: the service is away, busy, or wants to be left alone for a while. */
function isForNow({ kind, waitSeconds }: Problem): boolean {
  return kind === 'unreachable' || waitSeconds !== undefined
}
