/** Applies edits in sequence and keeps an undo history. */

import { useCallback, useRef, useState } from 'react'
import { listSlotHolders } from '../../src/domain/equipment/slots.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import { type Edit, findOutdatedMove, isApplied, type Plan, undoOf, withRestored } from '../app/arrangement.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import type { Watch } from '../app/watch.ts'
import type { WatchState } from '../app/watch-state.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { applyEdit } from './apply-edit.ts'

export interface Edits {
  readonly canUndo: boolean
  /** Plans after all earlier edits. Resolves to false if nothing was applied. */
  dispatch(plan: Plan): Promise<boolean>
  /** The caller shows the problem. */
  send(edit: Edit): Promise<ApiResponse<Edit>>
  undo(): Promise<void>
}

function holdersOf({ receivers, placeholders }: Pick<WatchState, 'receivers' | 'placeholders'>) {
  return listSlotHolders(receivers.values(), placeholders)
}

/** The announcement does not arrive while the live connection is lost. */
const announcedWithinMs = 500

/**
 * A late message about an earlier edit would otherwise show the state before this one, on which the next edit would
 * be based.
 */
function untilAnnounced(watch: Watch, edit: Edit): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      const watchState = watch.get()
      if (isApplied(edit, { ...watchState, holders: holdersOf(watchState) })) end()
    }
    const unsubscribe = watch.subscribe(check)
    const timer = setTimeout(end, announcedWithinMs)
    check()

    function end(): void {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
  })
}

export function useEdits(): Edits {
  const { api, watch } = useServices()
  const showMessage = useShowMessage()
  const done = useRef<readonly Edit[]>([])
  const [count, setCount] = useState(0)
  const queue = useRef<Promise<unknown>>(Promise.resolve())

  const enqueue = useCallback(<T>(edit: () => Promise<T>): Promise<T> => {
    const turn = queue.current.then(edit)
    queue.current = turn.catch(() => undefined)
    return turn
  }, [])

  const setDone = useCallback((edits: readonly Edit[]) => {
    done.current = edits
    setCount(edits.length)
  }, [])

  const run = useCallback(
    async (edit: Edit) => {
      const response = await applyEdit(api, edit)
      if (response.ok) {
        await untilAnnounced(watch, response.body)
        watch.dispatch({ type: 'edited', edit: response.body, at: serviceNow() })
      }
      watch.dispatch({ type: 'tick', at: serviceNow() })
      return response
    },
    [api, watch],
  )

  const undo = useCallback(
    () =>
      enqueue(async () => {
        const last = done.current.at(-1)
        if (last === undefined) return
        const edit = undoOf(last)
        if (findOutdatedMove(edit, holdersOf(watch.get())) !== undefined) {
          setDone(done.current.slice(0, -1))
          showMessage({ text: t('arrange.cannotUndo'), tone: 'alarm' })
          return
        }
        const response = await run(edit)
        if (response.ok) {
          setDone(withRestored(done.current.slice(0, -1), last, response.body))
          showMessage({ text: t('arrange.undone') })
          return
        }
        // A rejected edit can never be undone, so it must not block the earlier ones.
        if (isRejected(response.problem)) setDone(done.current.slice(0, -1))
        showMessage({ text: problemText(edit, response.problem), tone: 'alarm' })
      }),
    [run, enqueue, setDone, showMessage, watch],
  )

  const apply = useCallback(
    async (edit: Edit) => {
      const response = await run(edit)
      if (!response.ok) return response
      setDone([...done.current, response.body])
      showMessage({ text: messageOf(response.body), undo })
      return response
    },
    [run, setDone, showMessage, undo],
  )

  const send = useCallback((edit: Edit) => enqueue(() => apply(edit)), [enqueue, apply])

  const dispatch = useCallback(
    (plan: Plan) =>
      enqueue(async () => {
        const watchState = watch.get()
        const edit = plan({ holders: holdersOf(watchState), groups: watchState.groups })
        if (edit === null) return false
        const response = await apply(edit)
        if (!response.ok) showMessage({ text: problemText(edit, response.problem), tone: 'alarm' })
        return response.ok
      }),
    [apply, enqueue, showMessage, watch],
  )
  return { canUndo: count > 0, dispatch, send, undo }
}

function isRejected({ kind, waitSeconds }: Problem): boolean {
  return kind === 'refused' && waitSeconds === undefined
}

/** The service rejects moves only if the slots are no longer as this page shows them. */
function problemText({ type }: Edit, problem: Problem): string {
  return type === 'move' && isRejected(problem) ? t('arrange.conflict') : problem.detail
}

function messageOf(edit: Edit): string {
  switch (edit.type) {
    case 'move': {
      const [first, second] = edit.moves
      const count = edit.moves.length - 1
      if (first === undefined) return ''
      if (count === 0) return t('arrange.moved', { slot: first.to })
      const isSwap = count === 1 && second?.to === first.from
      return isSwap
        ? t('arrange.swapped', { a: first.from, b: first.to })
        : t('arrange.inserted', { slot: first.to, count })
    }
    case 'add_placeholder':
      return t('arrange.placeholder.added', { slot: edit.placeholder.slot })
    case 'change_placeholder':
      return t('arrange.placeholder.changed', { slot: edit.after.slot })
    case 'delete_placeholder':
      return t('arrange.placeholder.removed', { slot: edit.placeholder.slot })
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
