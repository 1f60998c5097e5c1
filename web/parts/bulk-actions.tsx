/**
 * What can be done with the selected: asked first, with their number; then the service's own words, what could not be
 * done one by one, and where there is a way back, undo.
 */

import { useState } from 'react'
import type { ReviewBody } from '../../src/model/discovery-api.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { t } from '../i18n.ts'
import { useSending } from '../reading.ts'
import type { Selection } from '../selection.ts'
import { BulkBar } from './bulk-bar.tsx'
import { Confirmation } from './dialog.tsx'
import { useSay } from './messages.tsx'
import { Outcome } from './outcome.tsx'

export interface BulkAction {
  readonly key: string
  readonly text: string
  /** Takes `{ids}`. */
  readonly path: string
  readonly tone?: 'usual' | 'alarm'
  /** Names the number. */
  readonly question: (count: number) => string
  /** Effect of the action. */
  readonly consequence: string
  /** The one that takes it back; takes `{ids}` too. */
  readonly undoPath?: string
  /** Those of the selected that it can be done with. */
  readonly isFor?: (id: number) => boolean
  /** Instead of the selected: these, whatever is selected. */
  readonly ids?: readonly number[]
}

/** Those that were selected when it was asked: what the list does meanwhile must not change the question. */
interface Asked {
  readonly action: BulkAction
  readonly ids: readonly number[]
}

/** Keep it on the page when the list has become empty: what it has to report is still to be read. */
interface BulkActionsProps {
  readonly selection: Selection
  readonly actions: readonly BulkAction[]
  /** Why there are none, for somebody who may not. */
  readonly refusal: string | null
  onDone(): Promise<void>
}

export function BulkActions({ selection, actions, refusal, onDone }: BulkActionsProps) {
  const { api } = useSurroundings()
  const say = useSay()
  const { send, isSending, problem, forget } = useSending()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [failed, setFailed] = useState<ReviewBody['failed']>([])
  const idsFor = ({ ids = selection.ids, isFor = () => true }: BulkAction) => ids.filter(isFor)

  const run = async (path: string, ids: readonly number[]) => {
    const answer = await send(() => api.write('POST', path, { ids }, isObject<ReviewBody>))
    if (!answer?.ok) return answer
    setFailed(answer.body.failed)
    await onDone()
    return answer
  }
  const confirm = async ({ action, ids }: Asked) => {
    const answer = await run(action.path, ids)
    if (!answer?.ok) return
    setAsked(null)
    selection.clear()
    const done = ids.filter((id) => answer.body.failed.every((one) => one.id !== id))
    const { undoPath } = action
    const undo = undoPath === undefined || done.length === 0 ? undefined : () => takeBack(undoPath, done)
    say({ text: answer.body.message, undo })
  }
  const takeBack = async (path: string, ids: readonly number[]) => {
    const answer = await run(path, ids)
    if (answer?.ok) say({ text: answer.body.message })
    else if (answer !== null) say({ text: answer.problem.detail, tone: 'alarm' })
  }
  const close = () => {
    setAsked(null)
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
                  onClick={() => setAsked({ action, ids: idsFor(action) })}
                />
              ))
            : refusal}
        </BulkBar>
      )}
      <Outcome failed={failed} onDismiss={() => setFailed([])} />
      {asked === null ? null : (
        <Confirmation
          title={asked.action.question(asked.ids.length)}
          action={asked.action.text}
          tone={asked.action.tone ?? 'usual'}
          isSending={isSending}
          problem={problem}
          onConfirm={() => confirm(asked)}
          onClose={close}
        >
          <p>{asked.action.consequence}</p>
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
