/** Applies edits in sequence and keeps an undo history. */

import { useCallback, useRef, useState } from 'react'
import type { SlotMove } from '../../src/contract/channels.ts'
import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { listSlotHolders } from '../../src/domain/equipment/slots.ts'
import { isSameJson } from '../../src/domain/json.ts'
import type { Unstored } from '../../src/domain/versions.ts'
import type { Api, ApiResponse, Problem } from '../app/api.ts'
import {
  type Arrangement,
  type Edit,
  hasConflict,
  isAnnounced,
  type Move,
  type Plan,
  undoOf,
} from '../app/arrangement.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { serviceNow } from '../app/service-time.ts'
import type { Watch } from '../app/watch.ts'
import type { WatchState } from '../app/watch-state.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { changedFields } from '../parts/forms/entries.ts'

export interface Edits {
  readonly canUndo: boolean
  /** Plans after all earlier edits. Resolves to false if nothing was applied. */
  dispatch(plan: Plan, options?: DispatchOptions): Promise<boolean>
  /** The caller shows the problem. */
  send(edit: Edit): Promise<ApiResponse<Edit>>
  undo(): Promise<void>
}

interface DispatchOptions {
  /** The moves as planned for what the user saw; other moves are not made. */
  readonly expected?: Edit | null
  /** Undone together with the edit before it. */
  readonly isJoined?: boolean
}

export function arrangementOf({ receivers, placeholders, groups }: WatchState): Omit<Arrangement, 'shown'> {
  return { holders: listSlotHolders(receivers.values(), placeholders), placeholders, groups }
}

interface AppliedEdit {
  readonly edit: Edit
  readonly undoId: string
  readonly isJoined: boolean
}

/** The announcement does not arrive while the live connection is lost. */
const announcedWithinMs = 500

/** Resolves to false if the edit is not announced. Without waiting, the next edit would be based on an earlier state. */
function untilAnnounced(watch: Watch, edit: Edit): Promise<boolean> {
  return new Promise((resolve) => {
    const check = () => {
      if (isAnnounced(edit, arrangementOf(watch.get()))) end(true)
    }
    const unsubscribe = watch.subscribe(check)
    const timer = setTimeout(() => end(false), announcedWithinMs)
    check()

    function end(wasAnnounced: boolean): void {
      clearTimeout(timer)
      unsubscribe()
      resolve(wasAnnounced)
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
    async (write: () => Promise<ApiResponse<Edit>>) => {
      const response = await write()
      // A later announcement may already contain the edits of others, so it wins.
      if (response.ok && !(await untilAnnounced(watch, response.body))) {
        watch.dispatch({ type: 'edited', edit: response.body, at: serviceNow() })
      }
      watch.dispatch({ type: 'tick', at: serviceNow() })
      return response
    },
    [watch],
  )

  const undoLast = useCallback(async (): Promise<void> => {
    const last = done.current.at(-1)
    if (last === undefined) return
    const reverse = undoOf(last.edit)
    const response = await run(async () =>
      mapped(await api.write('POST', `/api/undo/${last.undoId}`, undefined, 'object'), () => reverse),
    )
    // A rejected edit can never be undone, so it must not block the earlier ones.
    if (response.ok || isRejected(response.problem)) setDone(done.current.slice(0, -1))
    if (!response.ok) {
      const isOutdated = reverse.type === 'move' && response.problem.status === 409
      showMessage({ text: isOutdated ? t('arrange.cannotUndo') : response.problem.detail, tone: 'alarm' })
    } else if (last.isJoined) await undoLast()
    else showMessage({ text: t('parts.messages.undone') })
  }, [api, run, setDone, showMessage])

  const undo = useCallback(() => enqueue(undoLast), [enqueue, undoLast])

  const apply = useCallback(
    async (edit: Edit, isJoined = false, note = '') => {
      const response = await run(() => applyEdit(api, edit))
      if (!response.ok) return response
      const { body, undoId } = response
      if (undoId !== undefined) setDone([...done.current, { edit: body, undoId, isJoined }])
      showMessage({ text: `${messageOf(body)} ${note}`.trim(), undo: undoId === undefined ? undefined : undo })
      return response
    },
    [api, run, setDone, showMessage, undo],
  )

  const send = useCallback((edit: Edit) => enqueue(() => apply(edit)), [enqueue, apply])

  const dispatch = useCallback(
    (plan: Plan, { expected, isJoined }: DispatchOptions = {}) =>
      enqueue(async () => {
        const arrangement = arrangementOf(watch.get())
        const edit = plan(arrangement)
        if (edit === null) return false
        if (edit.type === 'move' && expected !== undefined && !isSameJson(edit, expected)) {
          showMessage({ text: t('arrange.conflict'), tone: 'alarm' })
          return false
        }
        const first = await apply(edit, isJoined)
        const again =
          first.ok || first.problem.status !== 412 ? null : planAgain(plan, arrangement, edit, first.problem)
        const response = again === null ? first : await apply(again, isJoined, t('arrange.keptBoth'))
        if (!response.ok) showMessage({ text: problemText(edit, response.problem), tone: 'alarm' })
        return response.ok
      }),
    [apply, enqueue, showMessage, watch],
  )
  return { canUndo: count > 0, dispatch, send, undo }
}

/** Applies the order of a group to its present slots. Null if another person has changed the same field. */
function planAgain(plan: Plan, arrangement: Omit<Arrangement, 'shown'>, edit: Edit, { current }: Problem): Edit | null {
  if (edit.type !== 'change_group') return null
  const present = current as Group
  if (hasConflict(withoutSlots(edit.before), withoutSlots(edit.after), withoutSlots(present))) return null
  const groups = arrangement.groups.map((group) => (group.id === present.id ? present : group))
  return plan({ ...arrangement, groups })
}

function withoutSlots({ slots: _, ...group }: Group) {
  return group
}

function isRejected({ kind, waitSeconds }: Problem): boolean {
  return kind === 'refused' && waitSeconds === undefined
}

/** The service rejects most moves because the slots are no longer as this page shows them. */
function problemText(edit: Edit, { status, detail, current }: Problem): string {
  if (status === 412 && (edit.type === 'change_group' || edit.type === 'delete_group')) {
    return t('arrange.groupChanged', { title: (current as Group).title })
  }
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
      const count = edit.moves.length - edit.requested
      if (first === undefined) return ''
      if (edit.requested > 1) return t('arrange.movedSeveral', { count: edit.requested, slot: first.to })
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
      const { before } = edit
      const fields = changedFields(fieldsOf(before), fieldsOf(edit.after))
      const path = `/api/placeholders/${before.id}/` as const
      return mapped(await api.write('PATCH', path, fields, 'object', before.version), (after) => ({ ...edit, after }))
    }
    case 'delete_placeholder': {
      const { id, version } = edit.placeholder
      return mapped(await api.write('DELETE', `/api/placeholders/${id}/`, undefined, 'nothing', version), () => edit)
    }
    case 'change_group': {
      const { before } = edit
      const fields = changedFields(groupFieldsOf(before), groupFieldsOf(edit.after))
      const path = `/api/groups/${before.id}/` as const
      return mapped(await api.write('PUT', path, fields, 'object', before.version), (after) => ({ ...edit, after }))
    }
    case 'create_group': {
      const response = await api.write('POST', '/api/group/', groupFieldsOf(edit.group), 'object')
      return mapped(response, (group) => ({ ...edit, group }))
    }
    case 'delete_group': {
      const { id, version } = edit.group
      return mapped(await api.write('DELETE', `/api/groups/${id}/`, undefined, 'nothing', version), () => edit)
    }
    default:
      return edit satisfies never
  }
}

function toSlotMove({ kind, id, from, to }: Move): SlotMove {
  return { ...(kind === 'channel' ? { channel_id: id } : { placeholder_id: id }), from, slot: to }
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
