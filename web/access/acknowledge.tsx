/**
 * `/acknowledge#<token>`: asks, then acknowledges one alert, without a sign-in. The token is in the URL fragment, which
 * browsers do not send and servers do not log. Programs that preview links acknowledge nothing.
 */

import { useLocation } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import type { AcknowledgeLinkBody } from '../../src/contract/alerts.ts'
import { pathOf } from '../../src/domain/pages.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { AlertItem } from '../parts/alerts/alert-item.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { AccessPage } from './access-page.tsx'

export function Acknowledge() {
  const token = useLocation({ select: ({ hash }) => hash })
  return <Link key={token} token={token} />
}

type Step =
  | { readonly at: 'opening' }
  | { readonly at: 'asking' | 'sending' | 'acknowledged'; readonly link: AcknowledgeLinkBody }
  | { readonly at: 'refused'; readonly problem: Problem }

function Link({ token }: { token: string }) {
  const { api } = useServices()
  const [step, setStep] = useState<Step>({ at: 'opening' })
  const show = useCallback(async () => {
    setStep({ at: 'opening' })
    setStep(stepAfter(await api.write('POST', '/api/acknowledge-link/', { token }, 'object')))
  }, [api, token])
  const acknowledge = async (link: AcknowledgeLinkBody) => {
    setStep({ at: 'sending', link })
    setStep(stepAfter(await api.write('POST', '/api/acknowledge-link/acknowledge', { token }, 'object')))
  }
  useEffect(() => {
    void show()
  }, [show])

  switch (step.at) {
    case 'opening':
      return (
        <AccessPage title={t('access.acknowledge.opening')}>
          <div className="access-progress" />
        </AccessPage>
      )
    case 'asking':
    case 'sending':
      return (
        <AccessPage title={t('access.acknowledge.ask')}>
          <LinkedAlert link={step.link} />
          <p>{t('access.acknowledge.consequence', { channel: plainText(step.link.notification_channel) })}</p>
          <div className="form-actions">
            <button
              type="button"
              className="choice"
              data-tone="usual"
              disabled={step.at === 'sending'}
              onClick={() => void acknowledge(step.link)}
            >
              <Check className="icon" aria-hidden="true" />
              {t('alerts.acknowledge.action')}
            </button>
          </div>
          <p>{t('access.acknowledge.expires', { time: formatMoment(step.link.expires_at) })}</p>
        </AccessPage>
      )
    case 'acknowledged':
      return (
        <AccessPage title={t('access.acknowledge.done')}>
          <LinkedAlert link={step.link} />
          <OpenMicwatch />
        </AccessPage>
      )
    case 'refused':
      return <Refused problem={step.problem} onRetry={() => void show()} />
    default:
      return step satisfies never
  }
}

function stepAfter(response: ApiResponse<AcknowledgeLinkBody>): Step {
  if (!response.ok) return { at: 'refused', problem: response.problem }
  return { at: response.body.alert.state === 'acknowledged' ? 'acknowledged' : 'asking', link: response.body }
}

function LinkedAlert({ link }: { link: AcknowledgeLinkBody }) {
  return (
    <ul className="alert-list">
      <AlertItem alert={link.alert} isReadOnly />
    </ul>
  )
}

const refusals: Readonly<Record<number, 'wrong' | 'expired' | 'cleared'>> = {
  400: 'wrong',
  404: 'wrong',
  409: 'cleared',
  410: 'expired',
}

function Refused({ problem, onRetry }: { problem: Problem; onRetry(): void }) {
  const refusal = refusals[problem.status ?? 0]
  if (refusal !== undefined)
    return (
      <AccessPage title={t(`access.acknowledge.refusals.${refusal}`)}>
        <p>{t(`access.acknowledge.next.${refusal}`)}</p>
        <OpenMicwatch />
      </AccessPage>
    )
  return (
    <AccessPage title={t('access.acknowledge.failed')}>
      <ProblemLine problem={problem} />
      <div className="form-actions">
        <button type="button" className="choice" data-tone="usual" onClick={onRetry}>
          {t('access.acknowledge.retry')}
        </button>
      </div>
    </AccessPage>
  )
}

function OpenMicwatch() {
  const { mount } = useServices()
  return (
    <p>
      <a href={mount + pathOf('monitor')}>{t('access.acknowledge.open')}</a>
    </p>
  )
}
