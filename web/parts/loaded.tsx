/** What was read, or that it is being read, or why it could not be. What is shown never gives way to a failure. */

import type { ReactNode } from 'react'
import type { Problem } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import type { Reading } from '../reading.ts'
import { Ago } from './ago.tsx'
import { Notice } from './notice.tsx'
import { ProblemLine } from './problem.tsx'

interface LoadedProps<Body> {
  readonly reading: Reading<Body>
  readonly children: (body: Body) => ReactNode
}

export function Loaded<Body>({ reading, children }: LoadedProps<Body>) {
  const { body, problem, isChanging, reload } = reading
  if (body === null && problem === null) return <p className="loading">{t('parts.loading')}</p>
  if (body === null && problem !== null) return <Failing problem={problem} onRetry={reload} />
  return (
    <>
      {problem === null ? null : <NotRefreshed problem={problem} reading={reading} />}
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
      <p>{t(`problems.${problem.kind}.next`)}</p>
      <button type="button" className="action" onClick={onRetry}>
        {t('parts.retry')}
      </button>
    </Notice>
  )
}

function NotRefreshed({
  problem,
  reading,
}: {
  problem: Problem
  reading: Pick<Reading<unknown>, 'readAt' | 'reload'>
}) {
  const { api } = useSurroundings()
  const { readAt, reload } = reading
  return (
    <div className="not-refreshed">
      <ProblemLine problem={{ ...problem, detail: t('parts.cannotRefresh', { reason: problem.detail }) }} />
      {readAt === null ? null : (
        <p>
          {t('parts.asOf')} <Ago at={new Date(readAt + api.clockAheadMs()).toISOString()} />.
        </p>
      )}
      <button type="button" className="choice" onClick={reload}>
        {t('parts.retry')}
      </button>
    </div>
  )
}
