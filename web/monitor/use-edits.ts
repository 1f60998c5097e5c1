/** Applies edits in sequence and keeps an undo history. */

import { useCallback, useRef, useState } from 'react'
import type { SlotMove } from '../../src/contract/channels.ts'
import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { listSlotHolders } from '../../src/domain/equipment/slots.ts'
import { isSameJson } from '../../src/domain/json.ts'
import type { Unstored } from '../../src/domain/versions.ts'
import type { Api, ApiResponse, Problem } from '../app/api.ts'
import { type Edit, isApplied, type Move, type Plan, undoOf, withRestored } from '../app/arrangement.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import type { Watch } from '../app/watch.ts'
import type { WatchState } from '../app/watch-state.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'

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

interface AppliedEdit {
  readonly edit: Edit
  /** Undo id from the service. Without one, the reverse edit is sent. */
  readonly undoId: string | undefined
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
  const done = useRef<readonly AppliedEdit[]>([])
  const [count, setCount] = useState(0)
  const queue = useRef<Promise<unknown>>(Promise.resolve())

  const enqueue = useCallback(<T>(edit: () => Promise<T>): Promise<T> => {
    const turn = queue.current.then(edit)
    queue.current = turn.catch(() => undefined)
    return turn
  }, [])

  const setDone = useCallback((edits: readonly AppliedEdit[]) => {
    done.current = edits
    setCount(edits.length)
  }, [])

  const run = useCallback(
    async (edit: Edit, undoId?: string) => {
      const response =
        undoId === undefined
          ? await applyEdit(api, edit)
          : mapped(await api.write('POST', `/api/undo/${undoId}`, undefined, 'object'), () => edit)
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
        const edit = undoOf(last.edit)
        const response = await run(edit, last.undoId)
        const earlier = done.current.slice(0, -1)
        if (response.ok) {
          setDone(earlier.map((before) => ({ ...before, edit: withRestored(before.edit, last.edit, response.body) })))
          showMessage({ text: t('arrange.undone') })
          return
        }
        // A rejected edit can never be undone, so it must not block the earlier ones.
        if (isRejected(response.problem)) setDone(earlier)
        const isOutdated = edit.type === 'move' && response.problem.status === 409
        showMessage({ text: isOutdated ? t('arrange.cannotUndo') : response.problem.detail, tone: 'alarm' })
      }),
    [run, enqueue, setDone, showMessage],
  )

  const apply = useCallback(
    async (edit: Edit) => {
      const response = await run(edit)
      if (!response.ok) return response
      setDone([...done.current, { edit: response.body, undoId: response.undoId }])
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
        const { groups, placeholders } = watchState
        const edit = plan({ holders: holdersOf(watchState), groups, placeholders })
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

/** The service rejects most moves because the slots are no longer as this page shows them. */
function problemText(edit: Edit, { status, detail, current }: Problem): string {
  if (edit.type !== 'move' || status !== 409) return detail
  const present = current as SlotMove | undefined
  const moved = edit.moves.find(({ kind, id }) => id === present?.[`${kind}_id`])
  return present === undefined || moved === undefined
    ? t('arrange.conflict')
    : t('arrange.movedMeanwhile', { from: moved.from, slot: present.slot })
}

function messageOf(edit: Edit): string {
  switch (edit.type) {
    case 'move': {
      const [first, second] = edit.moves
      const count = edit.moves.length - 1
      if (first === undefined) return ''
      if (edit.merged !== undefined) return t('arrange.merged', { slot: first.to })
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

async function applyEdit(api: Api, edit: Edit): Promise<ApiResponse<Edit>> {
  switch (edit.type) {
    case 'move':
      return mapped(await api.write('PUT', '/api/slots/', { moves: edit.moves.map(toSlotMove) }, 'object'), () => edit)
    case 'add_placeholder': {
      const response = await api.write('POST', '/api/placeholders/', fieldsOf(edit.placeholder), 'object')
      return mapped(response, (placeholder) => ({ ...edit, placeholder }))
    }
    case 'change_placeholder': {
      const [before, after] = [fieldsOf(edit.before), fieldsOf(edit.after)]
      const fields = changedFields(before, after)
      const response = await api.write('PATCH', `/api/placeholders/${edit.after.id}/`, fields, 'object')
      return mapped(response, (body) => ({
        ...edit,
        before: { ...body, ...changedFields(after, before) },
        after: body,
      }))
    }
    case 'delete_placeholder':
      return mapped(
        await api.write('DELETE', `/api/placeholders/${edit.placeholder.id}/`, undefined, 'nothing'),
        () => edit,
      )
    case 'change_group': {
      const [before, after] = [groupFieldsOf(edit.before), groupFieldsOf(edit.after)]
      const fields = changedFields(before, after)
      const response = await api.write('PUT', `/api/groups/${edit.after.id}/`, fields, 'object')
      return mapped(response, (body) => ({
        ...edit,
        before: { ...body, ...changedFields(after, before) },
        after: body,
      }))
    }
    case 'create_group': {
      const response = await api.write('POST', '/api/group/', groupFieldsOf(edit.group), 'object')
      return mapped(response, (group) => ({ ...edit, group }))
    }
    case 'delete_group':
      return mapped(await api.write('DELETE', `/api/groups/${edit.group.id}/`, undefined, 'nothing'), () => edit)
    default:
      return edit satisfies never
  }
}

function toSlotMove({ kind, id, from, to }: Move): SlotMove {
  return { ...(kind === 'channel' ? { channel_id: id } : { placeholder_id: id }), from, slot: to }
}

/** Other fields may have been changed by another person meanwhile. */
function changedFields<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const entries = Object.entries(after).filter(([name, value]) => !isSameJson(value, before[name as keyof Fields]))
  return Object.fromEntries(entries) as Partial<Fields>
}

function fieldsOf({ slot, name, kind, frequency, note }: PlaceholderBody): Unstored<PlaceholderBody> {
  return { slot, name, kind, frequency, note }
}

function groupFieldsOf({ title, slots, hide_charts, zone, manufacturer }: Group): Unstored<Group> {
  return { title, slots, hide_charts, zone, manufacturer }
}

function mapped<Body>(response: ApiResponse<Body>, toEdit: (body: Body) => Edit): ApiResponse<Edit> {
  return response.ok ? { ...response, body: toEdit(response.body) } : response
}
