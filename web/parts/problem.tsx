/** Why something did not work, and what to do next. */

import type { Problem } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { formatDuration } from '../format.ts'
import { t } from '../i18n.ts'
import { signInPath } from '../reading.ts'

/** In a line, beside what stays on the page: nothing that was typed is lost. */
export function ProblemLine({ problem, field }: { problem: Problem; field?: string | undefined }) {
  const { mount } = useSurroundings()
  const { kind, detail, waitSeconds } = problem
  return (
    <p className="problem" role="alert">
      {field === undefined ? detail : t('parts.form.field', { name: field, message: detail })}
      {waitSeconds === undefined ? null : ` ${t('parts.form.wait', { time: formatDuration(waitSeconds * 1000) })}`}
      {kind !== 'sign_in' ? null : (
        <>
          {' '}
          <a href={signInPath(mount)} target="_blank" rel="noreferrer">
            {t('parts.signInAgain')}
          </a>
        </>
      )}
    </p>
  )
}
