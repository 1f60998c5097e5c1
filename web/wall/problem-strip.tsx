/** One line along the lower edge, whose height is always reserved. Problems that do not fit are counted. */

import { type RefObject, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { isSameJson } from '../../src/domain/json.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { memoize } from '../app/memoize.ts'
import type { VisibleSlot } from '../parts/channels/visible-slots.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { createDelay, listProblems, type WallProblem } from './problems.ts'

export function ProblemStrip({ entries }: { entries: readonly VisibleSlot[] }) {
  const problems = useProblems(entries)
  const list = useRef<HTMLUListElement>(null)
  const hidden = useHiddenCount(list, problems)
  return (
    <section className="wall-strip" aria-label={t('wall.strip')}>
      <ul className="wall-problems" ref={list}>
        {problems.map(({ key, severity, text }) => (
          <li key={key} className="wall-problem" data-severity={severity}>
            <StateIcon state={severity === 'critical' ? 'battery_critical' : 'battery_low'} />
            <bdi className="wall-problem-text">{text}</bdi>
          </li>
        ))}
      </ul>
      {hidden === 0 ? null : <span className="wall-more">{t('wall.more', { count: hidden })}</span>}
    </section>
  )
}

function useProblems(entries: readonly VisibleSlot[]): readonly WallProblem[] {
  const { watch } = useServices()
  const read = useMemo(() => {
    const shown = new Set(entries.flatMap((entry) => (entry.kind === 'channel' ? [entry.channelId] : [])))
    const delay = createDelay()
    let problems: readonly WallProblem[] = []
    return memoize(
      () => [watch.cards(), watch.get().now],
      ([cards, now]) => {
        const facts = cards.filter(({ channelId }) => shown.has(channelId))
        const next = listProblems(delay(facts, now))
        if (!isSameJson(next, problems)) problems = next
        return problems
      },
    )
  }, [watch, entries])
  return useSyncExternalStore(watch.subscribe, read)
}

/** Problems that do not fit wrap to a hidden line. */
function useHiddenCount(list: RefObject<HTMLUListElement | null>, problems: readonly WallProblem[]): number {
  const [hidden, setHidden] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: counts again when the problems change.
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const count = () => {
      const { bottom } = element.getBoundingClientRect()
      setHidden([...element.children].filter((item) => item.getBoundingClientRect().top >= bottom - 1).length)
    }
    count()
    const observer = new ResizeObserver(count)
    observer.observe(element)
    return () => observer.disconnect()
  }, [list, problems])
  return hidden
}
