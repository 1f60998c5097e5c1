/** The browser's native element manages the focus and the Escape key. */

import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { ApiResponse, Problem } from '../../app/api.ts'
import './dialog.css'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import type { Address } from '../../app/operations.ts'
import { useRequest } from '../../app/resource.ts'
import { Form, type FormProps } from '../forms/form.tsx'
import { useShowUndoable } from './messages.tsx'
import { ProblemLine } from './notice.tsx'

interface DialogProps {
  readonly title: string
  readonly children: ReactNode
  onClose(): void
}

/** Open while it is rendered. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // Read before a field with autoFocus in the dialog takes the focus, which happens before the dialog is modal.
  const [opener] = useState(() => document.activeElement)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Closed before removal, because the rest of the page cannot have the focus until then.
    return () => {
      element?.close()
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true })
    }
  }, [opener])
  useEffect(() => {
    const element = dialog.current
    const cancel = (event: Event) => {
      event.preventDefault()
      onClose()
    }
    element?.addEventListener('cancel', cancel)
    return () => element?.removeEventListener('cancel', cancel)
  }, [onClose])
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={titleId}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  )
}

/** The last line of a dialog with one button. */
export function DialogEnd({ text = t('parts.dialog.cancel'), onClose }: { text?: string; onClose(): void }) {
  return (
    <div className="dialog-actions">
      <button type="button" className="choice" onClick={onClose}>
        {text}
      </button>
    </div>
  )
}

interface ConfirmationProps {
  /** Names or counts the affected items. */
  readonly title: string
  readonly children: ReactNode
  readonly action: string
  readonly tone?: 'usual' | 'alarm'
  readonly isSending: boolean
  readonly problem: Problem | null
  onConfirm(): void
  onClose(): void
}

export function Confirmation(props: ConfirmationProps) {
  const { title, children, action, tone = 'usual', isSending, problem, onConfirm, onClose } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-text">{children}</div>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {t('parts.dialog.cancel')}
        </button>
        <button type="button" className="choice" data-tone={tone} disabled={isSending} onClick={onConfirm}>
          {isSending ? t('parts.form.sending') : action}
        </button>
      </div>
    </Dialog>
  )
}

type FormDialogProps<Body> = Omit<FormProps<Body>, 'others' | 'onDone'> & {
  readonly title: string
  /** The message to show when the dialog closes. Without it, `onDone` decides whether to close. */
  done?(body: Body): string
  onDone?(body: Body): Promise<void> | void
  onClose(): void
}

export function FormDialog<Body>({ title, done, onDone, onClose, ...form }: FormDialogProps<Body>) {
  const showUndoable = useShowUndoable()
  const finish = (body: Body, undoId: string | undefined) => {
    if (done !== undefined) {
      onClose()
      showUndoable(done(body), [undoId])
    }
    void onDone?.(body)
  }
  const cancel = (
    <button type="button" className="choice" onClick={onClose}>
      {t('parts.dialog.cancel')}
    </button>
  )
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} onDone={finish} others={cancel} />
    </Dialog>
  )
}

interface ActionProps {
  readonly title: string
  readonly children: ReactNode
  readonly action: string
  readonly tone?: 'usual' | 'alarm'
  readonly done: string
  write(): Promise<ApiResponse<unknown>>
  onDone(): Promise<void>
  onClose(): void
}

export function ActionDialog({ title, children, action, tone = 'alarm', done, write, onDone, onClose }: ActionProps) {
  const showUndoable = useShowUndoable()
  const { send, isSending, problem } = useRequest()
  const confirm = async () => {
    const response = await send(write)
    if (!response?.ok) return
    onClose()
    showUndoable(done, [response.undoId])
    await onDone()
  }
  return (
    <Confirmation {...{ title, action, tone, isSending, problem, onClose }} onConfirm={confirm}>
      {children}
    </Confirmation>
  )
}

type RemovalProps = Omit<ActionProps, 'write'> & { readonly path: Address<'DELETE'> }

export function Removal({ path, ...edit }: RemovalProps) {
  const { api } = useServices()
  return <ActionDialog {...edit} write={() => api.write('DELETE', path, undefined, 'nothing')} />
}
