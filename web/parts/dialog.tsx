/** A modal dialog. The browser's native element manages the focus and the Escape key. */

import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react'
import type { Problem } from '../app/api.ts'
import './dialog.css'
import { t } from '../app/i18n.ts'
import { ProblemLine } from './problem.tsx'

interface DialogProps {
  readonly title: string
  readonly children: ReactNode
  onClose(): void
}

/** The dialog is open for as long as it is rendered. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Closed before removal, so that the focus returns to the previous element.
    return () => element?.close()
  }, [])
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

interface ConfirmationProps {
  /** The question, which says which items are affected, or how many. */
  readonly title: string
  /** Effect of the action. */
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
