import type { ReactNode } from 'react'
import type { Problem } from '../app/api.ts'
import { t } from '../app/i18n.ts'
import type { Resource } from '../app/resource.ts'
import { toIso, toServiceTime } from '../app/service-time.ts'
import { Ago } from './age.tsx'
import { Notice, ProblemLine } from './dialogs/notice.tsx'

interface LoadedProps<Body> {
  readonly resource: Resource<Body>
  readonly children: (body: Body) => ReactNode
}

export function Loaded<Body>({ resource, children }: LoadedProps<Body>) {
  const { body, problem, isChanging, reload } = resource
  if (body === null && problem === null) return <p className="loading">{t('parts.loading')}</p>
  if (body === null && problem !== null) return <Failing problem={problem} onRetry={reload} />
  return (
    <>
      {problem === null ? null : <NotRefreshed problem={problem} resource={resource} />}
      <div className="loaded" aria-busy={isChanging}>
        {body === null ? null : children(body)}
      </div>
    </>
  )
}

function Failing({ problem, onRetry }: { problem: Problem; onRetry: () => Promise<void> }) {
  return (
    <Notice title={t(`problems.${problem.kind}.title`)}>
      <ProblemLine problem={problem} />
      <p>
        {problem.kind === 'refused' && problem.waitSeconds !== undefined
          ? t('problems.refused.nextWhenBusy')
          : t(`problems.${problem.kind}.next`)}
      </p>
      <button type="button" className="action" onClick={onRetry}>
        {t('parts.retry')}
      </button>
    </Notice>
  )
}

function NotRefreshed({ problem, resource }: { problem: Problem; resource: Resource<unknown> }) {
  const { readAt, reload } = resource
  return (
    <div className="not-refreshed">
      <ProblemLine problem={{ ...problem, detail: t('parts.cannotRefresh', { reason: problem.detail }) }} />
      {readAt === null ? null : (
        <p>
          {t('parts.asOf')} <Ago at={toIso(toServiceTime(readAt))} />
        </p>
      )}
      <button type="button" className="choice" onClick={reload}>
        {t('parts.retry')}
      </button>
    </div>
  )
}
