/** Does deeds, one after another, tells how they went, and remembers how to take them back. */

import { useCallback, useRef, useState } from 'react'
import { type Deed, type Plan, undoOf } from './arrangement.ts'
import { useSurroundings } from './context.ts'
import { doDeed, groupsAfter } from './do-deed.ts'
import { t } from './i18n.ts'
import { useSay } from './parts/messages.tsx'

export interface Deeds {
  readonly canUndo: boolean
  /** Waits for what was begun before. False when it was refused; the person has been told why. */
  dispatch(plan: Plan): Promise<boolean>
  undo(): Promise<void>
}

export function useDeeds(): Deeds {
  const { api, store, retry } = useSurroundings()
  const say = useSay()
  const done = useRef<Deed[]>([])
  const [count, setCount] = useState(0)
  const queue = useRef<Promise<unknown>>(Promise.resolve())

  const inTurn = useCallback(<T>(deed: () => Promise<T>): Promise<T> => {
    const turn = queue.current.then(deed)
    queue.current = turn.catch(() => undefined)
    return turn
  }, [])

  const carryOut = useCallback(
    async (deed: Deed): Promise<Deed | null> => {
      const answer = await doDeed(api, deed)
      if (answer.ok)
        store.dispatch({ type: 'groups', groups: groupsAfter(store.get().groups, answer.body), at: Date.now() })
      else say({ text: answer.problem.detail, tone: 'alarm' })
      store.dispatch({ type: 'tick', at: Date.now() })
      // Whatever somebody else has done meanwhile comes with it.
      retry()
      return answer.ok ? answer.body : null
    },
    [api, store, retry, say],
  )

  const undo = useCallback(
    () =>
      inTurn(async () => {
        const last = done.current.at(-1)
        if (last === undefined) return
        const undone = await carryOut(undoOf(last))
        if (undone === null) return
        // A group that was deleted comes back with another id, which what was done to it before has to follow.
        const oldId = last.type === 'delete_group' ? last.group.id : null
        const newId = undone.type === 'create_group' ? undone.group.id : null
        done.current = done.current.slice(0, -1).map((one) => withGroupId(one, oldId, newId))
        setCount(done.current.length)
        say({ text: t('arrange.undone') })
      }),
    [carryOut, inTurn, say],
  )

  const dispatch = useCallback(
    (plan: Plan) =>
      inTurn(async () => {
        const deed = plan(store.get().groups)
        const result = deed === null ? null : await carryOut(deed)
        if (result === null) return false
        done.current = [...done.current, result]
        setCount(done.current.length)
        say({ text: saidOf(result), undo })
        return true
      }),
    [carryOut, inTurn, say, store, undo],
  )
  return { canUndo: count > 0, dispatch, undo }
}

function saidOf(deed: Deed): string {
  switch (deed.type) {
    case 'move':
      return t('arrange.moved', { slot: deed.to })
    case 'swap':
      return t('arrange.swapped', { a: deed.a.slot, b: deed.b.slot })
    case 'change_group':
      return t('arrange.changed', { title: deed.after.title })
    case 'create_group':
      return t('arrange.created', { title: deed.group.title })
    case 'delete_group':
      return t('arrange.deleted', { title: deed.group.title })
    default:
      return deed satisfies never
  }
}

function withGroupId(deed: Deed, oldId: number | null, id: number | null): Deed {
  if (oldId === null || id === null) return deed
  switch (deed.type) {
    case 'change_group':
      return deed.after.id === oldId ? { ...deed, before: { ...deed.before, id }, after: { ...deed.after, id } } : deed
    case 'create_group':
    case 'delete_group':
      return deed.group.id === oldId ? { ...deed, group: { ...deed.group, id } } : deed
    default:
      return deed
  }
}
