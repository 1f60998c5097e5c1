/**
 * A confirmation with the number of items, then the result, the items that failed, and an undo button where possible.
 */

import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ReviewBody } from '../../../src/contract/schema.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import type { ReviewAddress } from '../../app/operations.ts'
import { useRequest } from '../../app/resource.ts'
import type { Selection } from '../../app/selection.ts'
import { Confirmation } from '../dialogs/dialog.tsx'
import { useShowMessage } from '../dialogs/messages.tsx'
import './list.css'

export interface BulkAction {
  readonly key: string
  readonly text: string
  readonly path: ReviewAddress
  readonly tone?: 'usual' | 'alarm'
  readonly question: (count: number) => string
  readonly consequence: string
  /** Reverts the action, with the same body. */
  readonly undoPath?: ReviewAddress
  readonly isFor?: (id: number) => boolean
  /** Independent of the selection. */
  readonly ids?: readonly number[]
}

/** As selected when the button was clicked, because later refreshes must not change the confirmation. */
interface DialogState {
  readonly action: BulkAction
  readonly ids: readonly number[]
}

/** Render it for an empty list as well, so that results stay visible. */
interface BulkActionsProps {
  readonly selection: Selection
  readonly actions: readonly BulkAction[]
  /** Null if the user may run these actions. */
  readonly refusal: string | null
  onDone(): Promise<void>
}

export function BulkActions({ selection, actions, refusal, onDone }: BulkActionsProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending, problem, forget } = useRequest()
  const [dialog, setDialog] = useState<DialogState | null>(null)
  const [failed, setFailed] = useState<ReviewBody['failed']>([])
  const idsFor = ({ ids = selection.ids, isFor = () => true }: BulkAction) => ids.filter(isFor)

  const run = async (path: ReviewAddress, ids: readonly number[]) => {
    const response = await send(() => api.write('POST', path, { ids }, 'object'))
    if (!response?.ok) return response
    setFailed(response.body.failed)
    await onDone()
    return response
  }
  const confirm = async ({ action, ids }: DialogState) => {
    const response = await run(action.path, ids)
    if (!response?.ok) return
    setDialog(null)
    selection.clear()
    const done = ids.filter((id) => response.body.failed.every((item) => item.id !== id))
    const { undoPath } = action
    const undo = undoPath === undefined || done.length === 0 ? undefined : () => takeBack(undoPath, done)
    showMessage({ text: response.body.message, undo })
  }
  const takeBack = async (path: ReviewAddress, ids: readonly number[]) => {
    const response = await run(path, ids)
    if (response?.ok) showMessage({ text: response.body.message })
    else if (response !== null) showMessage({ text: response.problem.detail, tone: 'alarm' })
  }
  const close = () => {
    setDialog(null)
    forget()
  }

  return (
    <>
      {selection.shown === 0 ? null : (
        <BulkBar selection={selection}>
          {refusal === null
            ? actions.map((action) => (
                <ActionButton
                  key={action.key}
                  text={action.text}
                  count={idsFor(action).length}
                  onClick={() => setDialog({ action, ids: idsFor(action) })}
                />
              ))
            : refusal}
        </BulkBar>
      )}
      <Outcome failed={failed} onDismiss={() => setFailed([])} />
      {dialog === null ? null : (
        <Confirmation
          title={dialog.action.question(dialog.ids.length)}
          action={dialog.action.text}
          tone={dialog.action.tone ?? 'usual'}
          isSending={isSending}
          problem={problem}
          onConfirm={() => confirm(dialog)}
          onClose={close}
        >
          <p>{dialog.action.consequence}</p>
        </Confirmation>
      )}
    </>
  )
}

interface ActionButtonProps {
  readonly text: string
  readonly count: number
  onClick(): void
}

function ActionButton({ text, count, onClick }: ActionButtonProps) {
  return (
    <button type="button" className="choice" disabled={count === 0} onClick={onClick}>
      {count === 0 ? text : t('parts.list.withCount', { action: text, count })}
    </button>
  )
}

interface OutcomeProps {
  readonly failed: readonly { readonly id: number; readonly error: string }[]
  onDismiss(): void
}

export function Outcome({ failed, onDismiss }: OutcomeProps) {
  if (failed.length === 0) return null
  return (
    <section className="outcome" role="alert">
      <p>{t('parts.outcome.failed', { count: failed.length })}</p>
      <ul>
        {failed.map(({ id, error }) => (
          <li key={id}>{error}</li>
        ))}
      </ul>
      <button type="button" className="choice" onClick={onDismiss}>
        {t('parts.messages.dismiss')}
      </button>
    </section>
  )
}

/** Always rendered, so that selecting items does not shift the page. */
export function BulkBar({ selection, children }: { selection: Selection; children: ReactNode }) {
  const { ids, shown, toggleAll } = selection
  const box = useRef<HTMLInputElement>(null)
  const isAll = shown > 0 && ids.length === shown
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = ids.length > 0 && !isAll
  }, [ids.length, isAll])
  return (
    <div className="bulk-bar">
      <label className="tick">
        <input
          ref={box}
          type="checkbox"
          checked={isAll}
          disabled={shown === 0}
          onChange={toggleAll}
          aria-label={t('parts.list.selectAll')}
        />
        <span role="status">
          {t(ids.length === shown ? 'parts.list.allSelected' : 'parts.list.selected', { count: ids.length, shown })}
        </span>
      </label>
      {children}
    </div>
  )
}
