/** Shows an error next to its field, and keeps the input when the request fails. */

import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useRef } from 'react'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { type RequestState, useRequest } from '../../app/resource.ts'
import './form.css'
import { passwordProblem } from '../../../src/domain/access/password.ts'
import { toSentence } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { ProblemLine } from '../dialogs/notice.tsx'

const ProblemContext = createContext<Problem | null>(null)

export function useFieldProblem(name: string): string | null {
  const problem = useContext(ProblemContext)
  return problem?.field === name ? problem.detail : null
}

export interface FormProps<Body> {
  readonly action: string
  readonly children: ReactNode
  readonly others?: ReactNode
  /** Runs before sending. Null if the values are valid. */
  check?(values: FormData): Problem | null
  send(values: FormData): Promise<ApiResponse<Body>>
  onDone(body: Body, undoId?: string): void
  onChange?(values: FormData): void
  readonly isDisabled?: boolean
  /** For a form that has other submit buttons. */
  readonly request?: RequestState
}

export function Form<Body>({
  action,
  children,
  others,
  check,
  send,
  onDone,
  onChange,
  isDisabled = false,
  ...props
}: FormProps<Body>) {
  const form = useRef<HTMLFormElement>(null)
  const ownRequest = useRequest()
  const request = props.request ?? ownRequest
  const { problem } = request
  const isFieldKnown = problem?.field !== undefined && fieldOf(form.current, problem.field) !== null
  useEffect(() => {
    if (problem?.field === undefined) return
    const field = fieldOf(form.current, problem.field)
    field?.closest('details')?.setAttribute('open', '')
    field?.focus()
  }, [problem])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const response = await request.send(async () => {
      const found = check?.(values) ?? null
      return found === null ? send(values) : { ok: false, problem: found }
    })
    if (response?.ok) onDone(response.body, response.undoId)
  }
  /** The error is about the previous value. */
  const change = ({ target, currentTarget }: FormEvent<HTMLFormElement>) => {
    if (problem?.field !== undefined && fieldOf(form.current, problem.field) === target) request.forget()
    onChange?.(new FormData(currentTarget))
  }
  return (
    <form className="form" ref={form} onSubmit={submit} onChange={change} noValidate={true}>
      <ProblemContext value={problem}>{children}</ProblemContext>
      {problem === null || isFieldKnown ? null : <ProblemLine problem={problem} field={problem.field} />}
      <div className="form-actions">
        <button type="submit" className="choice" data-tone="usual" disabled={isDisabled || request.isSending}>
          {request.isSending ? t('parts.form.sending') : action}
        </button>
        {others}
      </div>
    </form>
  )
}

function fieldOf(form: HTMLFormElement | null, name: string): HTMLElement | null {
  const found = form?.elements.namedItem(name)
  return found instanceof HTMLElement ? found : null
}

/** Applies the service's password rules before a request is sent. */
export function newPasswordProblem(values: FormData, field: string, username: string): Problem | null {
  const says = passwordProblem(String(values.get(field) ?? ''), username)
  return says === null ? null : { kind: 'refused', field, detail: toSentence(says) }
}
