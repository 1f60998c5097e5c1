/** Applies edits sequentially, reports the results, and keeps an undo history. */

import { useCallback, useRef, useState } from 'react'
import { applyEdit, groupsAfter } from './apply-edit.ts'
import { type Edit, type Plan, undoOf } from './arrangement.ts'
import { useServices } from './context.ts'
import { t } from './i18n.ts'
import { useShowMessage } from './parts/messages.tsx'

export interface Edits {
  readonly canUndo: boolean
  /** Applies the edit that `plan` returns, after all earlier edits. Resolves to false if it was not applied. */
  dispatch(plan: Plan): Promise<boolean>
  undo(): Promise<void>
}

export function useEdits(): Edits {
  const { api, store } = useServices()
  const showMessage = useShowMessage()
  const done = useRef<Edit[]>([])
  const [count, setCount] = useState(0)
  const queue = useRef<Promise<unknown>>(Promise.resolve())

  const enqueue = useCallback(<T>(edit: () => Promise<T>): Promise<T> => {
    const turn = queue.current.then(edit)
    queue.current = turn.catch(() => undefined)
    return turn
  }, [])

  const run = useCallback(
    async (edit: Edit): Promise<Edit | null> => {
      const response = await applyEdit(api, edit)
      if (response.ok)
        store.dispatch({ type: 'groups', groups: groupsAfter(store.get().groups, response.body), at: Date.now() })
      else showMessage({ text: response.problem.detail, tone: 'alarm' })
      store.dispatch({ type: 'tick', at: Date.now() })
      return response.ok ? response.body : null
    },
    [api, store, showMessage],
  )

  const undo = useCallback(
    () =>
      enqueue(async () => {
        const last = done.current.at(-1)
        if (last === undefined) return
        const undone = await run(undoOf(last))
        if (undone === null) return
        // A restored group has a new id, so earlier edits in the history must refer to it.
        const oldId = last.type === 'delete_group' ? last.group.id : null
        const newId = undone.type === 'create_group' ? undone.group.id : null
        done.current = done.current.slice(0, -1).map((item) => withGroupId(item, oldId, newId))
        setCount(done.current.length)
        showMessage({ text: t('arrange.undone') })
      }),
    [run, enqueue, showMessage],
  )

  const dispatch = useCallback(
    (plan: Plan) =>
      enqueue(async () => {
        const edit = plan(store.get().groups)
        const result = edit === null ? null : await run(edit)
        if (result === null) return false
        done.current = [...done.current, result]
        setCount(done.current.length)
        showMessage({ text: messageOf(result), undo })
        return true
      }),
    [run, enqueue, showMessage, store, undo],
  )
  return { canUndo: count > 0, dispatch, undo }
}

function messageOf(edit: Edit): string {
  switch (edit.type) {
    case 'move':
      return t('arrange.moved', { slot: edit.to })
    case 'swap':
      return t('arrange.swapped', { a: edit.a.slot, b: edit.b.slot })
    case 'change_group':
      return t('arrange.changed', { title: edit.after.title })
    case 'create_group':
      return t('arrange.created', { title: edit.group.title })
    case 'delete_group':
      return t('arrange.deleted', { title: edit.group.title })
    default:
      return edit satisfies never
  }
}

function withGroupId(edit: Edit, oldId: number | null, id: number | null): Edit {
  if (oldId === null || id === null) return edit
  switch (edit.type) {
    case 'change_group':
      return edit.after.id === oldId ? { ...edit, before: { ...edit.before, id }, after: { ...edit.after, id } } : edit
    case 'create_group':
    case 'delete_group':
      return edit.group.id === oldId ? { ...edit, group: { ...edit.group, id } } : edit
    default:
      return edit
  }
}
