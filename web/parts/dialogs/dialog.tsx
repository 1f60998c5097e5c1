/** The browser's native element manages the focus and the Escape key. */

import { type ReactNode, useCallback, useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { ApiResponse, Problem } from '../../app/api.ts'
import './dialog.css'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import type { Address } from '../../app/operations.ts'
import { useRequest } from '../../app/resource.ts'
import { versionOf } from '../forms/entries.ts'
import { isAnyUnsaved, UnsavedFormsContext, useUnsavedForms } from '../forms/unsaved-forms.ts'
import { useRemoval } from '../forms/use-removal.ts'
import { DialogContext } from './dialog-context.ts'
import { useShowUndoable } from './messages.tsx'
import { ProblemLine } from './notice.tsx'

interface DialogProps {
  readonly title: string
  readonly children: ReactNode
  onClose(): void
}

/** Open while it is rendered. Asks before Escape or Cancel closes it with unsaved input. */
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
  const forms = useUnsavedForms()
  const [isAsking, setAsking] = useState(false)
  const askToClose = useCallback(() => {
    if (isAnyUnsaved(forms)) setAsking(true)
    else onClose()
  }, [forms, onClose])
  useEffect(() => {
    const element = dialog.current
    const cancel = (event: Event) => {
      // The confirmation inside the dialog and file inputs fire this event too.
      if (event.target !== element) return
      event.preventDefault()
      askToClose()
    }
    element?.addEventListener('cancel', cancel)
    return () => element?.removeEventListener('cancel', cancel)
  }, [askToClose])
  const discard = () => {
    for (const form of forms) form.discard()
    onClose()
  }
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={titleId}>
      <h2 id={titleId}>{title}</h2>
      <UnsavedFormsContext value={forms}>
        <DialogContext value={{ close: onClose, askToClose }}>{children}</DialogContext>
      </UnsavedFormsContext>
      {isAsking ? (
        <Confirmation
          title={t('parts.form.unsaved.closeTitle')}
          action={t('parts.form.unsaved.discard')}
          cancel={t('parts.form.unsaved.stay')}
          tone="alarm"
          isSending={false}
          problem={null}
          onConfirm={discard}
          onClose={() => setAsking(false)}
        >
          <p>{t('parts.form.unsaved.closeText')}</p>
        </Confirmation>
      ) : null}
    </dialog>
  )
}

/** Closes the dialog, after a question if it has unsaved input. */
export function CancelButton() {
  const dialog = useContext(DialogContext)
  if (dialog === null) return null
  return (
    <button type="button" className="choice" onClick={dialog.askToClose}>
      {t('parts.dialog.cancel')}
    </button>
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
  readonly cancel?: string
  readonly tone?: 'usual' | 'alarm'
  readonly isSending: boolean
  readonly problem: Problem | null
  onConfirm(): void
  onClose(): void
}

export function Confirmation(props: ConfirmationProps) {
  const { title, children, action, tone = 'usual', isSending, problem, onConfirm, onClose } = props
  const { cancel = t('parts.dialog.cancel') } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-text">{children}</div>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {cancel}
        </button>
        <button type="button" className="choice" data-tone={tone} disabled={isSending} onClick={onConfirm}>
          {isSending ? t('parts.form.sending') : action}
        </button>
      </div>
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

type RemovalProps = Omit<ActionProps, 'write'> & {
  readonly path: Address<'DELETE'>
  /** As the user sees it. */
  readonly record?: unknown
}

export function Removal({ path, record, ...edit }: RemovalProps) {
  const { api } = useServices()
  const write = useRemoval(record, (seen) => api.write('DELETE', path, undefined, 'nothing', versionOf(seen)))
  return <ActionDialog {...edit} write={write} />
}
