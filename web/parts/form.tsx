/** A form: fields with label and hint, a refusal shown at the field it is about, and nothing typed is ever lost. */

import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useRef } from 'react'
import type { Answer, Problem } from '../api.ts'
import { useSending } from '../reading.ts'
import '../styles/form.css'
import { t } from '../i18n.ts'
import { ProblemLine } from './problem.tsx'

const ProblemContext = createContext<Problem | null>(null)

/** What is wrong with the field of this name; null for nothing. */
export function useFieldProblem(name: string): string | null {
  const problem = useContext(ProblemContext)
  return problem?.field === name ? problem.detail : null
}

export interface FormProps<Body> {
  /** Of the button that sends it. */
  readonly action: string
  readonly children: ReactNode
  /** Beside the button. */
  readonly others?: ReactNode
  /** Found out without asking the service; null when all is well. */
  check?(values: FormData): Problem | null
  send(values: FormData): Promise<Answer<Body>>
  onDone(body: Body): void
  /** Something else stands in the form now than was sent or tried. */
  onChange?(): void
}

export function Form<Body>({ action, children, others, check, send, onDone, onChange }: FormProps<Body>) {
  const form = useRef<HTMLFormElement>(null)
  const sending = useSending()
  const { problem } = sending
  const isFieldKnown = problem?.field !== undefined && fieldOf(form.current, problem.field) !== null
  useEffect(() => {
    if (problem?.field !== undefined) fieldOf(form.current, problem.field)?.focus()
  }, [problem])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const answer = await sending.send(async () => {
      const found = check?.(values) ?? null
      return found === null ? send(values) : { ok: false, problem: found }
    })
    if (answer?.ok) onDone(answer.body)
  }
  /** What was wrong with a field is said of what stood in it. */
  const change = ({ target }: FormEvent) => {
    if (problem?.field !== undefined && fieldOf(form.current, problem.field) === target) sending.forget()
    onChange?.()
  }
  return (
    <form className="form" ref={form} onSubmit={submit} onChange={change} noValidate={true}>
      <ProblemContext value={problem}>{children}</ProblemContext>
      {problem === null || isFieldKnown ? null : <ProblemLine problem={problem} field={problem.field} />}
      <div className="form-actions">
        <button type="submit" className="choice" data-tone="usual" disabled={sending.isSending}>
          {sending.isSending ? t('parts.form.sending') : action}
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
