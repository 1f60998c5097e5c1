/** Shows an error next to its field, and keeps the input when the request fails. */

import { type FormEvent, Fragment, type ReactNode, useContext, useEffect, useRef } from 'react'
import { passwordProblem } from '../../../src/domain/access/password.ts'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { formatList, toSentence } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { type RequestState, useRequest } from '../../app/resource.ts'
import { DialogContext } from '../dialogs/dialog-context.ts'
import { ProblemLine } from '../dialogs/notice.tsx'
import { AddAgain, ConflictPanel, KeptInputOffer } from './conflict.tsx'
import { FieldStatesContext } from './field-state.ts'
import { type Conflict, type Editing, type Sending, useEdit } from './use-edit.tsx'

export interface FormProps<Body, Edited = null> {
  readonly action: string
  /** The fields. A function receives the record that they are for. */
  readonly children: ReactNode | ((record: Edited) => ReactNode)
  readonly others?: ReactNode
  /** For a record that several users can edit. Its input is kept until it is saved. */
  readonly edit?: Editing<Edited>
  /** Runs before sending. Null if the values are valid. */
  check?(values: FormData): Problem | null
  send(values: FormData, sending: Sending<Edited>): Promise<ApiResponse<Body>>
  onDone(body: Body, undoId?: string): void
  onChange?(values: FormData): void
  readonly isDisabled?: boolean
  /** For a form that has other submit buttons. */
  readonly request?: RequestState
}

export function Form<Body, Edited = null>({
  action,
  children,
  others,
  check,
  send,
  onDone,
  onChange,
  isDisabled = false,
  ...props
}: FormProps<Body, Edited>) {
  const form = useRef<HTMLFormElement>(null)
  const dialog = useContext(DialogContext)
  const ownRequest = useRequest()
  const request = props.request ?? ownRequest
  const { problem } = request
  const fieldsOf = (record: Edited) => (typeof children === 'function' ? children(record) : children)
  const edit = useEdit(form, fieldsOf, props.edit)
  const { conflict, news, offer } = edit
  const isFieldKnown = problem?.field !== undefined && fieldOf(form.current, problem.field) !== null
  useEffect(() => {
    if (problem?.field === undefined) return
    const field = fieldOf(form.current, problem.field)
    field?.closest('details')?.setAttribute('open', '')
    if (field !== null) controlOf(field)?.focus()
  }, [problem])

  const save = async (record: Edited) => {
    const { current } = form
    if (current === null) return
    const values = new FormData(current)
    const response = await request.send(async () => {
      const found = check?.(values) ?? null
      return found === null ? edit.save(record, (sending) => send(values, sending)) : { ok: false, problem: found }
    })
    if (response?.ok) onDone(response.body, response.undoId)
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void save(edit.present)
  }
  /** The error is about the previous value. */
  const change = ({ target, currentTarget }: FormEvent<HTMLFormElement>) => {
    if (problem?.field !== undefined && fieldOf(form.current, problem.field) === target) request.forget()
    edit.noteInput()
    onChange?.(new FormData(currentTarget))
  }
  const input = (event: FormEvent<HTMLFormElement>) => {
    if (!isChoice(event.target)) change(event)
  }
  const choose = (event: FormEvent<HTMLFormElement>) => {
    if (isChoice(event.target)) change(event)
  }
  const keepTheirs = () => {
    request.forget()
    if (!edit.keepTheirs()) dialog?.close()
  }
  return (
    <>
      <form className="form" ref={form} onSubmit={submit} onInput={input} onChange={choose} noValidate={true}>
        {offer === null ? null : (
          <KeptInputOffer input={offer} onRestore={() => edit.restore(offer)} onDiscard={edit.discard} />
        )}
        <FieldStatesContext value={{ problem, entered: edit.entered, changed: changedTexts(conflict ?? news) }}>
          <Fragment key={edit.round}>{fieldsOf(edit.opened)}</Fragment>
        </FieldStatesContext>
        {problem === null || isFieldKnown ? null : <ProblemLine problem={problem} field={problem.field} />}
        {props.edit === undefined ? null : (
          <p className={news === null ? 'visually-hidden' : 'form-news'} role="status">
            {newsText(news)}
          </p>
        )}
        {conflict?.kind !== 'changed' ? null : (
          <ConflictPanel conflict={conflict} onKeepMine={() => void save(edit.present)} onKeepTheirs={keepTheirs} />
        )}
        {conflict?.kind === 'deleted' && props.edit?.canAdd ? (
          <AddAgain onAdd={() => void save(null as Edited)} />
        ) : null}
        <div className="form-actions">
          <button type="submit" className="choice" data-tone="usual" disabled={isDisabled || request.isSending}>
            {request.isSending ? t('parts.form.sending') : action}
          </button>
          {others}
        </div>
      </form>
      {edit.copy}
    </>
  )
}

/** A box or a list is set back if the form is rendered before its change event, which follows the input event at once. */
function isChoice(target: EventTarget): boolean {
  return target instanceof Element && target.matches('select, [type=checkbox], [type=radio]')
}

function changedTexts(conflict: Conflict | null): ReadonlyMap<string, string> {
  return new Map(conflict?.changes.map(({ name, after }) => [name, after]))
}

function newsText(news: Conflict | null): string | null {
  if (news === null) return null
  if (news.kind === 'deleted') return t('parts.form.conflict.deleted')
  const parts = [formatList(news.changes.map(({ label }) => label)), news.other ?? '']
  return t('parts.form.conflict.news', { changed: parts.filter((part) => part !== '').join('. ') })
}

function fieldOf(form: HTMLFormElement | null, name: string): HTMLElement | null {
  const found = form?.elements.namedItem(name)
  return found instanceof HTMLElement ? found : null
}

/** Returns the control that the user sees, for a hidden one. */
function controlOf(field: HTMLElement): HTMLElement | null | undefined {
  const isHidden = field instanceof HTMLInputElement && field.type === 'hidden'
  return isHidden ? field.closest('.field')?.querySelector<HTMLElement>('input:not([type=hidden])') : field
}

/** Applies the service's password rules before a request is sent. */
export function newPasswordProblem(values: FormData, field: string, username: string): Problem | null {
  const says = passwordProblem(String(values.get(field) ?? ''), username)
  return says === null ? null : { kind: 'refused', field, detail: toSentence(says) }
}
