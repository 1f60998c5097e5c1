/** An error message with the next step. */

import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { formatDuration } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { signInPath } from '../app/resource.ts'

/** An error message on one line, for use beside content that stays visible. */
export function ProblemLine({ problem, field }: { problem: Problem; field?: string | undefined }) {
  const { mount } = useServices()
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
