/** Why something did not work, and what to do next. */

import type { Problem } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { signInPath } from '../reading.ts'
import { words } from '../words.ts'

/** In a line, beside what stays on the page: nothing that was typed is lost. */
export function ProblemLine({ problem, field }: { problem: Problem; field?: string | undefined }) {
  const { mount } = useSurroundings()
  const { kind, detail, waitSeconds } = problem
  return (
    <p className="problem" role="alert">
      {field === undefined ? detail : words.parts.form.field(field, detail)}
      {waitSeconds === undefined ? null : ` ${words.parts.form.wait(waitSeconds)}`}
      {kind !== 'sign_in' ? null : (
        <>
          {' '}
          <a href={signInPath(mount)} target="_blank" rel="noreferrer">
            {words.parts.signInAgain}
          </a>
        </>
      )}
    </p>
  )
}
